package io.borealis.push;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/**
 * Makes the name of a new file durable. A class of its own, since Android has the classes that it uses since
 * API 26 only.
 */
final class FolderSync {
  private FolderSync() {}

  static void sync(File file) {
    File folder = file.getAbsoluteFile().getParentFile();
    if (folder == null) return;
    try (FileChannel channel = FileChannel.open(folder.toPath(), StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException | RuntimeException | LinkageError error) {
      // Not every system can do this, and nothing else would help.
      return;
    }
  }
}
