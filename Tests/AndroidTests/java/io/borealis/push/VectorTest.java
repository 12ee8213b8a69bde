package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The frames of Docs/protocol-vectors.txt. */
class VectorTest {
  private static final String KEY = "0123456789abcdef00112233";
  private static final long ID = 403_926_205_595_649L;

  /** By direction and name. */
  private static final Map<String, byte[]> VECTORS = new LinkedHashMap<>();

  @BeforeAll
  static void read() throws Exception {
    for (String line : Files.readAllLines(Repository.file("Docs/protocol-vectors.txt"))) {
      String[] words = line.split(" ");
      if (words.length == 3 && words[0].length() == 1 && "csx".contains(words[0])) {
        VECTORS.put(words[0] + " " + words[1], Hex.bytes(words[2]));
      }
    }
    assertTrue(VECTORS.size() > 70);
  }

  private static Profile profile() {
    return new Profile(Hex.bytes(KEY), 2, "1.0", "demo/1.0", 300, true);
  }

  private static byte[] operation(long sequence, Operation operation) {
    return ClientFrame.operation(sequence, operation);
  }

  private static byte[] other(long sequence, int kind, String name, int environment, String token) {
    return operation(sequence,
    Operation.setOtherToken(kind, name, new ApnsToken(environment, Hex.bytes(token))));
  }

  private static byte[] channel(long sequence, String... fields) {
    ReportedToken token = new ReportedToken(fields[0], fields[1], fields[2], fields[3], fields[4]);
    return operation(sequence, Operation.setChannelToken(token));
  }

  /** What the library writes for each vector. */
  private static Map<String, byte[]> written() {
    Map<String, byte[]> frames = new HashMap<>();
    Identity identity = new Identity(ServerFrames.REGISTRATION_ID, ServerFrames.SECRET);
    frames.put("ping", ClientFrame.ping());
    frames.put("hello", ClientFrame.hello(1, 1, "demo/1.0"));
    frames.put("hello-both-versions", ClientFrame.hello(1, 2, "demo/1.0"));
    frames.put("hello-three-versions", ClientFrame.hello(1, 3, "demo/1.0"));
    frames.put("hello-four-versions", ClientFrame.hello(1, 4, "demo/1.0"));
    frames.put("hello-five-versions", ClientFrame.hello(1, 5, "demo/1.0"));
    frames.put("hello-six-versions", ClientFrame.hello(1, 6, "demo/1.0"));
    frames.put("hello-all-versions", ClientFrame.hello(1, 7, "demo/1.0"));
    frames.put("register-no-token",
        ClientFrame.register(new Profile(Hex.bytes(KEY), 2, "", "", 0, false), Hex.bytes("f1")));
    frames.put("login", ClientFrame.login(profile(), identity));
    frames.put("ack", ClientFrame.ack(Arrays.asList(ID, ID + 1)));
    frames.put("ack-age",
        ClientFrame.ackAge(Arrays.asList(ID, ID + 1), Arrays.asList(1000L, Wire.UNKNOWN_AGE)));
    frames.put("receipt", ClientFrame.receipt(Arrays.asList(new Receipt(1, ID), new Receipt(2, ID))));
    frames.put("receipt-in-app",
        ClientFrame.receipt(Arrays.asList(new Receipt(3, ID), new Receipt(4, ID))));
    frames.put("set-alias", operation(1, Operation.of(OperationType.SET_ALIAS, "用户1")));
    frames.put("delete-alias", operation(2, Operation.of(OperationType.DELETE_ALIAS)));
    frames.put("get-alias", operation(3, Operation.of(OperationType.GET_ALIAS)));
    frames.put("set-tags", operation(4, Operation.of(OperationType.SET_TAGS, Arrays.asList("vip", "北京"))));
    frames.put("set-tags-empty",
        operation(5, Operation.of(OperationType.SET_TAGS, Collections.<String>emptyList())));
    frames.put("add-tags", operation(6, Operation.of(OperationType.ADD_TAGS, Arrays.asList("a"))));
    frames.put("delete-tags", operation(7, Operation.of(OperationType.DELETE_TAGS, Arrays.asList("a", "b"))));
    frames.put("clean-tags", operation(8, Operation.of(OperationType.CLEAN_TAGS)));
    frames.put("get-tags", operation(9, Operation.of(OperationType.GET_TAGS)));
    frames.put("check-tag", operation(10, Operation.of(OperationType.CHECK_TAG, "vip")));
    frames.put("set-badge", operation(11, Operation.of(OperationType.SET_BADGE, 7)));
    frames.put("set-token", operation(12, Operation.setToken(new ApnsToken(1, Hex.bytes("010203")))));
    frames.put("app-state", operation(13, Operation.of(OperationType.APP_STATE, 0)));
    frames.put("logout", operation(0xFFFF_FFFFL, Operation.of(OperationType.LOGOUT)));
    frames.put("set-other-token-voip", other(14, 2, "", 1, "010203"));
    frames.put("set-other-token-activity", other(15, 3, "game-7", 2, "aabbcc"));
    frames.put("set-other-token-none", other(16, 4, "Game", 0, ""));
    byte[] key = new byte[48];
    for (int index = 0; index < key.length; index++) key[index] = (byte) index;
    frames.put("set-key", operation(17, Operation.setKey(1, key)));
    frames.put("set-key-none", operation(18, Operation.setKey(1, new byte[0])));
    frames.put("get-key", operation(19, Operation.of(OperationType.GET_KEY, 0x0123_4567_89AB_CDEFL)));
    frames.put("set-channel-token", channel(20, "fcm", "", "", "", "c1:APA91"));
    frames.put("set-channel-token-named", channel(21, "apns", "live_activity", "game-7", "sandbox", "aabb"));
    frames.put("set-channel-token-none", channel(22, "fcm", "", "", "", ""));
    Map<Integer, String> facts = new TreeMap<>();
    facts.put(1, "zh-CN");
    facts.put(8, "on");
    frames.put("set-facts", operation(23, Operation.setFacts(facts)));
    frames.put("set-facts-none", operation(24, Operation.setFacts(Collections.singletonMap(5, ""))));
    return frames;
  }

  @Test
  void clientFramesAreWritten() {
    Map<String, byte[]> written = written();
    for (Map.Entry<String, byte[]> vector : VECTORS.entrySet()) {
      String name = vector.getKey().substring(2);
      // A device with an APNs token is not one of this library.
      if (!vector.getKey().startsWith("c ") || name.equals("register")) continue;
      assertNotNull(written.get(name), name);
      assertArrayEquals(vector.getValue(), written.get(name), name);
    }
  }

  @Test
  void theTestsOwnServerReadsThem() throws Exception {
    for (Map.Entry<String, byte[]> vector : VECTORS.entrySet()) {
      if (vector.getKey().startsWith("c ")) assertEquals(1, ClientFrames.of(vector.getValue()).size());
      if (!vector.getKey().startsWith("x ")) continue;
      assertThrows(FrameException.class, () -> ClientFrames.of(vector.getValue()), vector.getKey());
    }
  }

  static ServerFrame read(byte[] bytes) throws FrameException {
    FrameBuffer buffer = new FrameBuffer();
    buffer.append(bytes, 0, bytes.length);
    assertTrue(buffer.next());
    ServerFrame frame = ServerFrame.decode(buffer.type(), buffer.body());
    assertTrue(!buffer.next());
    return frame;
  }

  private static ServerFrame server(String name) throws FrameException {
    return read(VECTORS.get("s " + name));
  }

  @Test
  void serverFramesAreRead() throws Exception {
    for (Map.Entry<String, byte[]> vector : VECTORS.entrySet()) {
      if (vector.getKey().startsWith("s ")) read(vector.getValue());
    }
    assertEquals(Wire.PONG, server("pong").type);
    assertEquals(6, server("hello-ok-6").version);
    assertEquals(1_800_000_000_000L, server("hello-ok").serverTime);
    assertEquals(65_536, server("hello-ok").maxFrame);
    assertEquals(new Identity(ServerFrames.REGISTRATION_ID, ServerFrames.SECRET),
        server("register-ok").identity);
    assertEquals(300, server("login-ok").heartbeat);
    assertEquals(1000, server("login-ok").ackDelay);
    assertEquals(2, server("login-ok").pending);
    assertEquals(ID, server("push").messageId);
    assertTrue(!server("push").offline && server("push-offline").offline);
    assertEquals("{\"message\":{\"msg_content\":\"hi\"}}", new String(server("push").content, Wire.UTF_8));
    assertEquals(140 - 10, server("push-long").content.length);
    Push inApp = new Push(1, false, false, server("push-in-app").content, null);
    assertTrue(inApp.isInApp());
    assertEquals("hi", inApp.notification().alert());
    assertEquals(0x81, server("facts-wanted").facts);
    assertEquals(ID, server("recall").messageId);
    assertEquals(6027, server("result").code);
    ServerFrame goAway = server("go-away");
    assertEquals("1 1500 push2.example.com:7900", goAway.code + " " + goAway.retryAfter + " " + goAway.text);
    ServerFrame error = server("error");
    assertEquals("1011 0 not registered", error.code + " " + error.reconnect + " " + error.text);
  }

  private static OperationResult result(String name, OperationType type) throws FrameException {
    ServerFrame frame = server(name);
    return OperationResult.decode(frame.sequence, type, frame.code, frame.content);
  }

  @Test
  void resultsAreRead() throws Exception {
    assertEquals("a", result("result-alias", OperationType.GET_ALIAS).alias());
    assertEquals(Arrays.asList("a", "b"), result("result-tags", OperationType.GET_TAGS).tags());
    assertEquals(1, result("result-flag", OperationType.CHECK_TAG).isTagSet() ? 1 : 0);
    assertArrayEquals(new byte[] {1, 2, 3}, result("result-key", OperationType.GET_KEY).key());
    assertThrows(FrameException.class, () -> result("result-tags", OperationType.GET_ALIAS));
    assertThrows(FrameException.class, () -> result("result-alias", OperationType.SET_ALIAS));
  }

  @Test
  void everyCutOfAServerFrameIsIncompleteOrRefused() throws Exception {
    for (Map.Entry<String, byte[]> vector : VECTORS.entrySet()) {
      if (!vector.getKey().startsWith("s ")) continue;
      byte[] whole = vector.getValue();
      for (int cut = 0; cut < whole.length; cut++) {
        FrameBuffer buffer = new FrameBuffer();
        buffer.append(whole, 0, cut);
        assertTrue(!buffer.next(), vector.getKey());
        buffer.append(whole, cut, whole.length - cut);
        assertTrue(buffer.next(), vector.getKey());
      }
    }
  }
}
