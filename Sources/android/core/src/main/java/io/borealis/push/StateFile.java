package io.borealis.push;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.Arrays;

/**
 * A file that grows by complete records, and is replaced when it becomes too long. Locked against other users
 * while it is open, and readable by its owner only. Not thread-safe.
 *
 * <p>It uses {@link RandomAccessFile}, since an interrupt of a thread that writes closes a
 * {@link java.nio.channels.FileChannel}.
 */
final class StateFile {
  /** Every state file starts with this; the last byte is the version of the format. */
  static final byte[] HEADER = {'B', 'R', 'L', 'S', 'D', 'E', 'V', 1};

  private final File path;
  private final RandomAccessFile lockFile;
  private RandomAccessFile file;
  /** The position of the next record. Bytes after it were written incompletely. */
  private long size;

  /** Opens or creates the file and locks it, by a file beside it that is never replaced. */
  StateFile(File path) throws IOException {
    this.path = path;
    lockFile = openForOwner(new File(path.getPath() + ".lock"));
    boolean isOpen = false;
    try {
      lock();
      file = openForOwner(path);
      readHeader();
      isOpen = true;
    } finally {
      if (!isOpen) close();
    }
  }

  private void lock() throws IOException {
    try {
      FileLock lock = lockFile.getChannel().tryLock();
      if (lock == null) throw new IOException("another process uses the state file " + path);
    } catch (OverlappingFileLockException error) {
      throw new IOException("another client uses the state file " + path, error);
    }
  }

  private void readHeader() throws IOException {
    byte[] start = read(HEADER.length);
    boolean isUnfinished =
        start.length < HEADER.length && Arrays.equals(start, Arrays.copyOf(HEADER, start.length));
    if (isUnfinished) {
      // New, or its first process ended while it wrote the header.
      file.seek(0);
      file.write(HEADER);
      file.getFD().sync();
      FolderSync.sync(path);
    } else if (!Arrays.equals(start, HEADER)) {
      throw new IOException(path + " is not a state file of this version");
    }
    size = file.length();
  }

  private static RandomAccessFile openForOwner(File path) throws IOException {
    boolean isNew = path.createNewFile();
    if (isNew) {
      path.setReadable(false, false);
      path.setWritable(false, false);
      path.setReadable(true, true);
      path.setWritable(true, true);
    }
    if (!path.isFile()) throw new FileNotFoundException(path + " is not a file");
    return new RandomAccessFile(path, "rw");
  }

  private byte[] read(long most) throws IOException {
    byte[] bytes = new byte[(int) Math.min(most, Math.min(file.length(), Integer.MAX_VALUE - 8))];
    file.seek(0);
    file.readFully(bytes);
    return bytes;
  }

  long size() {
    return size;
  }

  /** Everything in the file after the header. */
  byte[] records() throws IOException {
    byte[] bytes = read(size);
    return Arrays.copyOfRange(bytes, HEADER.length, bytes.length);
  }

  /** Drops everything after the first bytes of {@link #records}. */
  void keep(int count) {
    size = HEADER.length + count;
    truncate();
  }

  private void truncate() {
    try {
      file.setLength(size);
    } catch (IOException error) {
      // What is left over has no valid record, or is overwritten.
      return;
    }
  }

  /**
   * Adds records. When this returns true they survive the process, however it ends; if {@code durable}, they
   * survive a crash of the system as well. When it returns false nothing was added.
   */
  boolean append(byte[] bytes, boolean durable) {
    try {
      file.seek(size);
      file.write(bytes);
      if (durable) file.getFD().sync();
    } catch (IOException error) {
      // A part may have been written: it must not remain between this record and the next.
      truncate();
      return false;
    }
    size += bytes.length;
    return true;
  }

  /** Replaces all records. Whatever happens, the file has either the old or the new ones. */
  boolean replace(byte[] records) {
    File temporary = new File(path.getPath() + ".new");
    RandomAccessFile replacement = null;
    try {
      temporary.delete();
      replacement = openForOwner(temporary);
      replacement.write(HEADER);
      replacement.write(records);
      replacement.getFD().sync();
      if (!temporary.renameTo(path)) throw new IOException("cannot rename " + temporary);
    } catch (IOException error) {
      close(replacement);
      temporary.delete();
      return false;
    }
    FolderSync.sync(path);
    close(file);
    file = replacement;
    size = HEADER.length + records.length;
    return true;
  }

  void close() {
    close(file);
    close(lockFile);
  }

  private static void close(RandomAccessFile file) {
    if (file == null) return;
    try {
      file.close();
    } catch (IOException error) {
      // All that counts was written before.
      return;
    }
  }
}
