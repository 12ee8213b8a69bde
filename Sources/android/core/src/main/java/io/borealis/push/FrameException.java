package io.borealis.push;

/** Bytes that are not a frame of the device protocol. The connection that they came from is closed. */
final class FrameException extends StacklessException {
  private static final long serialVersionUID = 1;

  FrameException(String message) {
    super(message);
  }
}
