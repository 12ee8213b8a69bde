package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client against a socket that plays the server. */
@Timeout(120)
class ClientTest {
  private static final String KEY = "0123456789abcdef00112233";

  @TempDir
  Path folder;

  private ServerSocket listener;

  @BeforeEach
  void listen() throws IOException {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void end() throws IOException {
    listener.close();
  }

  private File state() {
    return folder.resolve("state").toFile();
  }

  private PushConfig.Builder config() {
    return PushConfig.builder("127.0.0.1:" + listener.getLocalPort(), KEY, state()).plain();
  }

  @Test
  void nothingHappensBeforeTheStart() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start(false);
      client.networkChanged();
      client.reportShown(1);
      client.handled(1);
      client.stop();
      assertNull(client.registrationId());
      assertFalse(Thread.getAllStackTraces().keySet().stream()
          .anyMatch(one -> one.getName().equals("borealis-push")));
      client.getAlias(null);
      OperationResult result = recorder.result(OperationType.GET_ALIAS);
      assertEquals(ResultCode.STOPPED, result.code());
      assertEquals(0, result.sequence());
    }
    assertEquals(0, folder.toFile().list().length);
    listener.setSoTimeout(1);
    assertThrows(SocketTimeoutException.class, listener::accept);
  }

  @Test
  void consentStartsIt() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start(false);
      client.start(true);
      client.start(true);
      new Peer(listener).registered();
      assertEquals("registered " + ServerFrames.REGISTRATION_ID, recorder.next("registered"));
    }
    PushClient closed = new PushClient(config().build(), recorder);
    closed.close();
    assertThrows(IllegalStateException.class, closed::start);
  }

  @Test
  void aStateFileThatCannotBeUsedIsReported() throws Exception {
    PushConfig config = PushConfig.builder("127.0.0.1:1", KEY, folder.resolve("none/state").toFile()).plain()
    .build();
    assertThrows(IOException.class, () -> new PushClient(config, new Recorder()).start());
    try (PushClient client = new PushClient(config().build(), new Recorder())) {
      client.start();
      assertThrows(IOException.class, () -> new PushClient(config().build(), new Recorder()).start());
    }
    PushConfig tls = PushConfig.builder("127.0.0.1:1", KEY, state()).caFile(new File("/none")).build();
    assertThrows(IOException.class, () -> new PushClient(tls, new Recorder()).start());
    // Nothing of it is left over.
    try (PushClient client = new PushClient(config().build(), new Recorder())) {
      client.start();
    }
  }

  @Test
  void pushesAreAcknowledgedAfterTheyAreHandled() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      Peer peer = new Peer(listener).registered();
      peer.send("PUSH 1", "PUSH 2 offline");
      assertEquals(1, recorder.nextPush().messageId());
      assertTrue(recorder.nextPush().isOffline());
      peer.expect("ACK_AGE 1:");
      peer.expect("ACK_AGE 2:");
      client.setAlias("a", null);
      peer.expect("SET_ALIAS 1 a");
      peer.send("RESULT 1 0");
      assertTrue(recorder.result(OperationType.SET_ALIAS).isOk());
    }
  }

  /**
   * What was handled is recorded before it is acknowledged, so that a lost acknowledgement shows nothing
   * twice.
   */
  @Test
  void nothingIsShownTwiceAfterALostAcknowledgement() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      Peer peer = new Peer(listener).registered();
      peer.send("PUSH 1");
      recorder.nextPush();
      peer.expect("ACK_AGE 1:");
      peer.socket.close();
      Peer next = new Peer(listener).loggedIn();
      next.send("PUSH 1", "PUSH 2");
      assertEquals(2, recorder.nextPush().messageId());
      next.expect("ACK_AGE 1:unknown");
      // Not handled before: the client may end when the app has just returned.
      next.expect("ACK_AGE 2:");
    }
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      Peer peer = new Peer(listener).loggedIn();
      peer.send("PUSH 1", "PUSH 2", "PUSH 3");
      assertEquals(3, recorder.nextPush().messageId());
      assertFalse(recorder.has(Push.class));
    }
  }

  @Test
  void anExceptionOfTheAppLeavesThePushUnhandled() throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    ExecutorService executor = Executors.newSingleThreadExecutor(task -> {
      Thread thread = new Thread(task);
      thread.setUncaughtExceptionHandler((any, error) -> thrown.complete(error));
      return thread;
    });
    Recorder recorder = new Recorder() {
      @Override
      public boolean onPush(Push push) {
        if (push.messageId() == 1) throw new IllegalStateException("the app fails");
        return super.onPush(push);
      }
    };
    try (PushClient client = new PushClient(config().executor(executor).build(), recorder)) {
      client.start();
      Peer peer = new Peer(listener).registered();
      peer.send("PUSH 1", "PUSH 2");
      assertEquals(2, recorder.nextPush().messageId());
      peer.expect("ACK_AGE 2:");
      assertEquals("the app fails", thrown.get(30, TimeUnit.SECONDS).getMessage());
    }
    executor.shutdown();
  }

  /** An app that handles nothing gets no more than it can bear, and everything once it goes on. */
  @Test
  void aSlowAppStopsTheReading() throws Exception {
    List<Long> got = new ArrayList<>();
    PushListener slow = new PushListener() {
      @Override
      public boolean onPush(Push push) {
        synchronized (got) {
          got.add(push.messageId());
          got.notifyAll();
        }
        return false;
      }
    };
    int total = 3000;
    try (PushClient client = new PushClient(config().build(), slow)) {
      client.start();
      Peer peer = new Peer(listener).registered();
      Thread sender = new Thread(() -> {
        try {
          for (int id = 1; id <= total; id++) peer.send("PUSH " + id);
        } catch (IOException error) {
          throw new AssertionError(error);
        }
      });
      sender.start();
      int handled = 0;
      while (handled < total) {
        synchronized (got) {
          while (got.size() <= handled) got.wait();
          // A reading may bring some more than the limit.
          assertTrue(got.size() - handled <= Runner.MOST_IN_HAND + 1024, got.size() + " in hand");
        }
        client.handled(++handled);
      }
      sender.join();
      for (int id = 1; id <= total; id++) assertEquals(id, got.get(id - 1));
    }
  }

  @Test
  void aServerThatClosesIsReconnectedTo() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      new Peer(listener).registered().socket.close();
      Disconnect reason = recorder.next(Disconnect.class, any -> true);
      assertEquals(Disconnect.Kind.CONNECTION_LOST, reason.kind());
      client.networkChanged();
      Peer peer = new Peer(listener).loggedIn();
      peer.send("hex 017f");
      assertEquals(Disconnect.Kind.PROTOCOL_ERROR, recorder.next(Disconnect.class, any -> true).kind());
      assertNull(peer.next());
      client.networkChanged();
      new Peer(listener).loggedIn().send("GO_AWAY 2");
      Disconnect replaced = recorder.next(Disconnect.class, any -> true);
      assertEquals("GO_AWAY 2", replaced.toString());
      client.start();
      new Peer(listener).loggedIn();
    }
  }

  /** A name that has several addresses, of which the first may refuse. */
  @Test
  void namesAreResolved() throws Exception {
    Recorder recorder = new Recorder();
    PushConfig config = PushConfig.builder("localhost:" + listener.getLocalPort(), KEY, state()).plain()
        .build();
    try (PushClient client = new PushClient(config, recorder)) {
      client.start();
      new Peer(listener).registered();
      recorder.next("connected");
    }
    PushConfig unknown = PushConfig.builder("no-such-host.invalid:1", KEY, state()).plain().build();
    try (PushClient client = new PushClient(unknown, recorder)) {
      client.start();
      Disconnect reason =
          recorder.next(Disconnect.class, any -> any.kind() == Disconnect.Kind.CONNECT_FAILED);
      assertEquals("no address found for no-such-host.invalid", reason.message());
    }
  }

  @Test
  void callsDoNotOverlapAndKeepTheirOrder() throws Exception {
    ExecutorService many = Executors.newFixedThreadPool(8);
    AtomicInteger running = new AtomicInteger();
    List<Long> got = new ArrayList<>();
    CompletableFuture<Void> all = new CompletableFuture<>();
    PushListener checker = new PushListener() {
      @Override
      public boolean onPush(Push push) {
        if (running.incrementAndGet() != 1) all.completeExceptionally(new AssertionError("calls overlap"));
        got.add(push.messageId());
        if (got.size() == 500) all.complete(null);
        running.decrementAndGet();
        return true;
      }
    };
    try (PushClient client = new PushClient(config().executor(many).build(), checker)) {
      client.start();
      Peer peer = new Peer(listener).registered();
      for (int id = 1; id <= 500; id++) peer.send("PUSH " + id);
      all.get(60, TimeUnit.SECONDS);
      for (int id = 1; id <= 500; id++) assertEquals(id, got.get(id - 1));
    }
    many.shutdown();
  }

  /** Interrupts of a thread that calls the library must not close the state file. */
  @Test
  void interruptsDoNoHarm() throws Exception {
    Recorder recorder = new Recorder() {
      @Override
      public boolean onPush(Push push) {
        Thread.currentThread().interrupt();
        return super.onPush(push);
      }
    };
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      Peer peer = new Peer(listener).registered();
      for (int id = 1; id <= 20; id++) peer.send("PUSH " + id);
      for (int id = 1; id <= 20; id++) peer.expect("ACK_AGE " + id + ":");
    }
    StateStore store = new StateStore(state());
    StoredState stored = store.load(Hex.bytes(KEY), null);
    store.close();
    assertTrue(stored.inHand.isEmpty() && stored.handled.contains(20));
    assertArrayEquals(ServerFrames.SECRET, stored.identity.secret);
  }
}
