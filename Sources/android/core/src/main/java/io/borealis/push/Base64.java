package io.borealis.push;

import java.io.ByteArrayOutputStream;

/** Base64 (RFC 4648 section 4) with padding. Android has the class of the platform since API 26 only. */
final class Base64 {
  private static final String DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  private Base64() {}

  /** The bytes of a text; null for null, and for anything that is not Base64. */
  static byte[] decode(String text) {
    if (text == null || text.length() % 4 != 0) return null;
    int end = text.length();
    while (end > 0 && text.length() - end < 2 && text.charAt(end - 1) == '=') end--;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(3 * end / 4);
    int bits = 0;
    int count = 0;
    for (int index = 0; index < end; index++) {
      int digit = DIGITS.indexOf(text.charAt(index));
      if (digit < 0) return null;
      bits = bits << 6 | digit;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      bytes.write(bits >>> count);
      bits &= (1 << count) - 1;
    }
    // Bits after the last byte are zero, or two texts would mean the same.
    return bits == 0 ? bytes.toByteArray() : null;
  }
}
