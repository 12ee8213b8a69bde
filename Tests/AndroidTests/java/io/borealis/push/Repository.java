package io.borealis.push;

import java.nio.file.Path;
import java.nio.file.Paths;

/** The files of this repository; tests run in its folder. */
final class Repository {
  private Repository() {}

  static Path file(String path) {
    return Paths.get("").toAbsolutePath().resolve(path);
  }
}
