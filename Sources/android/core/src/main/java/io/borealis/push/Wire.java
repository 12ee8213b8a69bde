package io.borealis.push;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Numbers of the device protocol: Docs/protocol.md. */
final class Wire {
  static final int MIN_VERSION = 1;
  static final int MAX_VERSION = 7;

  /** Most bytes of type and body of a frame. */
  static final int MAX_FRAME = 65_536;
  /** Most bytes of a frame with its length. */
  static final int MAX_FRAME_WITH_LENGTH = MAX_FRAME + 3;
  /** Most bytes of a text or byte string with a count of one byte. */
  static final int MAX_COUNTED = 255;
  static final int MAX_FACT = 64;
  static final int MAX_CHANNEL_TOKEN = 4096;
  static final int MAX_FINGERPRINT = 64;
  static final int MAX_TAGS = 1000;
  static final int ACKS_PER_FRAME = 512;
  static final int RECEIPTS_PER_FRAME = 256;
  static final int SECRET_BYTES = 16;
  static final int AUTH_BYTES = 16;
  /** The age of a push whose arrival time is not known. */
  static final long UNKNOWN_AGE = 0xFFFF_FFFFL;

  static final int PING = 0x01;
  static final int PONG = 0x02;
  static final int HELLO = 0x10;
  static final int REGISTER = 0x11;
  static final int LOGIN = 0x12;
  static final int ACK = 0x20;
  static final int RECEIPT = 0x21;
  static final int ACK_AGE = 0x22;
  static final int SET_ALIAS = 0x30;
  static final int DELETE_ALIAS = 0x31;
  static final int GET_ALIAS = 0x32;
  static final int SET_TAGS = 0x33;
  static final int ADD_TAGS = 0x34;
  static final int DELETE_TAGS = 0x35;
  static final int CLEAN_TAGS = 0x36;
  static final int GET_TAGS = 0x37;
  static final int CHECK_TAG = 0x38;
  static final int SET_BADGE = 0x39;
  static final int SET_TOKEN = 0x3A;
  static final int APP_STATE = 0x3B;
  static final int LOGOUT = 0x3C;
  static final int SET_OTHER_TOKEN = 0x3D;
  static final int SET_KEY = 0x3E;
  static final int GET_KEY = 0x3F;
  static final int SET_CHANNEL_TOKEN = 0x40;
  static final int SET_FACTS = 0x41;
  static final int HELLO_OK = 0x90;
  static final int REGISTER_OK = 0x91;
  static final int LOGIN_OK = 0x92;
  static final int FACTS_WANTED = 0x93;
  static final int PUSH = 0xA0;
  static final int RECALL = 0xA1;
  static final int RESULT = 0xB0;
  static final int GO_AWAY = 0xE0;
  static final int ERROR = 0xE1;

  static final int RECEIPT_SHOWN = 1;
  static final int RECEIPT_TAPPED = 2;
  static final int RECEIPT_IN_APP_SHOWN = 3;
  static final int RECEIPT_IN_APP_TAPPED = 4;

  /** Reasons of GO_AWAY that the library acts on. */
  static final int REASON_DRAIN = 1;
  static final int REASON_REPLACED = 2;
  static final int REASON_HEARTBEAT = 4;
  static final int REASON_LOGGED_OUT = 6;
  static final int REASON_REGISTRATION_REPLACED = 7;

  static final Charset UTF_8 = StandardCharsets.UTF_8;

  private Wire() {}

  static boolean isVersion(int version) {
    return version >= MIN_VERSION && version <= MAX_VERSION;
  }

  static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  /** The text of a part of an array; null if it is not UTF-8. */
  static String text(byte[] bytes, int start, int count) {
    try {
      // A new decoder reports errors, unlike String's constructor.
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, start, count)).toString();
    } catch (CharacterCodingException error) {
      return null;
    }
  }

  /** As much of a text as fits in a number of bytes, cut between characters. */
  static String clipped(String text, int bytes) {
    // A character has at least one byte.
    int end = Math.min(text.length(), bytes);
    if (end < text.length() && Character.isLowSurrogate(text.charAt(end))) end--;
    while (end > 0 && utf8(text.substring(0, end)).length > bytes) end = text.offsetByCodePoints(end, -1);
    return text.substring(0, Math.max(0, end));
  }
}
