package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Docs/android.md tells its readers to do works. */
@Tag("blackbox")
@Timeout(120)
class PageTest {
  @TempDir
  Path folder;

  /** The programs of the page. */
  private static List<String> programs() throws Exception {
    List<String> programs = new ArrayList<>();
    for (String part : page().split("```java\n")) programs.add(part.split("```")[0]);
    return programs.subList(1, programs.size());
  }

  /** The commands of the page. */
  private static List<String> commands() throws Exception {
    return page().replaceAll("(?s)```.*?```", "").lines().filter(line -> line.startsWith("    "))
        .map(String::trim).collect(Collectors.toList());
  }

  private static String page() throws Exception {
    return new String(Files.readAllBytes(Repository.file("Docs/android.md")), Wire.UTF_8);
  }

  private Process start(TestServer server, String command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("bash", "-c", "exec " + command).directory(folder.toFile());
    String login = new String(java.util.Base64.getDecoder().decode(server.login().substring(6)), Wire.UTF_8);
    builder.environment().put("KEY", server.appKey);
    builder.environment().put("SECRET", login.substring(login.indexOf(':') + 1));
    builder.environment().put("API", "http://" + server.http());
    builder.environment().put("DEVICE", server.plain());
    return builder.redirectErrorStream(true).start();
  }

  private static String output(Process process) throws Exception {
    String output = new String(process.getInputStream().readAllBytes(), Wire.UTF_8);
    assertEquals(0, process.waitFor(), output);
    return output;
  }

  @Test
  void theDeviceOnTheCommandLine() throws Exception {
    List<String> commands = commands();
    assertEquals("make android", commands.get(0));
    Files.createSymbolicLink(folder.resolve(".build"), Repository.file(".build"));
    Files.write(folder.resolve("Demo.java"), programs().get(0).getBytes(Wire.UTF_8));
    try (TestServer server = new TestServer(Files.createDirectory(folder.resolve("data")))) {
      output(start(server, commands.get(1)));
      Process demo = start(server, commands.get(2));
      try {
        BufferedReader lines = new BufferedReader(new InputStreamReader(demo.getInputStream(), Wire.UTF_8));
        assertTrue(lines.readLine().matches("registered [0-9a-f]{19}"));
        assertEquals("connected", lines.readLine());
        assertEquals("alias: 0", lines.readLine());
        String answer = output(start(server, "curl -sS " + commands.get(3).substring(5)));
        assertTrue(answer.contains("msg_id"), answer);
        assertEquals("notification: Hello", lines.readLine());
      } finally {
        demo.destroyForcibly().waitFor();
      }
      assertEquals(4, commands.size());
    }
  }

  /** Against empty classes with the names of Android's. */
  @Test
  void theAndroidAppIsValid() throws Exception {
    List<String> programs = programs();
    Files.write(folder.resolve("App.java"), programs.get(1).getBytes(Wire.UTF_8));
    Files.write(folder.resolve("MainActivity.java"), programs.get(2).getBytes(Wire.UTF_8));
    // The app's own resources.
    String resources = "final class R { static final class drawable { static final int icon = 1; } }";
    Files.write(folder.resolve("R.java"), resources.getBytes(Wire.UTF_8));
    String javac = Path.of(System.getProperty("java.home"), "bin", "javac").toString();
    List<String> command = List.of(javac, "--release", "8", "-Xlint:-options", "-cp",
        ".build/android/borealis-aar/classes.jar:.build/android/stubs", "-d", folder.toString(),
        folder.resolve("App.java").toString(), folder.resolve("MainActivity.java").toString(),
        folder.resolve("R.java").toString());
    assertEquals(3, programs.size());
    assertEquals("", output(new ProcessBuilder(command).redirectErrorStream(true).start()));
  }
}
