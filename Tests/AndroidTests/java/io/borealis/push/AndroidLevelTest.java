package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/**
 * The library uses only members of Java's and Android's classes that Android has since API 21. No list of
 * these is at hand to compare with, so Tests/AndroidTests/android-21.txt has the members that the library
 * uses and that were reviewed. Look a new one up in Android's reference before you add it.
 */
class AndroidLevelTest {
  /** They check at run time whether Android has what they use. */
  private static final String CHECKED = "io/borealis/push/(FolderSync|TlsSettings).class";

  /** Members newer than API 21, which these classes use behind checks of the system's version. */
  private static final String GUARDING = "io/borealis/push/android/(PushNotifications|PhoneFacts).class";
  private static final List<String> GUARDED = Arrays.asList(
      "android/app/Activity requestPermissions ([Ljava/lang/String;I)V",
      "android/app/Notification$Builder <init> (Landroid/content/Context;Ljava/lang/String;)V",
      "android/app/NotificationChannel <init> (Ljava/lang/String;Ljava/lang/CharSequence;I)V",
      "android/app/NotificationManager areNotificationsEnabled ()Z",
      "android/app/NotificationManager createNotificationChannel (Landroid/app/NotificationChannel;)V",
      "android/app/NotificationManager getActiveNotifications ()"
          + "[Landroid/service/notification/StatusBarNotification;",
      "android/app/NotificationManager getNotificationChannel (Ljava/lang/String;)"
          + "Landroid/app/NotificationChannel;");
  private static final List<String> ARCHIVES =
      Arrays.asList("borealis", "borealis-makers", "borealis-jpush", "borealis-getui");

  @Test
  void everyMemberIsKnown() throws Exception {
    TreeSet<String> used = new TreeSet<>();
    int classes = 0;
    for (String archive : ARCHIVES) {
      Path classesJar = Repository.file(".build/android/" + archive + "-aar/classes.jar");
      try (JarFile jar = new JarFile(classesJar.toFile())) {
        for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
          if (!entry.getName().endsWith(".class") || entry.getName().matches(CHECKED)) continue;
          classes++;
          try (InputStream input = jar.getInputStream(entry)) {
            TreeSet<String> members = new TreeSet<>();
            collect(new DataInputStream(input), members);
            if (entry.getName().matches(GUARDING)) assertTrue(members.removeAll(GUARDED));
            used.addAll(members);
          }
        }
      }
    }
    assertTrue(classes > 50);
    TreeSet<String> known =
        new TreeSet<>(Files.readAllLines(Repository.file("Tests/AndroidTests/android-21.txt")));
    TreeSet<String> unknown = new TreeSet<>(used);
    unknown.removeAll(known);
    assertEquals(new TreeSet<>(), unknown);
    known.removeAll(used);
    assertEquals(new TreeSet<>(), known, "listed without need");
  }

  /**
   * Adds the members of other packages that a class file names: Java Virtual Machine Specification, section
   * 4.4.
   */
  private static void collect(DataInputStream input, TreeSet<String> used) throws IOException {
    assertEquals(0xCAFEBABE, input.readInt());
    input.readInt();
    int count = input.readUnsignedShort();
    String[] texts = new String[count];
    int[] first = new int[count];
    int[] second = new int[count];
    boolean[] isMember = new boolean[count];
    for (int index = 1; index < count; index++) {
      int tag = input.readUnsignedByte();
      switch (tag) {
        case 1:
          texts[index] = input.readUTF();
          break;
        case 5:
        case 6:
          input.readLong();
          index++;
          break;
        case 7:
        case 8:
        case 16:
          first[index] = input.readUnsignedShort();
          break;
        case 15:
          input.readUnsignedByte();
          input.readUnsignedShort();
          break;
        case 9:
        case 10:
        case 11:
        case 12:
        case 18:
          first[index] = input.readUnsignedShort();
          second[index] = input.readUnsignedShort();
          isMember[index] = tag >= 9 && tag <= 11;
          break;
        default:
          input.readInt();
      }
    }
    for (int index = 1; index < count; index++) {
      if (!isMember[index]) continue;
      String type = texts[first[first[index]]];
      // Lambdas become classes when an app is built for Android.
      if (!type.matches("(java|javax|android)/.*") || type.startsWith("java/lang/invoke/")) continue;
      used.add(type + " " + texts[first[second[index]]] + " " + texts[second[second[index]]]);
    }
  }
}
