package io.borealis.push;

/** Hexadecimal digits in lower case. */
final class Hex {
  private static final char[] DIGITS = "0123456789abcdef".toCharArray();

  private Hex() {}

  static String of(byte[] bytes) {
    StringBuilder text = new StringBuilder(2 * bytes.length);
    for (byte value : bytes) text.append(DIGITS[value >> 4 & 15]).append(DIGITS[value & 15]);
    return text.toString();
  }

  /** The 16 digits of a number. */
  static String of(long number) {
    StringBuilder text = new StringBuilder(16);
    for (int shift = 60; shift >= 0; shift -= 4) text.append(DIGITS[(int) (number >>> shift) & 15]);
    return text.toString();
  }

  /** The bytes of an even number of digits in either case; null for anything else. */
  static byte[] bytes(String text) {
    if (text.length() % 2 != 0) return null;
    byte[] bytes = new byte[text.length() / 2];
    for (int index = 0; index < text.length(); index++) {
      int digit = digit(text.charAt(index));
      if (digit < 0) return null;
      bytes[index / 2] = (byte) (bytes[index / 2] << 4 | digit);
    }
    return bytes;
  }

  /** The number of 16 digits in lower case; null for anything else. */
  static Long number(String text) {
    if (text.length() != 16) return null;
    long number = 0;
    for (int index = 0; index < 16; index++) {
      char character = text.charAt(index);
      int digit = character >= 'A' && character <= 'F' ? -1 : digit(character);
      if (digit < 0) return null;
      number = number << 4 | digit;
    }
    return number;
  }

  private static int digit(char character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return -1;
  }
}
