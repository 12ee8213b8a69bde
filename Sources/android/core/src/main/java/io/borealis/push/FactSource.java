package io.borealis.push;

/**
 * Reads facts about the device. It is asked only for those that the server asks for, on a thread of the
 * library, and must not throw.
 */
public interface FactSource {
  int LANGUAGE = 1;
  int TIME_ZONE = 2;
  int SYSTEM = 3;
  int SYSTEM_VERSION = 4;
  int MODEL = 5;
  int APP_VERSION = 6;
  int STORE_CHANNEL = 7;
  /** {@code on}, {@code off} or {@code not_asked}. */
  int NOTIFICATION_PERMISSION = 8;
  /** {@code yes} or {@code no}. */
  int OPTED_OUT = 9;

  /** A fact, in at most 64 bytes of UTF-8; null if it is not known. */
  @Nullable
  String read(int fact);
}
