package io.borealis.push;

/** Gets the result of one operation, on the same thread as {@link PushListener}. */
public interface ResultCallback {
  /** The operation has ended. */
  void onResult(OperationResult result);
}
