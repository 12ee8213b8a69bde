package io.borealis.jpush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Activity;
import android.app.Application;
import android.app.Notification;
import android.content.Intent;
import android.os.Build;
import io.borealis.push.Facades;
import io.borealis.push.Peer;
import io.borealis.push.Push;
import io.borealis.push.android.PushNotifications;
import io.borealis.push.facade.PushHost;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The package in JPush's shape, against a socket that plays the server. */
@Timeout(120)
class JPushTest {
  private static final String KEY = "0123456789abcdef00112233";

  @TempDir
  Path folder;

  private ServerSocket listener;
  private Application app;

  @BeforeEach
  void begin() throws Exception {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    app = process();
    Events.ALL.clear();
  }

  private Application process() {
    String server = "127.0.0.1:" + listener.getLocalPort();
    return Facades.app(folder.toFile(), server, "JPUSH_APPKEY", KEY, Events.class);
  }

  @AfterEach
  void end() throws Exception {
    Events.shows = true;
    Hub.reset();
    listener.close();
  }

  @Test
  void nothingHappensWithoutConsent() throws Exception {
    JPushInterface.setDebugMode(true);
    JCollectionAuth.setAuth(app, false);
    JPushInterface.init(app);
    JPushInterface.resumePush(app);
    assertEquals(0, folder.toFile().list().length);
    assertEquals("", JPushInterface.getRegistrationID(app));
    JPushInterface.setAlias(app, 1, "anna");
    assertEquals("alias 1 6012 anna", Events.next("alias"));
    JCollectionAuth.setAuth(app, true);
    assertEquals("settings true", Events.next("settings"));
    new Peer(listener).registered();
    assertEquals("registered 1a2b3c4d5e6f7081923", Events.next("registered"));
    assertEquals("connected true", Events.next("connected"));
    assertEquals("1a2b3c4d5e6f7081923", JPushInterface.getRegistrationID(app));
    assertTrue(JPushInterface.getConnectionState(app));
    JPushInterface.setDebugMode(false);
  }

  @Test
  void stoppingOutlivesTheProcess() throws Exception {
    JPushInterface.init(app);
    Peer peer = new Peer(listener).registered();
    Events.next("connected true");
    JPushInterface.stopPush(app);
    assertTrue(JPushInterface.isPushStopped(app));
    Events.next("connected false");
    String frame = peer.next();
    while (frame != null) {
      // The tokens of the makers' classes that other tests bring.
      assertTrue(frame.startsWith("SET_CHANNEL_TOKEN"), frame);
      frame = peer.next();
    }
    Hub.reset();
    app = process();
    JPushInterface.init(app);
    assertTrue(JPushInterface.isPushStopped(app));
    JPushInterface.getAllTags(app, 3);
    assertEquals("tags 3 6012 []", Events.next("tags"));
    JPushInterface.resumePush(app);
    assertFalse(JPushInterface.isPushStopped(app));
    new Peer(listener).loggedIn();
    Events.next("connected true");
  }

  @Test
  void theFormerIdIsPassedOn() throws Exception {
    JPushInterface.setFormerRegistrationID("171976fa8a8620a14a4");
    JPushInterface.init(app);
    JPushInterface.setFormerRegistrationID(null);
    new Peer(listener).registered();
    byte[] state = Files.readAllBytes(folder.resolve("borealis.state"));
    String text = new String(state, StandardCharsets.ISO_8859_1);
    assertTrue(text.contains("jpush:171976fa8a8620a14a4"));
  }

  /** Answers operations until the client tells its facts. */
  private static String facts(Peer peer) throws Exception {
    while (true) {
      String[] words = peer.next().split(" ");
      peer.send("RESULT " + words[1] + " 0");
      if (words[0].equals("SET_FACTS")) return words[2];
    }
  }

  @Test
  void theStoreChannelIsAFact() throws Exception {
    app.packages.application.metaData.putString("JPUSH_CHANNEL", "store-a");
    JPushInterface.init(app);
    Peer peer = new Peer(listener).registered();
    peer.send("FACTS_WANTED 64");
    assertEquals("7=store-a", facts(peer));
    JPushInterface.setChannel(app, "campaign-b");
    assertEquals("7=campaign-b", facts(peer));
    Hub.reset();
    app = process();
    JPushInterface.setChannel(app, "campaign-c");
    JPushInterface.init(app);
    peer = new Peer(listener).loggedIn();
    peer.send("FACTS_WANTED 64");
    assertEquals("7=campaign-c", facts(peer));
  }

  private static Push push(long id) {
    return Push.of(id, "{\"notification\":{\"alert\":\"A\",\"title\":\"T\",\"style\":2,"
        + "\"inbox\":{\"1\":\"a\"},"
        + "\"extras\":{\"t\":\"\\\"x\\\\\\n\",\"n\":[1,2.5,true,null,{}]},"
        + "\"intent\":{\"url\":\"intent:#Intent;component=a/b;end\"}}}");
  }

  @Test
  void notificationsHaveJPushsMembers() {
    NotificationMessage message = new NotificationMessage(push(7), KEY);
    assertEquals("{\"t\":\"\\\"x\\\\\\u000a\",\"n\":[1,2.5,true,null,{}]}", message.notificationExtras);
    assertEquals("{\"1\":\"a\"}", message.notificationInbox);
    assertEquals("7 A T 2 -1 " + KEY, message.msgId + " " + message.notificationContent + " "
        + message.notificationTitle + " " + message.notificationStyle + " "
        + message.notificationAlertType + " " + message.appkey);
  }

  @Test
  void anAppMayKeepANotificationBack() throws Exception {
    Hub hub = Hub.of(app);
    Events.shows = false;
    assertTrue(hub.onPush(push(1)));
    assertTrue(app.notifications.shown.isEmpty());
    assertEquals("not shown A", Events.next("not shown"));
  }

  @Test
  void aPushMayBeForTheBackgroundOnly() throws Exception {
    Hub hub = Hub.of(app);
    Push push = Push.of(1, "{\"notification\":{\"alert\":\"A\",\"display_foreground\":\"0\"}}");
    app.registered.get(0).onActivityStarted(new Activity());
    hub.onPush(push);
    assertEquals("not shown A", Events.next("not shown"));
    app.registered.get(0).onActivityStopped(new Activity());
    hub.onPush(push);
    assertEquals("arrived  A ", Events.next("arrived"));
  }

  /** Once, however often the push comes to the same process, and without the permission for notifications. */
  @Test
  void inAppMessagesReachTheApp() throws Exception {
    app.notifications.enabled = false;
    JPushInterface.init(app);
    Peer peer = new Peer(listener).registered();
    peer.send("PUSH 5 inapp", "PUSH 5 inapp");
    assertEquals("in-app  hi", Events.next("in-app"));
    assertEquals("not shown hi", Events.next("not shown"));
    assertTrue(next(peer, "ACK_AGE").startsWith("ACK_AGE 5:"));
    peer.send("PUSH 5 inapp");
    assertEquals("ACK_AGE 5:unknown", next(peer, "ACK_AGE"));
    // Only the app knows when it has shown it.
    JPushInterface.reportInAppMessageShown(app, Events.inApp);
    assertEquals("RECEIPT inAppShown=5", next(peer, "RECEIPT"));
    JPushInterface.reportInAppMessageClicked(app, Events.inApp);
    assertEquals("in-app tapped 5", Events.next("in-app"));
    assertEquals("RECEIPT inAppTapped=5", next(peer, "RECEIPT"));
    assertTrue(app.notifications.shown.isEmpty());
    JPushInterface.reportInAppMessageShown(app, new NotificationMessage());
    JPushInterface.reportInAppMessageClicked(app, new NotificationMessage());
  }

  /** The client's next frame of a type. */
  private static String next(Peer peer, String type) throws Exception {
    String frame = peer.next();
    while (!frame.startsWith(type)) frame = peer.next();
    return frame;
  }

  /** The tap comes before the app has called init: it is reported afterwards. */
  @Test
  void tapsAndDismissalsReachTheApp() throws Exception {
    Hub.of(app).onPush(push(8));
    Events.next("arrived");
    Notification shown = app.notifications.shown.get("borealis 8");
    assertEquals(TapActivity.class, shown.tap.intent.target);
    assertEquals(DismissalReceiver.class, shown.dismissal.intent.target);
    Hub.reset();
    app = process();
    new DismissalReceiver().onReceive(app, shown.dismissal.intent);
    assertEquals("dismissed 8", Events.next("dismissed"));
    TapActivity tap = new TapActivity();
    tap.base = app;
    tap.intent = shown.tap.intent;
    tap.onCreate(null);
    assertTrue(tap.finished);
    Events.next("opened 8 {");
    // The receiver's class opens what the push names.
    assertEquals("intent:#Intent;component=a/b;end", app.sent.get(0).action);
    JPushInterface.init(app);
    Peer peer = new Peer(listener).registered();
    String frame = peer.next();
    while (frame.startsWith("SET_CHANNEL_TOKEN")) frame = peer.next();
    assertEquals("RECEIPT tapped=8", frame);
    JPushInterface.reportNotificationOpened(app, "not a number");
  }

  @Test
  void aTapOpensTheAppUnlessThePushNamesMore() {
    PushHost.open(app, Push.of(1, "{\"notification\":{\"alert\":\"A\"}}"));
    assertEquals("Launcher", app.sent.get(0).getComponent().getClassName());
    PushHost.open(app,
        Push.of(1, "{\"notification\":{\"intent\":{\"url\":\"not a URL\"}}}"));
    assertEquals("Launcher", app.sent.get(1).getComponent().getClassName());
  }

  @Test
  void aRefusalIsACommand() throws Exception {
    JPushInterface.init(app);
    Peer peer = new Peer(listener);
    peer.expect("HELLO");
    peer.expect("REGISTER");
    peer.send("HELLO_OK", "ERROR 1005 never");
    assertEquals("command 0 1005", Events.next("command"));
  }

  @Test
  void restOfTheCalls() throws Exception {
    app.resources.drawable = "jpush_notification_icon";
    app.resources.number = 9;
    Hub.of(app).onPush(push(1));
    assertEquals(9, app.notifications.shown.get("borealis 1").icon);
    assertEquals(1, JPushInterface.isNotificationEnabled(app));
    JPushInterface.clearAllNotifications(app);
    assertTrue(app.notifications.shown.isEmpty());
    JPushInterface.setMobileNumber(app, 5, "13800000000");
    assertEquals("number 5 6017 13800000000", Events.next("number"));
    Build.MANUFACTURER = "samsung";
    JPushInterface.setBadgeNumber(app, 6);
    Build.MANUFACTURER = "Google";
    assertEquals(6, app.sent.get(0).extras.get("badge_count"));
    JPushInterface.goToAppNotificationSettings(app);
    Intent settings = app.sent.get(1);
    assertEquals("com.example.app", settings.extras.get("android.provider.extra.APP_PACKAGE"));
    Activity activity = new Activity();
    Build.VERSION.SDK_INT = 33;
    JPushInterface.requestPermission(activity);
    JPushInterface.requestPermission(app);
    Build.VERSION.SDK_INT = 29;
    assertEquals("android.permission.POST_NOTIFICATIONS 1", activity.requested);
    assertEquals(null, PushNotifications.pushIn(new Intent()));
  }

  /** Without borealis-makers.aar there are no tokens and no number on the icon, and nothing fails. */
  @Test
  void theMakersMayBeMissing() throws Exception {
    List<URL> paths = new ArrayList<>();
    for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!path.contains("borealis-makers-aar")) paths.add(new File(path).toURI().toURL());
    }
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader loader = new URLClassLoader(paths.toArray(new URL[0]), platform)) {
      assertThrows(ClassNotFoundException.class,
          () -> loader.loadClass("io.borealis.push.makers.MakerTokens"));
      Class<?> events = loader.loadClass(Events.class.getName());
      Object process = loader.loadClass(Facades.class.getName())
          .getMethod("app", File.class, String.class, String.class, String.class, Class.class)
          .invoke(null, folder.toFile(), "127.0.0.1:1", "JPUSH_APPKEY", KEY, events);
      Class<?> context = loader.loadClass("android.content.Context");
      loader.loadClass(JPushInterface.class.getName()).getMethod("setBadgeNumber", context, int.class)
          .invoke(null, process, 3);
    }
  }

  @Test
  void theManifestMustNameTheServer() {
    app.packages.application.metaData = null;
    String text = assertThrows(IllegalArgumentException.class, () -> JPushInterface.init(app)).getMessage();
    assertTrue(text.contains("BOREALIS_SERVER and JPUSH_APPKEY"), text);
  }
}
