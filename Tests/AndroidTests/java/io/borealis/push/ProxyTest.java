package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A network between client and server that cuts connections anywhere, delays bytes, and stalls. */
@Tag("blackbox")
@Timeout(240)
class ProxyTest {
  private static final int PUSHES = 120;

  @TempDir
  Path folder;

  private final Random random = new Random(5);
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  /** From then on the network works. */
  private volatile boolean isCalm;
  /** Nothing is passed on, and nothing is cut. */
  private volatile boolean isStalled;

  /** Passes on a number of bytes in pieces, then cuts the connection. */
  private void pass(Socket from, Socket to, int most) {
    byte[] buffer = new byte[4096];
    try {
      InputStream input = from.getInputStream();
      OutputStream output = to.getOutputStream();
      int passed = 0;
      while (isCalm || passed < most) {
        int size = isCalm ? buffer.length : 1 + Math.floorMod(passed * 31 + most, 700);
        int count = input.read(buffer, 0, size);
        if (count < 0) break;
        while (isStalled) Thread.sleep(10);
        output.write(buffer, 0, count);
        passed += count;
      }
    } catch (IOException | InterruptedException error) {
      // The other direction was cut.
      isStalled = false;
    }
    close(from);
    close(to);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException error) {
      throw new AssertionError(error);
    }
  }

  private ServerSocket proxy(String server) throws IOException {
    int port = Integer.parseInt(server.substring(server.lastIndexOf(':') + 1));
    ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(() -> {
      while (true) {
        try {
          Socket client = listener.accept();
          Socket peer = new Socket(InetAddress.getLoopbackAddress(), port);
          open.add(client);
          // A handshake has some thousand bytes.
          int down = random.nextInt(12_000);
          int up = random.nextInt(6000);
          start(() -> pass(client, peer, up));
          start(() -> pass(peer, client, down));
        } catch (IOException error) {
          return;
        }
      }
    });
    return listener;
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
  }

  @Test
  void everyPushIsShownOnce() throws Exception {
    List<Long> shown = new CopyOnWriteArrayList<>();
    Recorder recorder = new Recorder() {
      @Override
      public boolean onPush(Push push) {
        assertTrue(!push.isRedelivered());
        shown.add(push.messageId());
        return true;
      }
    };
    try (TestServer server = new TestServer(Files.createDirectory(folder.resolve("data")));
        ServerSocket proxy = proxy(server.device())) {
      PushConfig config = PushConfig.builder("127.0.0.1:" + proxy.getLocalPort(), server.appKey,
          folder.resolve("state").toFile()).caFile(server.certificate().toFile()).build();
      try (PushClient client = new PushClient(config, recorder)) {
        client.start();
        while (client.registrationId() == null) retry(client);
        List<Long> sent = new ArrayList<>();
        for (int count = 0; count < PUSHES; count++) {
          String id = client.registrationId();
          sent.add(server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"" + count + "\"}"));
          client.getAlias(null);
          retry(client);
        }
        isCalm = true;
        while (shown.size() < sent.size()) retry(client);
        assertEquals(sent, sorted(shown));
        stall(server, client, recorder, shown);
      }
    }
  }

  /**
   * A new registration after a lost REGISTER_OK would have other pushes, so the ID is asked for each time.
   */
  private static void retry(PushClient client) throws InterruptedException {
    client.networkChanged();
    Thread.sleep(20);
  }

  private static List<Long> sorted(List<Long> ids) {
    List<Long> sorted = new ArrayList<>(ids);
    Collections.sort(sorted);
    return sorted;
  }

  /** A connection that says nothing any more is given up ten seconds after a PING. */
  private void stall(TestServer server, PushClient client, Recorder recorder,
      List<Long> shown) throws Exception {
    client.getTags(null);
    recorder.result(OperationType.GET_TAGS);
    isStalled = true;
    client.networkChanged();
    Disconnect end = recorder.next(Disconnect.class, any -> any.kind() == Disconnect.Kind.HEARTBEAT_TIMEOUT);
    assertEquals(Disconnect.Kind.HEARTBEAT_TIMEOUT, end.kind());
    isStalled = false;
    long last = server.push(TestServer.to(client.registrationId()), "\"message\":{\"msg_content\":\"last\"}");
    while (!shown.contains(last)) retry(client);
  }
}
