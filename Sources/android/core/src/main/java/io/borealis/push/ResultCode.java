package io.borealis.push;

/**
 * How an operation ended, or why the server refused a connection. The numbers up to 6038 are those of JPush's
 * client libraries. A server may send numbers that are not listed here; treat them like {@link #FAILED}.
 */
public final class ResultCode {
  /** Done. */
  public static final int OK = 0;
  /** No app has this app key. */
  public static final int APP_KEY_UNKNOWN = 1005;
  /** The app key is not valid. */
  public static final int APP_KEY_INVALID = 1008;
  /** The app does not have this platform, or the library is too old for the server. */
  public static final int PLATFORM_MISSING = 1009;
  /** The app does not have this registration, or its secret is wrong. The library registers again. */
  public static final int NOT_REGISTERED = 1011;
  /** The alias or a tag is empty. */
  public static final int NOTHING_SET = 6001;
  /** No response within ten seconds. Made by the library. */
  public static final int TIMEOUT = 6002;
  /** The alias has characters that are not allowed. */
  public static final int ALIAS_INVALID = 6003;
  /** The alias has more than 40 characters. */
  public static final int ALIAS_TOO_LONG = 6004;
  /** A tag has blanks or invisible characters. */
  public static final int TAG_INVALID = 6005;
  /** A tag has more than 32 characters, and more than 40 bytes of UTF-8. */
  public static final int TAG_TOO_LONG = 6006;
  /** More than 1000 tags in one operation. */
  public static final int TOO_MANY_TAGS = 6007;
  /** The tags of one operation do not fit in a frame of 64 KiB. Made by the library. */
  public static final int TAGS_TOO_LONG = 6008;
  /** A failure without a code of its own. Try again later. */
  public static final int FAILED = 6009;
  /** More than 100 operations in ten seconds, or more than 1024 that wait. */
  public static final int TOO_FREQUENT = 6011;
  /** The client is stopped. Made by the library. */
  public static final int STOPPED = 6012;
  /** The server is busy. Send again after a second. */
  public static final int BUSY = 6014;
  /** The device is blocked. */
  public static final int BLOCKED = 6015;
  /** The registration was replaced or deleted. The library registers again at the next login. */
  public static final int REGISTRATION_INVALID = 6016;
  /** The request is not valid, or the server is too old for it. */
  public static final int REQUEST_INVALID = 6017;
  /** The device would have more than 1000 tags. */
  public static final int DEVICE_TAGS_FULL = 6018;
  /** The server failed. Try again later. */
  public static final int SERVER_ERROR = 6024;
  /** The operation is larger than what the server accepts. */
  public static final int TOO_LARGE = 6026;
  /** Ten other devices have this alias. */
  public static final int ALIAS_FULL = 6027;
  /** The key that a push needs is gone, or did not arrive while the server kept the push. */
  public static final int KEY_MISSING = 6040;
  /** The encrypted content of a push is malformed. */
  public static final int CONTENT_MALFORMED = 6041;
  /** The encrypted content of a push was modified, or was made for another key. */
  public static final int CONTENT_DAMAGED = 6042;
  /** The app has so many tags that its devices cannot add new ones. */
  public static final int APP_TAGS_FULL = 6043;
  /** The device has added 1000 new tags today. */
  public static final int NEW_TAGS_USED_UP = 6044;
  /** The server could not read what the library sent: a defect of one of them. */
  public static final int PROTOCOL_ERROR = 9001;
  /** The library and the server have no protocol version in common. */
  public static final int NO_COMMON_VERSION = 9002;
  /** The login took more than five seconds. */
  public static final int LOGIN_TIMEOUT = 9003;
  /** The server does not accept connections at the moment. */
  public static final int UNAVAILABLE = 9004;

  private ResultCode() {}
}
