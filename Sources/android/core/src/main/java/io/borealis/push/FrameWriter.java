package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.util.Collection;

/** Builds one frame. */
final class FrameWriter {
  private final ByteArrayOutputStream body = new ByteArrayOutputStream(64);
  private boolean fits = true;

  FrameWriter(int type) {
    u8(type);
  }

  FrameWriter u8(int value) {
    body.write(value);
    return this;
  }

  FrameWriter u16(int value) {
    return u8(value >>> 8).u8(value);
  }

  FrameWriter u32(long value) {
    return u16((int) (value >>> 16)).u16((int) value);
  }

  FrameWriter u64(long value) {
    return u32(value >>> 32).u32(value);
  }

  FrameWriter bytes(byte[] value) {
    body.write(value, 0, value.length);
    return this;
  }

  FrameWriter counted(byte[] value) {
    if (value.length > Wire.MAX_COUNTED) {
      fits = false;
      return this;
    }
    return u8(value.length).bytes(value);
  }

  FrameWriter text(String value) {
    return counted(Wire.utf8(value));
  }

  FrameWriter longText(String value, int most) {
    byte[] bytes = Wire.utf8(value);
    if (bytes.length > most) {
      fits = false;
      return this;
    }
    return u16(bytes.length).bytes(bytes);
  }

  FrameWriter texts(Collection<String> values) {
    if (values.size() > 0xFFFF) {
      fits = false;
      return this;
    }
    u16(values.size());
    for (String value : values) text(value);
    return this;
  }

  /** The frame; null if a field does not fit its count, or the frame would be too large. */
  byte[] frame() {
    int length = body.size();
    if (!fits || length > Wire.MAX_FRAME) return null;
    ByteArrayOutputStream frame = new ByteArrayOutputStream(length + 3);
    int rest = length;
    while (rest > 0x7F) {
      frame.write(rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    frame.write(rest);
    byte[] bytes = body.toByteArray();
    frame.write(bytes, 0, bytes.length);
    return frame.toByteArray();
  }
}
