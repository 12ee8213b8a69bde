package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.zip.CRC32;

/**
 * One record of a state file, in the format of all device libraries:
 *
 * <pre>device u32, kind u8, count of payload bytes u32, payload, CRC-32 of all before u32</pre>
 *
 * <p>Numbers are big-endian. A record that is incomplete or damaged fails its checksum.
 */
final class StateRecord {
  static final int FINGERPRINT = 1;
  static final int IDENTITY = 2;
  static final int NO_IDENTITY = 3;
  static final int WISHES = 4;
  static final int IN_HAND = 5;
  static final int HANDLED = 6;
  static final int OWN_KEY = 8;
  static final int SHARED_KEY = 9;
  static final int KNOWN_KEY = 10;
  static final int DROPPED_KEYS = 11;

  private static final int HEAD = 9;
  private static final int CHECK = 4;
  private static final int APP_KEY = 12;

  final int kind;
  final byte[] payload;

  private StateRecord(int kind, byte[] payload) {
    this.kind = kind;
    this.payload = payload;
  }

  // Making

  static StateRecord fingerprint(byte[] bytes) {
    return new StateRecord(FINGERPRINT, bytes);
  }

  static StateRecord identity(byte[] appKey, Identity identity) {
    // The registration ID in eight bytes and two, of which the last has 12 bits.
    byte[] id = identity.registrationIdBytes();
    int low = ((id[8] & 0xFF) << 8 | id[9] & 0xFF) >>> 4;
    byte[] shifted = DeviceKey.concat(Arrays.copyOf(id, 8), new byte[] {(byte) (low >>> 8), (byte) low});
    return new StateRecord(IDENTITY, DeviceKey.concat(DeviceKey.concat(appKey, shifted), identity.secret));
  }

  static StateRecord noIdentity() {
    return new StateRecord(NO_IDENTITY, new byte[0]);
  }

  static StateRecord wishes(Wishes wishes) {
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    payload.write(wishes.knownToServer ? 1 : 0);
    payload.write(wishes.alias == null ? 0 : 1);
    text(wishes.alias == null ? "" : wishes.alias, payload);
    for (String tag : wishes.tags) text(tag, payload);
    return new StateRecord(WISHES, payload.toByteArray());
  }

  private static void text(String text, ByteArrayOutputStream payload) {
    byte[] bytes = Wire.utf8(Wire.clipped(text, Wire.MAX_COUNTED));
    payload.write(bytes.length);
    payload.write(bytes, 0, bytes.length);
  }

  static StateRecord ids(int kind, Collection<Long> ids) {
    byte[] payload = new byte[8 * ids.size()];
    int at = 0;
    for (long id : ids) {
      for (int shift = 56; shift >= 0; shift -= 8) payload[at++] = (byte) (id >>> shift);
    }
    return new StateRecord(kind, payload);
  }

  static StateRecord key(KeyRecord key) {
    switch (key.type) {
      case OWN_KEY:
        byte[] since = ids(OWN_KEY, Arrays.asList(key.since)).payload;
        byte[] kind = {(byte) key.kind};
        return new StateRecord(OWN_KEY, DeviceKey.concat(DeviceKey.concat(kind, since), key.bytes));
      case SHARED_KEY:
        return new StateRecord(SHARED_KEY, DeviceKey.concat(ids(SHARED_KEY, key.ids).payload, key.bytes));
      case KNOWN_KEY:
        return new StateRecord(KNOWN_KEY, Wire.utf8(key.text));
      default:
        return ids(DROPPED_KEYS, key.ids);
    }
  }

  /** The bytes of the record for a device. */
  byte[] encode(long device) {
    byte[] bytes = new byte[HEAD + payload.length + CHECK];
    put(bytes, 0, device);
    bytes[4] = (byte) kind;
    put(bytes, 5, payload.length);
    System.arraycopy(payload, 0, bytes, HEAD, payload.length);
    put(bytes, HEAD + payload.length, checksum(bytes, 0, HEAD + payload.length));
    return bytes;
  }

  private static void put(byte[] bytes, int at, long value) {
    for (int index = 0; index < 4; index++) bytes[at + index] = (byte) (value >>> 24 - 8 * index);
  }

  private static long checksum(byte[] bytes, int start, int end) {
    CRC32 checksum = new CRC32();
    checksum.update(bytes, start, end - start);
    return checksum.getValue();
  }

  // Reading

  /** A record of a file, for a device. */
  static final class Found {
    final long device;
    final StateRecord record;
    final int start;
    final int end;

    Found(long device, StateRecord record, int start, int end) {
      this.device = device;
      this.record = record;
      this.start = start;
      this.end = end;
    }
  }

  /** The record that starts at an index; null if no complete and undamaged one does. */
  static Found find(byte[] bytes, int start) {
    try {
      BodyReader reader = new BodyReader(bytes, start, bytes.length);
      long device = reader.u32();
      int kind = reader.u8();
      long count = reader.u32();
      if (count > reader.remaining() - CHECK) return null;
      byte[] payload = reader.bytes((int) count);
      int end = start + HEAD + payload.length;
      if (reader.u32() != checksum(bytes, start, end)) return null;
      return new Found(device, new StateRecord(kind, payload), start, end + CHECK);
    } catch (FrameException error) {
      return null;
    }
  }

  private BodyReader reader() {
    return new BodyReader(payload, 0, payload.length);
  }

  /** The app that a registration belongs to. */
  byte[] appKey() throws FrameException {
    return reader().bytes(APP_KEY);
  }

  Identity identity() throws FrameException {
    BodyReader reader = reader();
    reader.bytes(APP_KEY);
    byte[] id = reader.bytes(10);
    if ((id[8] & 0xF0) != 0) throw new FrameException("not a registration ID");
    String text = Hex.of(Arrays.copyOf(id, 8)) + Hex.of(new byte[] {id[8], id[9]}).substring(1);
    Identity identity = new Identity(text, reader.bytes(Wire.SECRET_BYTES));
    reader.finish();
    return identity;
  }

  Wishes wishes() throws FrameException {
    BodyReader reader = reader();
    boolean known = reader.u8() == 1;
    boolean hasAlias = reader.u8() == 1;
    String alias = reader.text();
    List<String> tags = new ArrayList<>();
    while (reader.remaining() > 0) tags.add(reader.text());
    return new Wishes(hasAlias ? alias : null, tags, known);
  }

  List<Long> ids() throws FrameException {
    BodyReader reader = reader();
    List<Long> ids = new ArrayList<>();
    while (reader.remaining() > 0) ids.add(reader.u64());
    return ids;
  }

  KeyRecord key() throws FrameException {
    BodyReader reader = reader();
    switch (kind) {
      case OWN_KEY:
        int kind = reader.u8();
        long since = reader.u64();
        return KeyRecord.own(kind, reader.rest(), since);
      case SHARED_KEY:
        long id = reader.u64();
        return KeyRecord.shared(id, reader.rest());
      case KNOWN_KEY:
        return KeyRecord.known(reader.text(reader.remaining()));
      default:
        return KeyRecord.dropped(ids());
    }
  }
}
