package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random bytes and damaged frames: nothing but {@link FrameException} comes of them, and memory stays
 * bounded.
 */
class FuzzTest {
  private static final String[] FRAMES = {
    "PONG", "HELLO_OK", "REGISTER_OK", "LOGIN_OK heartbeat=1 ack_delay=65535", "LOGIN_OK ack_delay=0",
    "PUSH 1",
    "PUSH 18446744073709551615 offline", "PUSH 2 show_before=1", "PUSH 3 show_before=9223372036854775807",
    "RECALL 1", "RECALL 9", "RESULT 1 0", "RESULT 2 0 alias=a", "RESULT 3 0 tags=a,b", "RESULT 1 6014",
    "GO_AWAY 1 retry_after=4294967295 host=a:1", "GO_AWAY 3 retry_after=4294967295", "GO_AWAY 2",
    "ERROR 1011 never", "ERROR 6014 at-once", "HELLO_OK time=9223372036854775807 max_frame=4294967295",
  };

  private static byte[] frame(Random random) {
    byte[] frame = ServerFrames.of(FRAMES[random.nextInt(FRAMES.length)]);
    if (random.nextInt(3) == 0) frame[random.nextInt(frame.length)] ^= 1 << random.nextInt(8);
    return random.nextInt(8) == 0 ? Arrays.copyOf(frame, random.nextInt(frame.length)) : frame;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void decoders(long seed) {
    Random random = new Random(seed);
    int decoded = 0;
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes;
      if (random.nextInt(4) == 0) {
        bytes = new byte[random.nextInt(64)];
        random.nextBytes(bytes);
      } else {
        bytes = frame(random);
      }
      FrameBuffer buffer = new FrameBuffer();
      buffer.append(bytes, 0, bytes.length);
      try {
        while (buffer.next()) {
          ServerFrame frame = ServerFrame.decode(buffer.type(), buffer.body());
          decoded++;
          if (frame.type != Wire.RESULT) continue;
          for (OperationType type : OperationType.values()) {
            OperationResult.decode(frame.sequence, type, frame.code, frame.content);
          }
        }
      } catch (FrameException error) {
        continue;
      }
    }
    assertTrue(decoded > 1000, decoded + " frames");
  }

  /** Frames of the greatest length, in pieces of any size. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void theBufferIsBounded(long seed) throws Exception {
    Random random = new Random(seed);
    byte[] largest = new FrameWriter(Wire.PUSH).u64(1).u8(0).bytes(new byte[Wire.MAX_FRAME - 10]).frame();
    assertEquals(Wire.MAX_FRAME_WITH_LENGTH, largest.length);
    FrameBuffer buffer = new FrameBuffer();
    int frames = 0;
    for (int round = 0; round < 50; round++) {
      for (int at = 0; at < largest.length;) {
        int count = Math.min(largest.length - at, 1 + random.nextInt(16 * 1024));
        buffer.append(largest, at, count);
        at += count;
        while (buffer.next()) frames++;
        assertTrue(buffer.capacity() <= 256 * 1024, buffer.capacity() + " bytes");
      }
    }
    assertEquals(50, frames);
  }

  /** Whatever a server sends, and whenever: at most one connection, and a next step unless it is over. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void sessions(long seed) {
    Random random = new Random(seed);
    for (int run = 0; run < 40; run++) {
      ScenarioDevice device = new ScenarioDevice();
      if (random.nextBoolean()) device.register("alias=anna tags=x");
      device.app("start");
      boolean isConnected = false;
      for (int step = 0; step < 150; step++) {
        step(device, random);
        List<String> done = new ArrayList<>(device.take());
        for (String action : done) {
          if (action.startsWith("connect ")) {
            assertTrue(!isConnected, "two connections");
            isConnected = true;
          }
          if (action.equals("close")) {
            assertTrue(isConnected, "nothing to close");
            isConnected = false;
          }
          if (action.startsWith("disconnected")) isConnected = false;
          if (action.endsWith("retry=never")) {
            device.app("start");
            assertTrue(device.take().toString().startsWith("[connect "));
            isConnected = true;
          }
        }
        assertTrue(device.hasDeadline());
      }
    }
  }

  private static void step(ScenarioDevice device, Random random) {
    String[] verbs =
    {"set-alias a", "get-alias", "get-tags", "clean-tags", "set-channel-token fcm t", "shown 1",
      "handled " + random.nextInt(4), "network-changed", "foreground", "logout"};
    switch (random.nextInt(9)) {
      case 0:
      case 1:
        device.connected();
        break;
      case 2:
        device.lost();
        break;
      case 3:
        device.pass(random.nextInt(100_000));
        break;
      case 4:
        device.app(verbs[random.nextInt(random.nextInt(20) == 0 ? verbs.length : verbs.length - 1)]);
        break;
      case 5:
        device.setDiskFull(random.nextInt(4) == 0);
        device.setReadingPaused(random.nextBoolean());
        if (random.nextInt(4) == 0) device.sleep(random.nextInt(1_000_000));
        break;
      default:
        device.receive(frame(random));
    }
  }

  /** A content of any bytes is a push without parts, or one with parts. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void contents(long seed) {
    Random random = new Random(seed);
    byte[] content =
        Wire.utf8("{\"notification\":{\"alert\":\"a\",\"extras\":{\"b\":[1,2.5e3,null,true]}},\"message\":"
        + "{\"encrypted\":{\"alg\":\"aes128gcm\",\"key\":\"0123456789abcdef\","
        + "\"data\":\"AAAA\",\"ttl\":5}}}");
    KeyRing ring = new KeyRing(new ArrayList<>());
    for (int round = 0; round < 5000; round++) {
      byte[] damaged = content.clone();
      for (int change = random.nextInt(4); change >= 0; change--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      if (random.nextInt(4) == 0) damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
      Push push = new Push(1, false, false, damaged, null);
      if (push.notification() != null) push.notification().extras();
      if (push.message() != null) push.message().content();
      push.replaces();
      ring.read(damaged);
    }
  }
}
