package io.borealis.push;

/** An encrypted content that cannot be opened. */
final class ContentException extends StacklessException {
  private static final long serialVersionUID = 1;

  /**
   * {@link ResultCode#KEY_MISSING}, {@link ResultCode#CONTENT_MALFORMED} or
   * {@link ResultCode#CONTENT_DAMAGED}.
   */
  final int code;

  ContentException(int code) {
    super("content error " + code);
    this.code = code;
  }

  static ContentException malformed() {
    return new ContentException(ResultCode.CONTENT_MALFORMED);
  }

  static ContentException damaged() {
    return new ContentException(ResultCode.CONTENT_DAMAGED);
  }
}
