package io.borealis.push;

/** Malformed input. Outside bytes can cause any number of these, so they have no stack trace. */
abstract class StacklessException extends Exception {
  private static final long serialVersionUID = 1;

  StacklessException(String message) {
    super(message);
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
