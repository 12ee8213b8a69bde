package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/** What a state file holds: the sum of its records. */
final class StoredState {
  /**
   * How many pushes in hand are remembered, the newest ones: more than a server sends without
   * acknowledgements.
   */
  static final int MOST_IN_HAND = 2048;
  /** Records of keys that are kept before they are summed up. */
  private static final int MOST_KEYS = 256;

  /** Empty until one was made. */
  byte[] fingerprint = new byte[0];
  /** The app that the registration belongs to; null without a registration. */
  byte[] appKey;
  /** Null without a registration. */
  Identity identity;
  Wishes wishes = Wishes.NONE;
  /** Pushes that were passed to the app and not reported as handled. */
  final TreeSet<Long> inHand = new TreeSet<>();
  final RecentMessages handled = new RecentMessages();
  /** Keys for end-to-end encryption, oldest first. */
  List<KeyRecord> keys = new ArrayList<>();
  /** Records, as they are in the file, that only other versions or devices know. */
  private final ByteArrayOutputStream others = new ByteArrayOutputStream();

  /** Sums up the records of a file. */
  static StoredState of(byte[] bytes) {
    StoredState state = new StoredState();
    int at = 0;
    while (at < bytes.length) {
      StateRecord.Found found = StateRecord.find(bytes, at);
      if (found == null) {
        // Damaged: the next record is searched for byte by byte.
        at++;
        continue;
      }
      boolean isKnown = false;
      try {
        isKnown = found.device == 0 && state.apply(found.record);
      } catch (FrameException error) {
        isKnown = false;
      }
      if (!isKnown) state.others.write(bytes, found.start, found.end - found.start);
      at = found.end;
    }
    return state;
  }

  /** Where the last undamaged record of a file ends. */
  static int end(byte[] bytes) {
    int at = 0;
    int end = 0;
    while (at < bytes.length) {
      StateRecord.Found found = StateRecord.find(bytes, at);
      at = found == null ? at + 1 : found.end;
      if (found != null) end = at;
    }
    return end;
  }

  /** False for a record that this version does not know. */
  private boolean apply(StateRecord record) throws FrameException {
    switch (record.kind) {
      case StateRecord.FINGERPRINT:
        if (record.payload.length < 1 || record.payload.length > Wire.MAX_FINGERPRINT) return false;
        fingerprint = record.payload;
        return true;
      case StateRecord.IDENTITY:
        identity = record.identity();
        appKey = record.appKey();
        return true;
      case StateRecord.NO_IDENTITY:
        identity = null;
        return true;
      case StateRecord.WISHES:
        wishes = record.wishes();
        return true;
      case StateRecord.IN_HAND:
        inHand.addAll(record.ids());
        // Message IDs grow with time; older pushes were recalled or have expired.
        while (inHand.size() > MOST_IN_HAND) inHand.pollFirst();
        return true;
      case StateRecord.HANDLED:
        List<Long> ids = record.ids();
        inHand.removeAll(ids);
        for (long id : ids) handled.insert(id);
        return true;
      case StateRecord.OWN_KEY:
      case StateRecord.SHARED_KEY:
      case StateRecord.KNOWN_KEY:
      case StateRecord.DROPPED_KEYS:
        keys.add(record.key());
        // Most are gone when there are many: the ring knows which.
        if (keys.size() > MOST_KEYS) keys = new ArrayList<>(new KeyRing(keys).records());
        return true;
      default:
        return false;
    }
  }

  /** Records that add up to the same, as bytes. */
  byte[] compact() {
    List<StateRecord> records = new ArrayList<>();
    if (fingerprint.length > 0) records.add(StateRecord.fingerprint(fingerprint));
    if (identity != null) records.add(StateRecord.identity(appKey, identity));
    if (!wishes.equals(Wishes.NONE)) records.add(StateRecord.wishes(wishes));
    List<Long> known = handled.oldestFirst();
    if (!known.isEmpty()) records.add(StateRecord.ids(StateRecord.HANDLED, known));
    List<KeyRecord> used = keys.isEmpty() ? Collections.<KeyRecord>emptyList() : new KeyRing(keys).records();
    for (KeyRecord key : used) records.add(StateRecord.key(key));
    if (!inHand.isEmpty()) records.add(StateRecord.ids(StateRecord.IN_HAND, inHand));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (StateRecord record : records) {
      byte[] encoded = record.encode(0);
      bytes.write(encoded, 0, encoded.length);
    }
    byte[] kept = others.toByteArray();
    bytes.write(kept, 0, kept.length);
    return bytes.toByteArray();
  }
}
