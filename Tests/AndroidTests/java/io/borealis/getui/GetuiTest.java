package io.borealis.getui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Application;
import android.app.Notification;
import android.content.pm.ServiceInfo;
import android.os.Build;
import io.borealis.push.Facades;
import io.borealis.push.Peer;
import io.borealis.push.Push;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The package in Getui's shape, against a socket that plays the server. */
@Timeout(120)
class GetuiTest {
  private final PushManager manager = PushManager.getInstance();

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
    return Facades.app(folder.toFile(), server, "GETUI_APPID", "0123456789abcdef00112233", Events.class);
  }

  @AfterEach
  void end() throws Exception {
    Hub.reset();
    listener.close();
  }

  @Test
  void nothingHappensBeforeInitialize() throws Exception {
    manager.preInit(app);
    assertNull(manager.getClientid(app));
    assertFalse(manager.isPushTurnedOn(app));
    Tag[] tags = {new Tag().setName("a")};
    assertEquals(PushConsts.SETTAG_ERROR_UNBIND, manager.setTag(app, tags, "1"));
    assertTrue(manager.bindAlias(app, "anna", "2"));
    assertEquals("bound 2 30005", Events.next("bound"));
    assertEquals(0, folder.toFile().list().length);
    manager.initialize(app);
    assertEquals("process 4711 com.example.app", Events.next("process"));
    new Peer(listener).registered();
    assertEquals("cid 1a2b3c4d5e6f7081923", Events.next("cid"));
    assertEquals("online true", Events.next("online"));
    assertEquals("1a2b3c4d5e6f7081923", manager.getClientid(app));
  }

  @Test
  void turningOffOutlivesTheProcess() throws Exception {
    manager.initialize(app);
    new Peer(listener).registered();
    Events.next("online true");
    manager.turnOffPush(app);
    Events.next("online false");
    Hub.reset();
    app = process();
    manager.initialize(app);
    assertFalse(manager.isPushTurnedOn(app));
    manager.turnOnPush(app);
    assertTrue(manager.isPushTurnedOn(app));
    new Peer(listener).loggedIn();
    Hub.reset();
    Events.ALL.clear();
    // The CID comes at each start.
    manager.initialize(process());
    assertEquals("cid 1a2b3c4d5e6f7081923", Events.next("cid"));
  }

  @Test
  void theAppMayNameItsService() throws Exception {
    app.packages.manifest.services = new ServiceInfo[0];
    manager.registerPushIntentService(app, Events.class);
    manager.registerPushIntentService(app, Events.class);
    Hub.of(app).onPush(Push.of(1, "{\"message\":{\"msg_content\":\"x\"}}"));
    assertEquals("message x ", Events.next("message"));
    assertFalse(Events.ALL.stream().anyMatch(event -> event.startsWith("message")));
  }

  private void tap(String click) {
    Push push = Push.of(8, "{\"notification\":{\"alert\":\"A\",\"extras\":{" + click + "}}}");
    Hub.of(app).onPush(push);
    Notification shown = app.notifications.shown.get("borealis 8");
    Hub.reset();
    app = process();
    app.sent.clear();
    Events.ALL.clear();
    TapActivity tap = new TapActivity();
    tap.base = app;
    tap.intent = shown.tap.intent;
    tap.onCreate(null);
    assertTrue(tap.finished);
  }

  @Test
  void tapsDoWhatTheyAreToDo() throws Exception {
    tap("\"click_type\":\"startapp\"");
    assertEquals("Launcher", app.sent.get(0).getComponent().getClassName());
    tap("\"click_type\":\"url\",\"url\":\"https://example.com/\"");
    assertEquals("https://example.com/", app.sent.get(0).action);
    tap("\"click_type\":\"none\"");
    assertTrue(app.sent.isEmpty());
    tap("\"click_type\":\"payload\",\"payload\":\"p\"");
    assertEquals("Launcher", app.sent.get(0).getComponent().getClassName());
    assertEquals("clicked 8 p", Events.next("clicked"));
    manager.initialize(app);
    Peer peer = new Peer(listener).registered();
    String frame = peer.next();
    while (frame.startsWith("SET_CHANNEL_TOKEN")) frame = peer.next();
    assertEquals("RECEIPT tapped=8", frame);
  }

  @Test
  void restOfTheCalls() throws Exception {
    assertFalse(manager.bindAlias(app, ""));
    assertFalse(manager.unBindAlias(app, "anna", false));
    assertEquals(PushConsts.SETTAG_ERROR_NULL, manager.setTag(app, null, ""));
    assertEquals(PushConsts.SETTAG_ERROR_NULL, manager.setTag(app, new Tag[] {new Tag()}, ""));
    assertFalse(manager.sendFeedbackMessage(app, "t", "8", 90001));
    assertFalse(manager.sendFeedbackMessage(app, "t", "x", 60001));
    assertTrue(manager.sendFeedbackMessage(app, "t", "8", 60002));
    assertEquals("feedback t 60002 ok", Events.next("feedback"));
    assertTrue(manager.areNotificationsEnabled(app));
    assertFalse(manager.setHwBadgeNum(app, 1));
    Build.MANUFACTURER = "HUAWEI";
    assertTrue(manager.setHwBadgeNum(app, 1));
    Build.MANUFACTURER = "Google";
  }
}
