package io.borealis.push.android;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** What is in the archive for Android apps. */
class AarTest {
  private static final Path AAR = Paths.get(".build/android/borealis.aar");

  private static Map<String, byte[]> entries(InputStream archive) throws IOException {
    Map<String, byte[]> entries = new LinkedHashMap<>();
    try (ZipInputStream zip = new ZipInputStream(archive)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        entries.put(entry.getName(), zip.readAllBytes());
      }
    }
    return entries;
  }

  @Test
  void asksForThreePermissions() throws Exception {
    Map<String, byte[]> aar = entries(Files.newInputStream(AAR));
    assertEquals("[R.txt, AndroidManifest.xml, classes.jar]", aar.keySet().toString());
    byte[] manifest = aar.get("AndroidManifest.xml");
    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream(manifest));
    Matcher permission = Pattern.compile("android\\.permission\\.\\w+")
        .matcher(new String(manifest, StandardCharsets.UTF_8));
    TreeSet<String> permissions = new TreeSet<>();
    while (permission.find()) permissions.add(permission.group());
    assertEquals("[android.permission.ACCESS_NETWORK_STATE, android.permission.INTERNET, "
        + "android.permission.POST_NOTIFICATIONS]", permissions.toString());
  }

  @Test
  void hasTheLibraryAndNothingOfAndroid() throws Exception {
    Map<String, byte[]> aar = entries(Files.newInputStream(AAR));
    Map<String, byte[]> classes = entries(new ByteArrayInputStream(aar.get("classes.jar")));
    assertTrue(classes.containsKey("io/borealis/push/PushClient.class"));
    assertTrue(classes.containsKey("io/borealis/push/android/Borealis.class"));
    for (String name : classes.keySet()) assertTrue(name.matches("io/borealis/push/.*\\.class"), name);
  }

  /** What apps add asks for no permission, and has the classes that its manifest and its rules name. */
  @Test
  void theOtherArchivesAskForNothing() throws Exception {
    for (String name : new String[] {"makers", "jpush", "getui"}) {
      Path file = Paths.get(".build/android/borealis-" + name + ".aar");
      Map<String, byte[]> aar = entries(Files.newInputStream(file));
      TreeSet<String> files = new TreeSet<>(aar.keySet());
      assertEquals("[AndroidManifest.xml, R.txt, classes.jar, proguard.txt]", files.toString());
      byte[] bytes = aar.get("AndroidManifest.xml");
      DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream(bytes));
      String manifest = new String(bytes, StandardCharsets.UTF_8);
      assertFalse(manifest.contains("permission"), name);
      Map<String, byte[]> classes = entries(new ByteArrayInputStream(aar.get("classes.jar")));
      Matcher component = Pattern.compile("android:name=\"([\\w.]+)\"").matcher(manifest);
      while (component.find()) {
        assertTrue(classes.containsKey(component.group(1).replace('.', '/') + ".class"), component.group(1));
      }
      assertFalse(classes.containsKey("io/borealis/push/PushClient.class"), name);
    }
  }

  /** The sizes that Docs/android.md states. */
  @Test
  void areSmall() throws Exception {
    assertTrue(Files.size(AAR) <= 100 * 1024, Files.size(AAR) + " bytes");
    for (String name : new String[] {"jpush", "getui"}) {
      long facade = Files.size(Paths.get(".build/android/borealis-" + name + ".aar"));
      assertTrue(facade <= 20 * 1024, facade + " bytes");
    }
    long jar = Files.size(Paths.get(".build/android/borealis-device.jar"));
    assertTrue(jar <= 140 * 1024, jar + " bytes");
  }
}
