package io.borealis.push.android;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Activity;
import android.app.Application;
import android.net.ConnectivityManager;
import android.net.Network;
import io.borealis.push.Peer;
import io.borealis.push.Push;
import io.borealis.push.PushConfig;
import io.borealis.push.PushListener;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The part for Android, against classes with the names of Android's. */
@Timeout(120)
class BorealisTest {
  @TempDir
  Path folder;

  private final Application application = new Application();
  private final Activity activity = new Activity();
  /** The threads on which the listener was called. */
  private final BlockingQueue<String> threads = new LinkedBlockingQueue<>();
  private ServerSocket listener;
  private Borealis borealis;

  @BeforeEach
  void begin() throws Exception {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    application.folder = folder.toFile();
    application.connectivity = new ConnectivityManager();
    PushConfig config =
        Borealis.config(application, "127.0.0.1:" + listener.getLocalPort(), "0123456789abcdef00112233")
        .plain().build();
    borealis = new Borealis(application, config, new PushListener() {
      @Override
      public boolean onPush(Push push) {
        threads.add(Thread.currentThread().getName());
        return true;
      }
    });
  }

  @AfterEach
  void end() throws Exception {
    borealis.close();
    listener.close();
    assertTrue(application.registered.isEmpty() && application.connectivity.registered.isEmpty());
  }

  private void startActivity() {
    application.registered.get(0).onActivityStarted(activity);
  }

  private void stopActivity() {
    application.registered.get(0).onActivityStopped(activity);
  }

  @Test
  void nothingHappensWithoutConsent() throws Exception {
    borealis.start(false);
    startActivity();
    assertEquals(0, folder.toFile().list().length);
    assertTrue(application.connectivity.registered.isEmpty());
    borealis.start(true);
    new Peer(listener).registered();
    assertTrue(folder.resolve("borealis.state").toFile().exists());
  }

  @Test
  void pushesArriveOnTheMainThread() throws Exception {
    borealis.start(true);
    Peer peer = new Peer(listener).registered();
    peer.send("PUSH 1");
    assertEquals("main of the test", threads.poll(60, TimeUnit.SECONDS));
    peer.expect("ACK_AGE 1:");
  }

  @Test
  void theServerLearnsOfTheForeground() throws Exception {
    borealis.start(true);
    Peer peer = new Peer(listener).registered();
    startActivity();
    peer.expect("APP_STATE 1 foreground");
    // Another activity covers it, then the screen turns.
    startActivity();
    stopActivity();
    activity.changing = true;
    stopActivity();
    activity.changing = false;
    startActivity();
    stopActivity();
    peer.expect("APP_STATE 2 background");
    borealis.stop();
    assertEquals(null, peer.next());
    startActivity();
    borealis.start(true);
    Peer next = new Peer(listener);
    next.expect("HELLO");
    next.expect("LOGIN 1a2b3c4d5e6f7081923 foreground");
  }

  @Test
  void theFirstLoginReportsTheForeground() throws Exception {
    startActivity();
    borealis.start(true);
    Peer peer = new Peer(listener);
    peer.expect("HELLO");
    peer.expect("REGISTER");
    peer.send("HELLO_OK", "REGISTER_OK");
    peer.expect("LOGIN 1a2b3c4d5e6f7081923 foreground");
  }

  @Test
  void aChangeOfTheNetworkIsPassedOn() throws Exception {
    borealis.start(true);
    Peer peer = new Peer(listener).registered();
    // In a session, so that the PING is not left out.
    peer.send("PUSH 1");
    peer.expect("ACK_AGE 1:");
    ConnectivityManager.NetworkCallback watch = application.connectivity.registered.get(0);
    watch.onAvailable(new Network());
    peer.expect("PING");
    watch.onLost(new Network());
    peer.expect("PING");
    borealis.stop();
    assertTrue(application.connectivity.registered.isEmpty());
  }

  @Test
  void itWorksWithoutThePermissionForTheNetwork() throws Exception {
    application.connectivity.refuses = true;
    borealis.start(true);
    new Peer(listener).registered();
    borealis.stop();
  }
}
