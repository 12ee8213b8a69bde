package io.borealis.push;

import java.security.GeneralSecurityException;
import java.util.Collections;
import java.util.List;

/**
 * End-to-end encryption between the state machine and the app: sends the device's key, decrypts pushes,
 * requests shared keys. It has no sockets, clocks or storage of its own.
 */
final class EncryptedPushes {
  /** 2024-01-01T00:00:00Z in Unix milliseconds: where the time in a message ID starts counting. */
  private static final long MESSAGE_EPOCH = 1_704_067_200_000L;

  /** Gets the result of an operation. */
  interface Completion {
    void ended(OperationResult result);
  }

  /** What the encryption needs of the device. */
  interface Host {
    /** Milliseconds of the session's clock. */
    long now();

    /** Milliseconds of the steady clock. */
    long steady();

    /** Unix seconds. */
    long wallSeconds();

    boolean isLoggedIn();

    /** The registration ID; null without a registration. */
    String registrationId();

    /** Submits an operation of which the app does not hear. */
    void submitOwn(Operation operation, Completion completion);

    /** Passes a push to the app. */
    void pass(Push push);

    /** Records that a push is handled without the app, and acknowledges it. */
    void drop(long messageId);

    void unreadable(long messageId, long key, int code);

    void keyMissing(long key, int code);

    void leftToChannel(long messageId);

    /** Stores a key durably; false if that failed. */
    boolean store(KeyRecord record);

    /**
     * Takes keys out of the file, with their bytes. If that fails they may still be there, and are not used.
     */
    void dropStored(List<Long> keys);
  }

  private final Host host;
  private final int kind;
  private final KeyRing ring;
  private final Deliveries deliveries;
  private final HeldPushes held = new HeldPushes();
  private KeyRetries retries = new KeyRetries();

  EncryptedPushes(Host host, int kind, List<KeyRecord> stored, Deliveries deliveries) {
    this.host = host;
    this.kind = kind;
    this.ring = new KeyRing(stored);
    this.deliveries = deliveries;
  }

  /** How many pushes wait for a key. */
  int heldCount() {
    return held.count();
  }

  /**
   * Decrypts a push before the app gets it. One whose key may still arrive waits; one that cannot be
   * decrypted at all is reported, and acknowledged, since decryption would not succeed later either.
   */
  void read(Push push) {
    KeyRing.Reading reading = ring.read(push.content());
    if (reading.key == null) {
      host.pass(push);
    } else if (reading.opened != null) {
      host.pass(push.opened(reading.opened, Hex.of(reading.key)));
    } else if (reading.life >= 0) {
      long life = life(push.messageId(), reading.life, host.wallSeconds());
      if (held.hold(push, reading.key, host.now(), life)) request(reading.key);
    } else {
      host.unreadable(push.messageId(), reading.key, reading.code);
      host.drop(push.messageId());
    }
  }

  /**
   * Milliseconds for which the server still keeps a push. Its ID says when it was accepted; a clock by which
   * it could not arrive any more is wrong, and is ignored.
   */
  static long life(long messageId, long seconds, long now) {
    long age = now - ((messageId >>> 12) + MESSAGE_EPOCH) / 1000;
    return 1000 * (age >= 0 && age < seconds ? seconds - age : seconds);
  }

  /** When to call {@link #tick} at the latest. */
  long nextDeadline() {
    long next = Math.min(held.end(), nextLate());
    return host.isLoggedIn() ? Math.min(next, Math.min(held.deadline(), retries.again())) : next;
  }

  /** Does what the time has come for. */
  void tick() {
    leaveLate();
    for (HeldPushes.Held ended : held.takeEnded(host.now())) {
      host.unreadable(ended.push.messageId(), ended.key, ResultCode.KEY_MISSING);
      host.drop(ended.push.messageId());
    }
    dropOldKeys();
    if (!host.isLoggedIn()) return;
    if (retries.isDue(host.now())) sendKey();
    for (long key : held.takeDue(host.now(), false)) request(key);
  }

  /** Leaves pushes whose key did not arrive in time to the channels that bring their notifications. */
  void leaveLate() {
    for (long id : held.ids()) {
      if (!deliveries.leaveToChannel(id, host.steady())) continue;
      held.remove(id);
      host.leftToChannel(id);
    }
  }

  private long nextLate() {
    long next = Long.MAX_VALUE;
    for (long id : held.ids()) {
      long time = deliveries.timeToShow(id, host.steady());
      if (time != Long.MAX_VALUE) next = Math.min(next, host.now() + Math.min(time, 1L << 40));
    }
    return next;
  }

  /** Forgets old keys that no push needs any more. */
  private void dropOldKeys() {
    List<Long> ended = ring.dropOld(host.wallSeconds());
    if (!ended.isEmpty()) host.dropStored(ended);
  }

  void loggedIn() {
    dropOldKeys();
    retries = new KeyRetries();
    sendKey();
    for (long key : held.takeDue(host.now(), true)) request(key);
  }

  void recalled(long messageId) {
    if (held.remove(messageId)) host.drop(messageId);
  }

  // The device's key

  /** Sends the key to the server, unless it has it. The first one is made now. */
  private void sendKey() {
    String id = host.registrationId();
    if (id == null) return;
    DeviceKey key = ring.current();
    if ((key == null || key.kind != kind) && rotate() != ResultCode.OK) {
      retries.failed(host.now());
      return;
    }
    if (ring.isUnknownTo(id)) sendKey(id, result -> {});
  }

  private void sendKey(String registrationId, Completion completion) {
    DeviceKey key = ring.current();
    retries.begun();
    host.submitOwn(Operation.setKey(key.kind, key.publicBytes()), result -> {
      if (!result.isOk()) {
        retries.failed(host.now());
      } else if (ring.current().id() == key.id()) {
        // If a record fails, the server is told once more.
        for (KeyRecord record : ring.noteKnown(registrationId, host.wallSeconds())) host.store(record);
      }
      completion.ended(result);
    });
  }

  /** Makes a key and stores it; the code says whether that succeeded. */
  private int rotate() {
    long now = host.wallSeconds();
    dropOldKeys();
    DeviceKey key;
    try {
      key = DeviceKey.create(kind);
    } catch (GeneralSecurityException error) {
      return ResultCode.REQUEST_INVALID;
    }
    KeyRecord record = ring.newKey(key, now);
    if (record == null) return ResultCode.TOO_FREQUENT;
    if (!host.store(record)) return ResultCode.FAILED;
    ring.add(key, now);
    return ResultCode.OK;
  }

  /** The server has refused a key that the app had asked for: the one before stays the device's key. */
  private void discard(long key, String registrationId) {
    if (!ring.discard(key)) return;
    host.dropStored(Collections.singletonList(key));
    // Unless the server knows that one already.
    if (!ring.isUnknownTo(registrationId)) retries = new KeyRetries();
  }

  /** Makes a new key at the app's request. */
  void rotateKey(Completion completion) {
    int code = rotate();
    String id = host.registrationId();
    // The next login sends it.
    if (code != ResultCode.OK || !host.isLoggedIn() || id == null) {
      completion.ended(OperationResult.of(0, OperationType.SET_KEY, code));
      return;
    }
    long key = ring.current().id();
    sendKey(id, result -> {
      // Without a response the server may have it: then it stays, and is sent again.
      boolean isUnanswered = result.code() == ResultCode.TIMEOUT || result.code() == ResultCode.STOPPED;
      boolean isKept = result.isOk() || isUnanswered;
      if (!isKept) discard(key, id);
      completion.ended(result);
    });
  }

  // Shared keys

  private void request(long key) {
    host.submitOwn(Operation.of(OperationType.GET_KEY, key), result -> take(key, result));
  }

  private void take(long key, OperationResult result) {
    KeyRecord record = result.key() == null ? null : ring.take(key, result.key());
    if (record != null) {
      // If it cannot be stored, the next run requests it again.
      host.store(record);
      leaveLate();
      for (HeldPushes.Held one : held.release(key)) read(one.push);
      return;
    }
    boolean isForOther = result.isOk();
    if (held.notFound(key, host.now(), isForOther || result.code() == ResultCode.KEY_MISSING)) {
      host.keyMissing(key, isForOther ? ResultCode.CONTENT_DAMAGED : ResultCode.KEY_MISSING);
    }
  }
}
