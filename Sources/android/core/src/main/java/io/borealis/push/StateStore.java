package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The state of one device across restarts, in a file of records that is rewritten when it becomes too long. A
 * record is one write: from then on it survives the process, even if that is killed. Docs/device-library.md
 * has the steps of a push. May be used by several threads.
 */
final class StateStore {
  /** A file below this size is never rewritten, in bytes. */
  static final int SMALL_SIZE = 64 * 1024;

  private final StateFile file;
  /** The file's size when it was last rewritten. */
  private long compactSize;
  private StoredState stored;
  private boolean isClosed;

  /** Opens or creates a file. */
  StateStore(File path) throws IOException {
    file = new StateFile(path);
    boolean isOpen = false;
    try {
      byte[] bytes = file.records();
      int end = StoredState.end(bytes);
      if (end < bytes.length) file.keep(end);
      stored = StoredState.of(bytes);
      isOpen = true;
    } finally {
      if (!isOpen) file.close();
    }
  }

  /**
   * The stored state, which gets a fingerprint if it has none: one with the device's former registration ID
   * on another platform, if that is not null. A registration of another app is ignored. Call once.
   */
  synchronized StoredState load(byte[] appKey, String former) {
    StoredState state = stored;
    stored = null;
    if (state.fingerprint.length == 0) {
      byte[] named = former == null ? new byte[0] : Wire.utf8("jpush:" + former);
      if (former == null || named.length > Wire.MAX_FINGERPRINT) {
        named = new byte[16];
        new SecureRandom().nextBytes(named);
      }
      state.fingerprint = named;
      // If this fails, the registration cannot be stored either, and is not used.
      append(StateRecord.fingerprint(named), false);
    }
    if (!Arrays.equals(state.appKey, appKey)) state.identity = null;
    return state;
  }

  /**
   * Adds a record; if {@code durable} it survives a crash of the system too. False when nothing was added.
   */
  synchronized boolean append(StateRecord record, boolean durable) {
    return append(Collections.singletonList(record), durable);
  }

  /** Adds records in one write. */
  synchronized boolean append(List<StateRecord> records, boolean durable) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (StateRecord record : records) {
      byte[] encoded = record.encode(0);
      bytes.write(encoded, 0, encoded.length);
    }
    if (isClosed || !file.append(bytes.toByteArray(), durable)) return false;
    if (file.size() > Math.max(SMALL_SIZE, 4 * compactSize)) compact();
    return true;
  }

  /**
   * Takes key pairs out of the file: a note that they are gone, and then the file is written anew without
   * their bytes. False if either failed; with the note a later rewriting does it.
   */
  synchronized boolean drop(List<Long> keys) {
    StateRecord note = StateRecord.key(KeyRecord.dropped(keys));
    return !isClosed && file.append(note.encode(0), true) && compact();
  }

  /** Rewrites the file with the sum of its records. If that fails, the long one stays in use and grows on. */
  private boolean compact() {
    try {
      boolean isDone = file.replace(StoredState.of(file.records()).compact());
      compactSize = file.size();
      return isDone;
    } catch (IOException error) {
      compactSize = file.size();
      return false;
    }
  }

  synchronized void close() {
    isClosed = true;
    file.close();
  }
}
