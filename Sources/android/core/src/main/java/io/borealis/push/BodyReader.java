package io.borealis.push;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Walks over a part of an array and never reads outside it, whatever the counts in the bytes say. */
final class BodyReader {
  private final byte[] bytes;
  private int at;
  private final int end;

  BodyReader(byte[] bytes, int start, int end) {
    if (start < 0 || end < start || end > bytes.length) throw new IndexOutOfBoundsException();
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  int remaining() {
    return end - at;
  }

  /** Passes over a number of bytes and returns where they start. */
  private int take(int count) throws FrameException {
    if (count < 0 || count > end - at) throw new FrameException("the body ends before its last field");
    int start = at;
    at += count;
    return start;
  }

  void finish() throws FrameException {
    if (at != end) throw new FrameException("bytes after the last field");
  }

  byte[] bytes(int count) throws FrameException {
    int start = take(count);
    return Arrays.copyOfRange(bytes, start, start + count);
  }

  byte[] rest() throws FrameException {
    return bytes(end - at);
  }

  int u8() throws FrameException {
    return bytes[take(1)] & 0xFF;
  }

  int u16() throws FrameException {
    int start = take(2);
    return (bytes[start] & 0xFF) << 8 | bytes[start + 1] & 0xFF;
  }

  long u32() throws FrameException {
    return (long) u16() << 16 | u16();
  }

  /** A number of 64 bits without a sign; Java's long has the same bits. */
  long u64() throws FrameException {
    return u32() << 32 | u32();
  }

  /** Milliseconds since 1970, which are below 2^63. */
  long time() throws FrameException {
    long time = u64();
    if (time < 0) throw new FrameException("a time over 2^63");
    return time;
  }

  byte[] counted() throws FrameException {
    return bytes(u8());
  }

  String text() throws FrameException {
    int count = u8();
    return text(count);
  }

  String text(int count) throws FrameException {
    int start = take(count);
    String text = Wire.text(bytes, start, count);
    if (text == null) throw new FrameException("a text is not UTF-8");
    return text;
  }

  List<String> texts() throws FrameException {
    int count = u16();
    // Each text has at least one byte, so a large count in a small body must not reserve memory.
    if (count > end - at) throw new FrameException("a count is larger than the body");
    List<String> texts = new ArrayList<>(count);
    for (int index = 0; index < count; index++) texts.add(text());
    return texts;
  }
}
