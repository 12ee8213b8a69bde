package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.borealis.getui.GTIntentService;
import io.borealis.getui.PushManager;
import io.borealis.jpush.JPushInterface;
import io.borealis.jpush.JPushMessageReceiver;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What apps of JPush and Getui call has exactly the names and types in
 * Tests/AndroidTests/facade-signatures.txt, which were compared with the vendors' documents and with public
 * apps. A changed line there breaks apps.
 */
class SignatureTest {
  private static String types(Class<?>[] types) {
    return Arrays.stream(types).map(Class::getSimpleName).collect(Collectors.joining(", ", "(", ")"));
  }

  private static void add(Class<?> type, List<String> signatures) {
    String name = type.getName().replace("io.borealis.", "") + " ";
    for (Constructor<?> constructor : type.getConstructors()) {
      signatures.add(name + "new " + types(constructor.getParameterTypes()));
    }
    for (Field field : type.getFields()) {
      if (!field.getDeclaringClass().getName().startsWith("io.borealis.")) continue;
      String value = Modifier.isStatic(field.getModifiers()) ? "static " : "";
      signatures.add(name + value + field.getType().getSimpleName() + " " + field.getName());
    }
    for (Method method : type.getMethods()) {
      if (method.isBridge() || !method.getDeclaringClass().getName().startsWith("io.borealis.")) continue;
      String prefix = Modifier.isStatic(method.getModifiers()) ? "static " : "";
      signatures.add(name + prefix + method.getReturnType().getSimpleName() + " " + method.getName()
          + types(method.getParameterTypes()));
    }
  }

  @Test
  void theyAreAsListed() throws Exception {
    List<String> signatures = new ArrayList<>();
    for (Class<?> one : new Class<?>[] {JPushInterface.class, PushManager.class}) {
      String archive = one.getName().split("\\.")[2];
      File classes = Repository.file(".build/android/borealis-" + archive + "-aar/classes.jar").toFile();
      try (JarFile jar = new JarFile(classes)) {
        Enumeration<JarEntry> entries = jar.entries();
        while (entries.hasMoreElements()) {
          String name = entries.nextElement().getName();
          if (!name.startsWith("io/borealis/" + archive + "/") || name.contains("package-info")) continue;
          Class<?> type = Class.forName(name.replace(".class", "").replace('/', '.'));
          if (Modifier.isPublic(type.getModifiers())) add(type, signatures);
        }
      }
    }
    String all = String.join("\n", new TreeSet<>(signatures));
    String listed = Files.readString(Repository.file("Tests/AndroidTests/facade-signatures.txt")).trim();
    assertEquals(listed, all);
  }

  /** Apps override them, so they must not be final. */
  @Test
  void callbacksMayBeOverridden() {
    for (Class<?> type : new Class<?>[] {JPushMessageReceiver.class, GTIntentService.class}) {
      for (Method method : type.getDeclaredMethods()) {
        assertEquals(0, method.getModifiers() & (Modifier.FINAL | Modifier.STATIC), method.toString());
      }
    }
  }
}
