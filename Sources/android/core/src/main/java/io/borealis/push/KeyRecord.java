package io.borealis.push;

import java.util.Collections;
import java.util.List;

/** A change of a key ring that is stored. */
final class KeyRecord {
  /** {@link StateRecord#OWN_KEY}, a key pair of the device; SHARED_KEY, KNOWN_KEY or DROPPED_KEYS. */
  final int type;
  /** OWN_KEY: the kind of key. */
  final int kind;
  /** OWN_KEY: the key pair. SHARED_KEY: the key. */
  final byte[] bytes;
  /** OWN_KEY: since when it is used, in Unix seconds. */
  final long since;
  /** SHARED_KEY: its ID. DROPPED: their IDs. */
  final List<Long> ids;
  /** KNOWN_KEY. */
  final String text;

  private KeyRecord(int type, int kind, byte[] bytes, long since, List<Long> ids, String text) {
    this.type = type;
    this.kind = kind;
    this.bytes = bytes;
    this.since = since;
    this.ids = ids;
    this.text = text;
  }

  static KeyRecord own(int kind, byte[] bytes, long since) {
    return new KeyRecord(StateRecord.OWN_KEY, kind, bytes, since, Collections.<Long>emptyList(), "");
  }

  static KeyRecord shared(long id, byte[] bytes) {
    return new KeyRecord(StateRecord.SHARED_KEY, 0, bytes, 0, Collections.singletonList(id), "");
  }

  static KeyRecord known(String text) {
    return new KeyRecord(StateRecord.KNOWN_KEY, 0, new byte[0], 0, Collections.<Long>emptyList(), text);
  }

  static KeyRecord dropped(List<Long> ids) {
    return new KeyRecord(StateRecord.DROPPED_KEYS, 0, new byte[0], 0, ids, "");
  }
}
