package io.borealis.push;

/** Bytes that are not a frame of the device protocol. The connection that they came from is closed. */
final class FrameException extends Exception {
  private static final long serialVersionUID = 1;

  FrameException(String message) {
    // Bytes of a server can cause any number of these, so they have no stack trace.
    super(message, null, false, false);
  }
}
