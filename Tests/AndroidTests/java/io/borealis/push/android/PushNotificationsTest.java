package io.borealis.push.android;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Activity;
import android.app.Application;
import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Intent;
import android.graphics.Bitmap;
import android.os.Build;
import io.borealis.push.Peer;
import io.borealis.push.Push;
import io.borealis.push.PushClient;
import io.borealis.push.PushConfig;
import io.borealis.push.PushListener;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Notifications, against classes with the names of Android's. */
@Timeout(120)
class PushNotificationsTest {
  @TempDir
  Path folder;

  private final Application application = new Application();
  private final NotificationManager manager = application.notifications;
  private ServerSocket listener;
  private PushClient client;
  private Peer peer;

  @BeforeEach
  void begin() throws Exception {
    Build.VERSION.SDK_INT = 29;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    PushConfig config = PushConfig.builder("127.0.0.1:" + listener.getLocalPort(), "0123456789abcdef00112233",
        folder.resolve("state").toFile()).plain().build();
    client = new PushClient(config, new PushListener() {});
    client.start();
    peer = new Peer(listener).registered();
  }

  @AfterEach
  void end() throws Exception {
    Build.VERSION.SDK_INT = 29;
    client.close();
    listener.close();
  }

  private PushNotifications notifications() {
    return new PushNotifications(application, client, "news", "News", 7);
  }

  private static Push push(long id, String notification, String more) {
    return Push.of(id, "{\"notification\":" + notification + more + "}");
  }

  private Notification shown(long id) {
    return manager.shown.get("borealis " + id);
  }

  @Test
  void showsAndReports() throws Exception {
    PushNotifications notifications = notifications();
    assertTrue(notifications.show(push(5, "{\"alert\":\"Hello\",\"title\":\"T\"}", "")));
    peer.expect("RECEIPT shown=5");
    Notification shown = shown(5);
    assertEquals("news T Hello 7 []",
        shown.channel + " " + shown.title + " " + shown.text + " " + shown.icon + " " + shown.lines);
    assertTrue(notifications.show(push(6, "{\"alert\":\"A\"}", ",\"override\":\"5\"")));
    assertNull(shown(5));
    assertEquals("The app", shown(6).title);
    notifications.cancel(6);
    assertTrue(manager.shown.isEmpty());
  }

  @Test
  void showsNothingWithoutATextOrThePermission() {
    PushNotifications notifications = notifications();
    assertFalse(notifications.show(Push.of(1, "{\"message\":{\"msg_content\":\"x\"}}")));
    assertFalse(notifications.show(push(2, "{\"alert\":\"\"}", "")));
    manager.enabled = false;
    assertFalse(notifications.areAllowed());
    assertFalse(notifications.show(push(3, "{\"alert\":\"A\"}", "")));
    assertTrue(manager.shown.isEmpty());
  }

  @Test
  void hasStylesAndChannels() {
    PushNotifications notifications = notifications();
    manager.createNotificationChannel(new NotificationChannel("chat", "Chat", 3));
    notifications.show(push(1, "{\"alert\":\"A\",\"style\":1,\"big_text\":\"long\",\"channel_id\":\"chat\"}",
        ""));
    assertEquals("chat [long]", shown(1).channel + " " + shown(1).lines);
    notifications.show(push(2,
        "{\"alert\":\"A\",\"style\":2,\"inbox\":{\"1\":\"a\",\"2\":\"b\"},\"channel_id\":\"x\"}", ""));
    assertEquals("news [a, b]", shown(2).channel + " " + shown(2).lines);
  }

  /** The text first, then the picture, unless the user has removed it meanwhile. */
  @Test
  void hasPictures() throws Exception {
    try (ServerSocket web = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      PushNotifications notifications = notifications();
      String picture = "http://127.0.0.1:" + web.getLocalPort() + "/";
      String content = "{\"alert\":\"A\",\"style\":3,\"big_pic_path\":\"" + picture + "\"}";
      notifications.show(push(1, content, ""));
      assertNull(shown(1).picture);
      serve(web, 40);
      Bitmap bitmap = awaitPicture(1);
      // 4000 pixels, of which every fourth is enough.
      assertEquals("3 4", bitmap.bytes + " " + bitmap.sampleSize);
      assertTrue(shown(1).alertsOnce);
      // Not a picture; not there any more; not on the Web; on a system that is too old.
      notifications.show(push(2, content, ""));
      serve(web, 0);
      notifications.show(push(3, content, ""));
      notifications.cancel(3);
      serve(web, 5);
      notifications.show(push(4, content.replace("http:", "file:"), ""));
      Build.VERSION.SDK_INT = 22;
      notifications.show(push(5, content, ""));
      Build.VERSION.SDK_INT = 29;
      // The next one proves that those before it have ended.
      notifications.show(push(6, content, ""));
      serve(web, 5);
      awaitPicture(6);
      for (long id : new long[] {2, 4, 5}) assertNull(shown(id).picture);
      assertNull(shown(3));
    }
  }

  private static void serve(ServerSocket web, int first) throws Exception {
    try (Socket socket = web.accept()) {
      socket.getInputStream().read();
      String head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().write(new byte[] {(byte) first, 1, 1});
    }
  }

  private Bitmap awaitPicture(long id) throws Exception {
    long end = System.nanoTime() + 30_000_000_000L;
    while (shown(id).picture == null) {
      assertTrue(System.nanoTime() < end, "no picture");
      Thread.sleep(5);
    }
    return shown(id).picture;
  }

  @Test
  void hasNumbersAndWhatTheAppAdds() {
    PushNotifications notifications = notifications();
    notifications.show(push(1, "{\"alert\":\"A\",\"badge_set_num\":7}", ""));
    assertEquals(7, shown(1).count);
    notifications.setCustomizer((builder, push) -> builder.setContentTitle("mine " + push.messageId()));
    notifications.show(push(2, "{\"alert\":\"A\"}", ""));
    assertEquals("mine 2", shown(2).title);
    notifications.cancelAll();
    assertTrue(manager.shown.isEmpty());
  }

  /** The intent has all that is needed after the process was killed. */
  @Test
  void aTapIsReportedOnce() throws Exception {
    PushNotifications notifications = notifications();
    notifications.show(push(8, "{\"alert\":\"A\",\"extras\":{\"page\":\"x\"}}", ""));
    peer.expect("RECEIPT shown=8");
    PendingIntent tap = shown(8).tap;
    assertEquals(PendingIntent.FLAG_UPDATE_CURRENT | PendingIntent.FLAG_IMMUTABLE, tap.flags);
    Push tapped = notifications().takeTapped(tap.intent);
    peer.expect("RECEIPT tapped=8");
    assertEquals(8, tapped.messageId());
    assertEquals("x", tapped.notification().extras().get("page"));
    assertNull(notifications.takeTapped(tap.intent));
    assertNull(notifications.takeTapped(new Intent()));
    assertNull(notifications.takeTapped(null));
    application.packages.hasLauncher = false;
    notifications.show(push(9, "{\"alert\":\"A\"}", ""));
    assertNull(shown(9).tap);
  }

  @Test
  void olderSystems() {
    Build.VERSION.SDK_INT = 21;
    manager.enabled = false;
    PushNotifications notifications = notifications();
    assertTrue(manager.channels.isEmpty());
    assertTrue(notifications.areAllowed());
    assertTrue(notifications.show(push(1, "{\"alert\":\"A\"}", "")));
    assertEquals(PendingIntent.FLAG_UPDATE_CURRENT, shown(1).tap.flags);
    Activity activity = new Activity();
    PushNotifications.requestPermission(activity, 3);
    assertEquals("", activity.requested);
    Build.VERSION.SDK_INT = 33;
    PushNotifications.requestPermission(activity, 3);
    assertEquals("android.permission.POST_NOTIFICATIONS 3", activity.requested);
  }
}
