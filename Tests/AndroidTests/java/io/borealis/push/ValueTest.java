package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Small values: JSON, addresses, host names, configurations, waits. */
class ValueTest {
  private static final String KEY = "0123456789abcdef00112233";

  @Test
  void jsonDocuments() throws Exception {
    Map<String, Object> object =
    Json.document(" {\"a\":[1,-2.5e1,true,false,null,\"\\u4f60\\n\\ud83d\\ude00\"],\"b\":{},"
        + "\"c\":9223372036854775808,\"d\":-9223372036854775808}\n").object;
    assertEquals(Arrays.asList(1L, -25.0, true, false, null, "你\n😀"), object.get("a"));
    assertEquals(Collections.emptyMap(), object.get("b"));
    assertEquals(9.223372036854775808e18, object.get("c"));
    assertEquals(Long.MIN_VALUE, object.get("d"));
    assertEquals("{\"x\": 2 ,\"y\":{\"z\":3}}", Json.document("{\"x\": [1] ,\"y\":{\"z\":3}}")
        .with(Collections.singletonMap("x", "2")));
  }

  @Test
  void whatIsNotJson() {
    String deep = String.join("", Collections.nCopies(40, "["));
    for (String text
        : new String[] {"", "{", "[]", "1", "{}x", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{\"a\":01}",
        "{\"a\":+1}",
      "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":-}", "{\"a\":\"\u0001\"}", "{\"a\":\"\\x\"}",
      "{\"a\":\"\\u12\"}",
      "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\\ud800\"}", "{\"a\":tru}", "{a:1}", "{\"a\" 1}", "\uFEFF{}",
      "{\"a\":NaN}",
      "{\"a\":" + deep}) {
      assertThrows(Json.MalformedException.class, () -> Json.document(text), text);
    }
  }

  @Test
  void pushes() {
    Push push =
    new Push(5, true, false, Wire.utf8("{\"notification\":{\"title\":7,\"style\":1},\"override\":\"12\"}"),
    null);
    assertNull(push.notification().title());
    assertNull(push.notification().alert());
    assertEquals(1L, push.notification().members().get("style"));
    assertTrue(push.notification().extras().isEmpty());
    assertNull(push.message());
    assertEquals(12, push.replaces());
    Push broken = new Push(6, false, false, new byte[] {(byte) 0xFF}, null);
    assertNull(broken.notification());
    assertEquals(0, broken.replaces());
  }

  @Test
  void addresses() {
    for (String text : new String[] {"push.example.com:7900", "127.0.0.1:1", "[::1]:65535"}) {
      assertEquals(text, ServerAddress.parse(text).toString());
    }
    for (String text
        : new String[] {"", "host", "host:", "host:0", "host:65536", "host:+1", "host: 1", ":1", "::1:80",
      "[]:1", "a b:1", "a/b:1", "hôst:1", "host:123456", String.join("", Collections.nCopies(254, "a"))
      + ":1"}) {
      assertNull(ServerAddress.parse(text), text);
    }
    assertTrue(ServerAddress.parse("10.0.0.255:1").isNumeric());
    assertTrue(ServerAddress.parse("[::1]:1").isNumeric());
    for (String host : new String[] {"10.0.0.256", "10.0.0", "1.2.3.4.5", "a.0.0.1", "10.0.0."}) {
      assertFalse(ServerAddress.parse(host + ":1").isNumeric(), host);
    }
  }

  @Test
  void hostNames() {
    String[][] same = {{"Push.Example.com", "push.example.COM"}, {"a.example.com", "*.example.com"},
      {"example.com.", "example.com"}};
    for (String[] pair : same) assertTrue(HostNames.isSameName(pair[0], pair[1]), pair[1]);
    String[][] others =
        {{"a.b.example.com", "*.example.com"}, {"example.com", "*.example.com"}, {"a.com", "*.com"},
      {"aexample.com", "*example.com"}, {"a.example.com", "a*.example.com"}, {"a.example.com", "*.*.com"},
      {"a.example.com", "*"}, {".example.com", "*.example.com"}, {"evil.com", "example.com"}};
    for (String[] pair : others) assertFalse(HostNames.isSameName(pair[0], pair[1]), pair[1]);
  }

  @Test
  void configurations() {
    File state = new File("state");
    assertThrows(IllegalArgumentException.class, () -> PushConfig.builder("host", KEY, state));
    assertThrows(IllegalArgumentException.class, () -> PushConfig.builder("host:1", "xyz", state));
    assertThrows(NullPointerException.class, () -> PushConfig.builder("host:1", KEY, null));
    PushConfig.Builder builder = PushConfig.builder("host:1", KEY, state);
    assertThrows(IllegalArgumentException.class, () -> builder.heartbeat(65_536));
    assertThrows(IllegalArgumentException.class, () -> builder.pins(Collections.singleton("AAAA")));
    builder.plain().caFile(new File("ca.pem"));
    assertThrows(IllegalArgumentException.class, builder::build);
  }

  @Test
  void textsAreCutBetweenCharacters() {
    String text = String.join("", Collections.nCopies(300, "é"));
    assertEquals(127, Wire.clipped(text, 255).length());
    String pairs = String.join("", Collections.nCopies(100, "😀"));
    assertEquals(126, Wire.clipped(pairs, 255).length());
    assertEquals("abc", Wire.clipped("abc", 255));
  }

  @Test
  void waitsGrowAndAreRandom() {
    BackOff backOff = new BackOff(7);
    boolean isVaried = false;
    for (int failure = 1; failure <= 20; failure++) {
      long most = failure >= 9 ? BackOff.LONGEST_WAIT : 1000L << failure;
      long wait = backOff.afterFailure(500);
      assertTrue(wait >= 500 && wait <= most + 500, "failure " + failure + ": " + wait);
      isVaried |= wait > 10_000;
    }
    assertTrue(isVaried);
    backOff.succeeded();
    assertEquals(0, backOff.failures());
    assertTrue(backOff.afterFailure(0) <= 2000);
    assertEquals(new BackOff(-1).afterFailure(0), new BackOff(-1).afterFailure(0));
  }

  @Test
  void aPauseDoesNotCount() {
    LoopClock clock = new LoopClock(100, 100);
    assertFalse(clock.advance(1100, 1100, 1000));
    assertEquals(1000, clock.now());
    // The process was stopped: both clocks went on.
    assertTrue(clock.advance(61_100, 61_100, 1000));
    assertEquals(4000, clock.now());
    // The device slept: only the steady one did.
    assertTrue(clock.advance(62_100, 662_100, 5000));
    assertEquals(5000, clock.now());
    // Without a limit no turn is too long.
    assertFalse(clock.advance(1_000_000, 1_600_000, Long.MAX_VALUE));
    assertFalse(clock.advance(1_000_010, 1_600_010, 0));
  }
}
