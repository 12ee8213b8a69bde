package io.borealis.jpush;

import static org.junit.jupiter.api.Assertions.assertEquals;

import android.app.Application;
import android.app.Notification;
import io.borealis.push.Facades;
import io.borealis.push.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An app that was written for JPush, against the built server. */
@Tag("blackbox")
@Timeout(120)
class JPushEndToEndTest {
  @TempDir
  Path folder;

  private static Set<String> set(String... tags) {
    return new LinkedHashSet<>(Arrays.asList(tags));
  }

  @Test
  void anAppOfJPushWorks() throws Exception {
    Path files = Files.createDirectory(folder.resolve("files"));
    Events.ALL.clear();
    try (TestServer server = new TestServer(Files.createDirectory(folder.resolve("data")))) {
      Application app =
          Facades.app(files.toFile(), server.plain(), "JPUSH_APPKEY", server.appKey, Events.class);
      JPushInterface.init(app);
      String id = Events.next("registered ").substring(11);
      Events.next("connected true");
      assertEquals(id, JPushInterface.getRegistrationID(app));
      JPushInterface.setAlias(app, 1, "anna");
      assertEquals("alias 1 0 anna", Events.next("alias"));
      JPushInterface.setTags(app, 2, set("news", "vip"));
      assertEquals("tags 2 0 [news, vip]", Events.next("tags"));
      JPushInterface.addTags(app, 3, set("杭州"));
      assertEquals("tags 3 0 [杭州]", Events.next("tags"));
      JPushInterface.deleteTags(app, 4, set("vip"));
      Events.next("tags 4 0");
      JPushInterface.getAllTags(app, 5);
      assertEquals("tags 5 0 [news, 杭州]", Events.next("tags"));
      JPushInterface.checkTagBindState(app, 6, "news");
      assertEquals("check 6 0 news true", Events.next("check"));
      JPushInterface.setAlias(app, 7, "not valid!");
      assertEquals("alias 7 6003 not valid!", Events.next("alias"));
      JPushInterface.getAlias(app, 8);
      assertEquals("alias 8 0 anna", Events.next("alias"));
      JPushInterface.setTags(app, 9, Collections.emptySet());
      Events.next("tags 9 ");
      server.push("{\"alias\":[\"anna\"]}", "\"message\":{\"msg_content\":\"hi\",\"title\":\"t\","
          + "\"content_type\":\"text\",\"extras\":{\"k\":\"v\"}}");
      assertEquals("message hi t text {\"k\":\"v\"}", Events.next("message"));
      long sent = server.push(TestServer.to(id),
          "\"notification\":{\"android\":{\"alert\":\"Hello\",\"title\":\"T\",\"extras\":{\"page\":\"x\"}}}");
      assertEquals("arrived T Hello {\"page\":\"x\"}", Events.next("arrived"));
      Facades.awaitCount(server, sent, "shown");
      Notification shown = app.notifications.shown.get("borealis " + sent);
      // Without the permission the app alone shows it.
      app.notifications.enabled = false;
      long inApp = server.push(TestServer.to(id),
          "\"notification\":{\"alert\":\"Inside\"},\"inapp_message\":{\"inapp_message\":true}");
      assertEquals("in-app  Inside", Events.next("in-app"));
      assertEquals("not shown Inside", Events.next("not shown"));
      JPushInterface.reportInAppMessageShown(app, Events.inApp);
      JPushInterface.reportInAppMessageClicked(app, Events.inApp);
      Facades.awaitCount(server, inApp, "inapp.shown");
      Facades.awaitCount(server, inApp, "inapp.tapped");
      app.notifications.enabled = true;
      // The process dies; the tap starts a new one.
      Hub.reset();
      app = Facades.app(files.toFile(), server.plain(), "JPUSH_APPKEY", server.appKey, Events.class);
      JPushInterface.init(app);
      TapActivity tap = new TapActivity();
      tap.base = app;
      tap.intent = shown.tap.intent;
      tap.onCreate(null);
      assertEquals("opened " + sent + " {\"page\":\"x\"}", Events.next("opened"));
      Facades.awaitCount(server, sent, "tapped");
      JPushInterface.deleteAlias(app, 10);
      assertEquals("alias 10 0 null", Events.next("alias"));
      JPushInterface.cleanTags(app, 11);
      assertEquals("tags 11 0 []", Events.next("tags"));
    } finally {
      Hub.reset();
    }
  }
}
