package io.borealis.getui;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Application;
import android.app.Notification;
import io.borealis.push.Facades;
import io.borealis.push.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An app that was written for Getui, against the built server. */
@Tag("blackbox")
@Timeout(120)
class GetuiEndToEndTest {
  @TempDir
  Path folder;

  @Test
  void anAppOfGetuiWorks() throws Exception {
    Path files = Files.createDirectory(folder.resolve("files"));
    PushManager manager = PushManager.getInstance();
    Events.ALL.clear();
    try (TestServer server = new TestServer(Files.createDirectory(folder.resolve("data")))) {
      Application app =
          Facades.app(files.toFile(), server.plain(), "GETUI_APPID", server.appKey, Events.class);
      manager.initialize(app);
      String cid = Events.next("cid ").substring(4);
      Events.next("online true");
      assertTrue(manager.bindAlias(app, "anna", "1"));
      assertEquals("bound 1 0", Events.next("bound"));
      io.borealis.getui.Tag tag = new io.borealis.getui.Tag().setName("news");
      assertEquals(0, manager.setTag(app, new io.borealis.getui.Tag[] {tag}, "2"));
      assertEquals("tags 2 0", Events.next("tags"));
      manager.bindAlias(app, "not valid!", "3");
      assertEquals("bound 3 30007", Events.next("bound"));
      server.push("{\"alias\":[\"anna\"]}", "\"message\":{\"msg_content\":\"hi\"}");
      assertEquals("message hi " + cid, Events.next("message"));
      long sent = server.push("{\"tag\":[\"news\"]}",
          "\"notification\":{\"android\":{\"alert\":\"Hello\",\"title\":\"T\","
          + "\"extras\":{\"payload\":\"p\"}}}");
      assertEquals("arrived T Hello", Events.next("arrived"));
      Facades.awaitCount(server, sent, "shown");
      Notification shown = app.notifications.shown.get("borealis " + sent);
      // The process dies; the tap starts a new one.
      Hub.reset();
      app = Facades.app(files.toFile(), server.plain(), "GETUI_APPID", server.appKey, Events.class);
      manager.initialize(app);
      TapActivity tap = new TapActivity();
      tap.base = app;
      tap.intent = shown.tap.intent;
      tap.onCreate(null);
      assertEquals("clicked " + sent + " p", Events.next("clicked"));
      Facades.awaitCount(server, sent, "tapped");
      assertTrue(manager.unBindAlias(app, "bert", true, "4"));
      assertEquals("unbound 4 0", Events.next("unbound"));
      assertEquals("anna", server.call("GET", "/v3/devices/" + cid, null).get("alias"));
      assertTrue(manager.unBindAlias(app, "anna", true, "5"));
      assertEquals("unbound 5 0", Events.next("unbound"));
    } finally {
      Hub.reset();
    }
  }
}
