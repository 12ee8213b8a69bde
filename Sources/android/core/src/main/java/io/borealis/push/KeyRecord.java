package io.borealis.push;

import java.util.Collections;
import java.util.List;

/** A change of a key ring that is stored. */
final class KeyRecord {
  enum Type {
    /** A key pair of the device. */
    OWN,
    /** A key that the app server shares with the device. */
    SHARED,
    /** The registration and the key that the server knows. */
    KNOWN,
    /** Key pairs that are gone. */
    DROPPED
  }

  final Type type;
  /** OWN: the kind of key. */
  final int kind;
  /** OWN: the key pair. SHARED: the key. */
  final byte[] bytes;
  /** OWN: since when it is used, in Unix seconds. */
  final long since;
  /** SHARED: its ID. DROPPED: their IDs. */
  final List<Long> ids;
  /** KNOWN. */
  final String text;

  private KeyRecord(Type type, int kind, byte[] bytes, long since, List<Long> ids, String text) {
    this.type = type;
    this.kind = kind;
    this.bytes = bytes;
    this.since = since;
    this.ids = ids;
    this.text = text;
  }

  static KeyRecord own(int kind, byte[] bytes, long since) {
    return new KeyRecord(Type.OWN, kind, bytes, since, Collections.<Long>emptyList(), "");
  }

  static KeyRecord shared(long id, byte[] bytes) {
    return new KeyRecord(Type.SHARED, 0, bytes, 0, Collections.singletonList(id), "");
  }

  static KeyRecord known(String text) {
    return new KeyRecord(Type.KNOWN, 0, new byte[0], 0, Collections.<Long>emptyList(), text);
  }

  static KeyRecord dropped(List<Long> ids) {
    return new KeyRecord(Type.DROPPED, 0, new byte[0], 0, ids, "");
  }
}
