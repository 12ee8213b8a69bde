package io.borealis.push;

import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The keys of one device for end-to-end encryption: Docs/encryption.md. It has no clock and no storage. Times
 * are Unix seconds.
 */
final class KeyRing {
  /** How long an old key still decrypts pushes: no push is kept for longer than ten days. */
  static final long OLD_KEY_LIFE = 11 * 86_400;
  /** The most old keys; another rotation is refused until one of them has expired. */
  static final int MOST_OLD_KEYS = 16;
  /** The most shared keys, of which the newest are kept; the server keeps as many. */
  static final int MOST_SHARED = 32;
  /** How long a push is kept that does not say it: JPush's default. */
  static final long UNKNOWN_LIFE = 86_400;
  /** How long any push is kept at most. */
  static final long LONGEST_LIFE = 10 * 86_400;

  /** A key pair, and since when the server has it, or a later one; until then, when it was made. */
  static final class Own {
    final DeviceKey key;
    final long since;

    Own(DeviceKey key, long since) {
      this.key = key;
      this.since = since;
    }
  }

  /** Oldest first; the last is sent to the server. */
  private final List<Own> own = new ArrayList<>();
  /** By ID, oldest first: the coding, which is 1, then the secret. */
  private final List<KeyRecord> shared = new ArrayList<>();
  /** The registration and the key that the server knows, as one text. */
  private String known = "";

  /** Makes the ring from stored keys. Keys that cannot be read are ignored. */
  KeyRing(List<KeyRecord> records) {
    for (KeyRecord record : records) apply(record);
  }

  private void apply(KeyRecord record) {
    switch (record.type) {
      case StateRecord.OWN_KEY:
        try {
          Own read = new Own(DeviceKey.read(record.kind, record.bytes), record.since);
          // Stored again when the server has it.
          int index = indexOf(read.key.id());
          if (index >= 0) own.set(index, read);
          else own.add(read);
        } catch (GeneralSecurityException error) {
          break;
        }
        break;
      case StateRecord.SHARED_KEY:
        if (isContentKey(record.bytes)) add(record);
        break;
      case StateRecord.KNOWN_KEY:
        known = record.text;
        break;
      default:
        for (long id : record.ids) {
          int index = indexOf(id);
          if (index >= 0) own.remove(index);
        }
        break;
    }
  }

  /** Records that add up to the same. */
  List<KeyRecord> records() {
    List<KeyRecord> records = new ArrayList<>();
    for (Own one : own) records.add(KeyRecord.own(one.key.kind, one.key.bytes(), one.since));
    records.addAll(shared);
    if (!known.isEmpty()) records.add(KeyRecord.known(known));
    return records;
  }

  private int indexOf(long id) {
    for (int index = 0; index < own.size(); index++) if (own.get(index).key.id() == id) return index;
    return -1;
  }

  /** The place of the key that the server knows; -1 if it knows none. */
  private int knownIndex() {
    for (int index = own.size() - 1; index >= 0; index--) {
      if (known.endsWith(" " + Hex.of(own.get(index).key.id()))) return index;
    }
    return -1;
  }

  /** The key that is sent to the server; null if there is none. */
  DeviceKey current() {
    return own.isEmpty() ? null : own.get(own.size() - 1).key;
  }

  /**
   * The record of a new key that {@link #add(DeviceKey, long)} may add; null if there are too many old ones.
   */
  KeyRecord newKey(DeviceKey key, long now) {
    return own.size() > MOST_OLD_KEYS ? null : KeyRecord.own(key.kind, key.bytes(), now);
  }

  /** Adds a key that replaces the last one. */
  void add(DeviceKey key, long now) {
    own.add(new Own(key, now));
  }

  /**
   * An old key ends some time after the server knew a later one: no push that is kept needs it then. The key
   * that the server knows never ends, since app servers still encrypt for it. Returns the IDs of those that
   * end now.
   */
  List<Long> dropOld(long now) {
    List<Long> ended = new ArrayList<>();
    while (knownIndex() > 0 && own.get(1).since + OLD_KEY_LIFE <= now) ended.add(own.remove(0).key.id());
    return ended;
  }

  /** Takes a key away that the server has refused, unless it is the only one. Returns whether it is gone. */
  boolean discard(long id) {
    int index = indexOf(id);
    if (own.size() < 2 || index < 0) return false;
    own.remove(index);
    return true;
  }

  /**
   * Records that the server has the last key for a registration: those before it are old now. Returns what to
   * store.
   */
  List<KeyRecord> noteKnown(String registrationId, long now) {
    List<KeyRecord> records = new ArrayList<>();
    for (int index = knownIndex() + 1; index < own.size(); index++) {
      Own changed = new Own(own.get(index).key, now);
      own.set(index, changed);
      records.add(KeyRecord.own(changed.key.kind, changed.key.bytes(), now));
    }
    known = mark(registrationId);
    records.add(KeyRecord.known(known));
    return records;
  }

  /** Whether the last key must be sent to the server. */
  boolean isUnknownTo(String registrationId) {
    return !known.equals(mark(registrationId));
  }

  private String mark(String registrationId) {
    return registrationId + " " + (own.isEmpty() ? "" : Hex.of(current().id()));
  }

  /**
   * Adds a shared key from the server, encrypted for one of the device's keys. Null if it is for none of
   * them.
   */
  KeyRecord take(long id, byte[] sealed) {
    for (int index = own.size() - 1; index >= 0; index--) {
      try {
        byte[] bytes = own.get(index).key.open(sealed);
        if (!isContentKey(bytes)) continue;
        KeyRecord record = KeyRecord.shared(id, bytes);
        add(record);
        return record;
      } catch (ContentException error) {
        continue;
      }
    }
    return null;
  }

  /** Whether bytes are a key of the coding aes128gcm; the other coding, with SM4, is not supported. */
  private static boolean isContentKey(byte[] bytes) {
    return bytes.length == 33 && bytes[0] == 1;
  }

  private void add(KeyRecord key) {
    Iterator<KeyRecord> all = shared.iterator();
    while (all.hasNext()) if (all.next().ids.equals(key.ids)) all.remove();
    shared.add(key);
    if (shared.size() > MOST_SHARED) shared.remove(0);
  }

  /** What a push comes to. */
  static final class Reading {
    /**
     * The content with its encrypted parts decrypted; null if nothing was encrypted, or if it cannot be read.
     */
    final byte[] opened;
    /** The key that the content names; null if nothing was encrypted. */
    final Long key;
    /** 0, or why the content cannot be read. */
    final int code;
    /** The key is shared and may still arrive: seconds for which the server keeps the push; otherwise -1. */
    final long life;

    Reading(byte[] opened, Long key, int code, long life) {
      this.opened = opened;
      this.key = key;
      this.code = code;
      this.life = life;
    }

    static final Reading PLAIN = new Reading(null, null, ResultCode.OK, -1);
  }

  /** Decrypts the encrypted parts of a push: all of them, or none. */
  Reading read(byte[] content) {
    Json.Document document = Push.document(content);
    if (document == null) return Reading.PLAIN;
    Map<String, String> opened = new HashMap<>();
    Long last = null;
    for (String part : new String[] {"notification", "message"}) {
      Map<String, Object> object = Json.object(document.object.get(part));
      if (object == null || !object.containsKey("encrypted")) continue;
      Map<String, Object> encrypted = Json.object(object.get("encrypted"));
      String name = encrypted == null ? null : Json.string(encrypted.get("key"));
      Long id = name == null ? null : Hex.number(name);
      if (id == null) return new Reading(null, 0L, ResultCode.CONTENT_MALFORMED, -1);
      byte[] data = Base64.decode(Json.string(encrypted.get("data")));
      boolean isShared = false;
      try {
        if (data == null) throw ContentException.malformed();
        ContentCoding coding = new ContentCoding(data);
        isShared = Arrays.equals(coding.keyName(), idBytes(id));
        opened.put(part, object(open(coding, data, id, isShared)));
      } catch (ContentException error) {
        // A shared key may still arrive; a lost key pair of this device does not.
        boolean mayArrive = error.code == ResultCode.KEY_MISSING && isShared;
        return new Reading(null, id, error.code, mayArrive ? life(encrypted.get("ttl")) : -1);
      }
      last = id;
    }
    if (last == null) return Reading.PLAIN;
    return new Reading(Wire.utf8(document.with(opened)), last, ResultCode.OK, -1);
  }

  /** The plaintext of a part, which has to be a JSON object. */
  private static String object(byte[] plain) throws ContentException {
    if (Push.document(plain) == null) throw ContentException.malformed();
    return new String(plain, Wire.UTF_8);
  }

  private static long life(Object seconds) {
    return seconds instanceof Long ? Math.min(Math.max(0, (Long) seconds), LONGEST_LIFE) : UNKNOWN_LIFE;
  }

  private byte[] open(ContentCoding coding, byte[] data, long id, boolean isShared) throws ContentException {
    if (isShared) {
      for (KeyRecord key : shared) {
        if (key.ids.get(0) == id) return coding.open(Arrays.copyOfRange(key.bytes, 1, key.bytes.length));
      }
    } else if (indexOf(id) >= 0) {
      return own.get(indexOf(id)).key.open(data);
    }
    throw new ContentException(ResultCode.KEY_MISSING);
  }

  private static byte[] idBytes(long id) {
    return Hex.bytes(Hex.of(id));
  }
}
