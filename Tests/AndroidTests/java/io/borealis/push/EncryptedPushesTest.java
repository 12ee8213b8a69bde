package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** End-to-end encryption without sockets. */
class EncryptedPushesTest {
  private static final long DAY = 86_400;

  private final List<String> done = new ArrayList<>();
  private final List<KeyRecord> stored = new ArrayList<>();
  private final Map<Operation, EncryptedPushes.Completion> submitted = new LinkedHashMap<>();
  private final Deliveries deliveries = new Deliveries(new RecentMessages(), Collections.<Long>emptyList());
  private boolean isDiskFull;
  private boolean isLoggedIn = true;
  private long now = 1_000_000;
  private long wall = 1_800_000_000;
  private EncryptedPushes keys;

  private final EncryptedPushes.Host host = new EncryptedPushes.Host() {
    @Override
    public long now() {
      return now;
    }

    @Override
    public long steady() {
      return now;
    }

    @Override
    public long wallSeconds() {
      return wall;
    }

    @Override
    public boolean isLoggedIn() {
      return isLoggedIn;
    }

    @Override
    public String registrationId() {
      return ServerFrames.REGISTRATION_ID;
    }

    @Override
    public void submitOwn(Operation operation, EncryptedPushes.Completion completion) {
      done.add(operation.type
      + (operation.type == OperationType.GET_KEY ? " " + Hex.of(operation.number()) : ""));
      submitted.put(operation, completion);
    }

    @Override
    public void pass(Push push) {
      done.add("push " + push.messageId() + " " + push.json() + " " + push.keyId());
    }

    @Override
    public void drop(long messageId) {
      done.add("drop " + messageId);
    }

    @Override
    public void unreadable(long messageId, long key, int code) {
      done.add("unreadable " + messageId + " " + code);
    }

    @Override
    public void keyMissing(long key, int code) {
      done.add("key missing " + code);
    }

    @Override
    public void leftToChannel(long messageId) {
      done.add("left to channel " + messageId);
    }

    @Override
    public boolean store(KeyRecord record) {
      if (!isDiskFull) stored.add(record);
      return !isDiskFull;
    }

    @Override
    public void dropStored(List<Long> ended) {
      stored.add(KeyRecord.dropped(ended));
      done.add("dropped " + ended.size());
    }
  };

  @BeforeEach
  void logIn() throws Exception {
    keys = new EncryptedPushes(host, DeviceKey.X25519, stored, deliveries);
    keys.loggedIn();
    assertEquals("[SET_KEY]", take());
    answer(0, "");
    assertEquals("[]", take());
  }

  private String take() {
    String taken = done.toString();
    done.clear();
    return taken;
  }

  /** Ends the oldest operation. */
  private void answer(int code, String payload) throws FrameException {
    Operation operation = submitted.keySet().iterator().next();
    submitted.remove(operation).ended(OperationResult.decode(1, operation.type, code, Hex.bytes(payload)));
  }

  private DeviceKey key() {
    return new KeyRing(stored).current();
  }

  private static Push push(long id, String part, long key, byte[] data, long ttl) {
    String content = "{\"" + part
    + "\":{\"alert\":\"neutral\",\"encrypted\":{\"alg\":\"aes128gcm\",\"key\":\"" + Hex.of(key)
        + "\",\"data\":\"" + Sealer.base64(data) + "\",\"ttl\":" + ttl + "}}}";
    return new Push(id, false, false, Wire.utf8(content), null);
  }

  private static Push forDevice(long id, DeviceKey key) throws Exception {
    return push(id, "notification", key.id(), Sealer.seal(Wire.utf8("{\"alert\":\"secret\"}"), key), 60);
  }

  private static final byte[] SHARED = Hex.bytes("01" + String.join("", Collections.nCopies(32, "5a")));
  private static final long SHARED_ID = 0x0123_4567_89AB_CDEFL;

  private static Push forAll(long id, long ttl) throws Exception {
    byte[] secret = Arrays.copyOfRange(SHARED, 1, 33);
    return push(id, "message", SHARED_ID, Sealer.seal(Wire.utf8("{\"msg_content\":\"s\"}"), secret,
        Hex.bytes(Hex.of(SHARED_ID))), ttl);
  }

  private String sharedFor(DeviceKey key) throws Exception {
    byte[] sealed = Sealer.seal(SHARED, key);
    return String.format("%02x", sealed.length) + Hex.of(sealed);
  }

  @Test
  void decryptsWhatIsForTheDevice() throws Exception {
    keys.read(forDevice(1, key()));
    assertEquals("[push 1 {\"notification\":{\"alert\":\"secret\"}} " + Hex.of(key().id()) + "]", take());
    keys.read(new Push(2, false, false, Wire.utf8("{\"message\":{\"msg_content\":\"plain\"}}"), null));
    assertEquals("[push 2 {\"message\":{\"msg_content\":\"plain\"}} null]", take());
  }

  @Test
  void whatCannotBeReadIsReportedAndDropped() throws Exception {
    byte[] sealed = Sealer.seal(Wire.utf8("{}"), key());
    sealed[sealed.length - 1] ^= 1;
    keys.read(push(1, "message", key().id(), sealed, 60));
    assertEquals("[unreadable 1 6042, drop 1]", take());
    keys.read(push(2, "message", key().id(), new byte[10], 60));
    assertEquals("[unreadable 2 6041, drop 2]", take());
    keys.read(push(3, "message", key().id(), Sealer.seal(Wire.utf8("not JSON"), key()), 60));
    assertEquals("[unreadable 3 6041, drop 3]", take());
    DeviceKey lost = DeviceKey.create(DeviceKey.X25519);
    keys.read(forDevice(4, lost));
    assertEquals("[unreadable 4 6040, drop 4]", take());
    keys.read(new Push(5, false, false, Wire.utf8("{\"message\":{\"encrypted\":{\"key\":\"zz\"}}}"), null));
    assertEquals("[unreadable 5 6041, drop 5]", take());
  }

  @Test
  void waitsForASharedKey() throws Exception {
    keys.read(forAll(1, 3600));
    assertEquals("[GET_KEY 0123456789abcdef]", take());
    keys.read(forAll(2, 3600));
    assertEquals("[]", take());
    assertEquals(2, keys.heldCount());
    answer(ResultCode.KEY_MISSING, "");
    assertEquals("[key missing 6040]", take());
    assertEquals(now + 5000, keys.nextDeadline());
    now += 5000;
    keys.tick();
    assertEquals("[GET_KEY 0123456789abcdef]", take());
    answer(ResultCode.BUSY, "");
    assertEquals("[]", take());
    assertEquals(now + 10_000, keys.nextDeadline());
    isLoggedIn = false;
    now += 10_000;
    keys.tick();
    assertEquals("[]", take());
    isLoggedIn = true;
    keys.loggedIn();
    assertEquals("[GET_KEY 0123456789abcdef]", take());
    answer(0, sharedFor(key()));
    String id = " 0123456789abcdef";
    String opened = " {\"message\":{\"msg_content\":\"s\"}}" + id;
    assertEquals("[push 1" + opened + ", push 2" + opened + "]", take());
    assertEquals(0, keys.heldCount());
    // It is there from now on, also for later runs.
    keys.read(forAll(3, 3600));
    assertEquals("[push 3" + opened + "]", take());
    keys = new EncryptedPushes(host, DeviceKey.X25519, stored, deliveries);
    keys.read(forAll(4, 3600));
    assertEquals("[push 4" + opened + "]", take());
  }

  @Test
  void aSharedKeyForAnotherDeviceIsReportedOnce() throws Exception {
    keys.read(forAll(1, 3600));
    take();
    answer(0, sharedFor(DeviceKey.create(DeviceKey.X25519)));
    assertEquals("[key missing 6042]", take());
    now += 5000;
    keys.tick();
    take();
    answer(0, sharedFor(DeviceKey.create(DeviceKey.X25519)));
    assertEquals("[]", take());
  }

  @Test
  void aPushWaitsForAsLongAsTheServerKeepsIt() throws Exception {
    // Accepted ten seconds ago, and kept for a minute.
    long accepted = (wall - 10) * 1000 - 1_704_067_200_000L;
    keys.read(forAll(accepted << 12, 60));
    take();
    now += 49_999;
    keys.tick();
    assertFalse(take().contains("unreadable"));
    now += 1;
    keys.tick();
    assertTrue(take().contains("unreadable " + (accepted << 12) + " 6040, drop"));
    assertEquals(0, keys.heldCount());
  }

  @Test
  void aRecalledPushWaitsNoLonger() throws Exception {
    keys.read(forAll(1, 3600));
    take();
    keys.recalled(1);
    assertEquals("[drop 1]", take());
    keys.recalled(2);
    assertEquals("[]", take());
  }

  @Test
  void theLifeOfAPush() {
    long id = (wall * 1000 - 1_704_067_200_000L) << 12;
    assertEquals(60_000, EncryptedPushes.life(id, 60, wall));
    assertEquals(20_000, EncryptedPushes.life(id, 60, wall + 40));
    // Clocks by which the push could not be here.
    assertEquals(60_000, EncryptedPushes.life(id, 60, wall + 100));
    assertEquals(60_000, EncryptedPushes.life(id, 60, wall - 100));
    assertEquals(0, EncryptedPushes.life(id, 0, wall));
  }

  @Test
  void aKeyThatWasNotAcceptedIsSentAgain() throws Exception {
    keys = new EncryptedPushes(host, DeviceKey.P256, stored, deliveries);
    keys.loggedIn();
    for (int tries = 0; tries < KeyRetries.MOST_TRIES; tries++) {
      assertEquals("[SET_KEY]", take());
      answer(ResultCode.BUSY, "");
      assertEquals(now + (5000L << tries), keys.nextDeadline());
      now = keys.nextDeadline();
      keys.tick();
    }
    assertEquals("[SET_KEY]", take());
    answer(ResultCode.BUSY, "");
    assertEquals(Long.MAX_VALUE, keys.nextDeadline());
    keys.loggedIn();
    assertEquals("[SET_KEY]", take());
  }

  @Test
  void aKeyThatCannotBeStoredIsNotUsed() throws Exception {
    stored.clear();
    isDiskFull = true;
    keys = new EncryptedPushes(host, DeviceKey.X25519, stored, deliveries);
    keys.loggedIn();
    assertEquals("[]", take());
    isDiskFull = false;
    now = keys.nextDeadline();
    keys.tick();
    assertEquals("[SET_KEY]", take());
  }

  @Test
  void rotationKeepsTheOldKeyForElevenDays() throws Exception {
    DeviceKey first = key();
    rotate(ResultCode.OK);
    DeviceKey second = key();
    assertTrue(first.id() != second.id());
    wall += 11 * DAY - 1;
    keys.tick();
    keys.read(forDevice(1, first));
    keys.read(forDevice(2, second));
    assertTrue(take().startsWith("[push 1 {\"notification\":{\"alert\":\"secret\"}}"));
    wall += 1;
    keys.tick();
    assertEquals("[dropped 1]", take());
    keys.read(forDevice(3, first));
    assertEquals("[unreadable 3 6040, drop 3]", take());
  }

  private void rotate(int code) throws FrameException {
    keys.rotateKey(result -> assertEquals(code, result.code()));
    assertEquals("[SET_KEY]", take());
    answer(code, "");
  }

  @Test
  void aRefusedRotationChangesNothing() throws Exception {
    DeviceKey first = key();
    rotate(ResultCode.SERVER_ERROR);
    assertEquals("[dropped 1]", take());
    assertEquals(first.id(), key().id());
    assertEquals(Long.MAX_VALUE, keys.nextDeadline());
    // Without a response the server may have the new one.
    rotate(ResultCode.TIMEOUT);
    assertEquals("[]", take());
    assertTrue(first.id() != key().id());
    assertEquals(now + 5000, keys.nextDeadline());
  }

  @Test
  void thereAreAtMostSixteenOldKeys() throws Exception {
    for (int count = 0; count < KeyRing.MOST_OLD_KEYS; count++) rotate(ResultCode.OK);
    keys.rotateKey(result -> assertEquals(ResultCode.TOO_FREQUENT, result.code()));
    assertEquals("[]", take());
  }
}
