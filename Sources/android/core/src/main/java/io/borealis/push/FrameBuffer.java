package io.borealis.push;

import java.util.Arrays;

/**
 * Received bytes up to the end of the last frame that is not complete yet: 64 KiB and one reading at most.
 */
final class FrameBuffer {
  private byte[] bytes = new byte[1024];
  private int start;
  private int end;
  private int bodyStart;
  private int bodyEnd;
  private int type;

  void append(byte[] more, int offset, int count) {
    if (start > 0) {
      System.arraycopy(bytes, start, bytes, 0, end - start);
      end -= start;
      start = 0;
    }
    if (end + count > bytes.length) bytes = Arrays.copyOf(bytes, Math.max(end + count, 2 * bytes.length));
    System.arraycopy(more, offset, bytes, end, count);
    end += count;
  }

  /** How many bytes it occupies. */
  int capacity() {
    return bytes.length;
  }

  void clear() {
    start = 0;
    end = 0;
    if (bytes.length > 8192) bytes = new byte[1024];
  }

  /**
   * Moves to the next frame; false if it is not complete yet. A length that is malformed or over the limit is
   * refused as soon as it can be read.
   */
  boolean next() throws FrameException {
    int length = 0;
    int index = start;
    while (true) {
      if (index >= end) return false;
      int value = bytes[index] & 0xFF;
      int place = index - start;
      length |= (value & 0x7F) << 7 * place;
      index++;
      if (value < 0x80) {
        if (value == 0) throw new FrameException("the length is 0, or longer than necessary");
        break;
      }
      if (place == 2) throw new FrameException("the length has more than three bytes");
    }
    if (length > Wire.MAX_FRAME) throw new FrameException("the frame is too large");
    if (end - index < length) return false;
    type = bytes[index] & 0xFF;
    bodyStart = index + 1;
    bodyEnd = index + length;
    start = bodyEnd;
    return true;
  }

  /** The type of the frame that {@link #next} found. */
  int type() {
    return type;
  }

  /** Its body, readable until the next call of another method. */
  BodyReader body() {
    return new BodyReader(bytes, bodyStart, bodyEnd);
  }
}
