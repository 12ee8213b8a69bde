package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The apps that Docs/android-from-jpush.md and Docs/android-from-getui.md show. */
class MovingPagesTest {
  @TempDir
  Path folder;

  private static String page(String vendor) throws Exception {
    return Files.readString(Repository.file("Docs/android-from-" + vendor + ".md"));
  }

  private static List<String> blocks(String page, String language) {
    List<String> blocks = new ArrayList<>();
    Matcher block = Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(page);
    while (block.find()) blocks.add(block.group(1));
    return blocks;
  }

  @ParameterizedTest
  @CsvSource({"jpush,3", "getui,2"})
  void theAppCompiles(String vendor, int classes) throws Exception {
    List<String> arguments = new ArrayList<>(Arrays.asList("--release", "8", "-Xlint:-options", "-cp",
        System.getProperty("java.class.path"), "-d", folder.toString()));
    List<String> programs = blocks(page(vendor), "java");
    assertEquals(classes, programs.size());
    for (String program : programs) {
      Matcher name = Pattern.compile("public class (\\w+)").matcher(program);
      assertTrue(name.find());
      Path file = folder.resolve(name.group(1) + ".java");
      Files.writeString(file, program);
      arguments.add(file.toString());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assertEquals(0, compiler.run(null, null, null, arguments.toArray(new String[0])));
  }

  /** The difference in the sources is the imports, and they are those of the app. */
  @ParameterizedTest
  @CsvSource({"jpush", "getui"})
  void onlyImportsChange(String vendor) throws Exception {
    String difference = blocks(page(vendor), "diff").get(2);
    TreeSet<String> before = new TreeSet<>();
    TreeSet<String> after = new TreeSet<>();
    for (String line : difference.split("\n")) {
      Matcher imported = Pattern.compile("([-+])import ([\\w.]+)\\.(\\w+);").matcher(line);
      assertTrue(imported.matches(), line);
      boolean isNew = imported.group(1).equals("+");
      assertEquals(isNew, imported.group(2).equals("io.borealis." + vendor), line);
      (isNew ? after : before).add(imported.group(3));
    }
    assertEquals(before, after);
    String app = blocks(page(vendor), "java").stream().collect(Collectors.joining());
    TreeSet<String> used = new TreeSet<>();
    Matcher imported = Pattern.compile("import io\\.borealis\\.\\w+\\.(\\w+);").matcher(app);
    while (imported.find()) used.add(imported.group(1));
    assertEquals(used, after);
  }

  /** The manifest's names are those that the library reads. */
  @ParameterizedTest
  @CsvSource({"jpush,JPUSH_APPKEY", "getui,GETUI_APPID"})
  void theManifestHasWhatIsRead(String vendor, String key) throws Exception {
    String manifest = blocks(page(vendor), "diff").get(1);
    assertTrue(manifest.contains("android:name=\"" + key + "\""));
    assertTrue(manifest.contains("android:name=\"BOREALIS_SERVER\""));
    String hub = Files.readString(
        Repository.file("Sources/android/" + vendor + "/src/main/java/io/borealis/" + vendor + "/Hub.java"));
    assertTrue(hub.contains("\"" + key + "\""));
  }

  /** The calls that the page lists are those that the package has. */
  @ParameterizedTest
  @CsvSource({"jpush,io.borealis.jpush.JPushInterface", "getui,io.borealis.getui.PushManager"})
  void allCallsAreListed(String vendor, String type) throws Exception {
    TreeSet<String> calls = new TreeSet<>();
    for (Method method : Class.forName(type).getDeclaredMethods()) {
      boolean isPublic = Modifier.isPublic(method.getModifiers());
      if (isPublic && !method.getName().equals("getInstance")) calls.add(method.getName());
    }
    String page = page(vendor);
    for (String call : calls) assertTrue(page.contains(call), call);
    String list = page.substring(page.indexOf("* **Calls**"), page.indexOf("* **Results**"));
    Matcher listed = Pattern.compile("`(\\w+)`").matcher(list);
    while (listed.find()) assertTrue(calls.contains(listed.group(1)), listed.group(1));
  }
}
