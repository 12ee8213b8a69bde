package io.borealis.push;

/**
 * What happens to a client. Every method has a default, so implement what the app needs. Calls never overlap;
 * they come in the order of the events, on {@link PushConfig.Builder#executor} or on a thread of the library.
 *
 * <p>An exception that a method throws goes to the thread's handler of uncaught exceptions, which ends an
 * Android app.
 */
public interface PushListener {
  /**
   * A push to show or process. Return true when that is done, or stored so that nothing can lose it: the
   * library then records the push as handled and acknowledges it. Return false to do it later, and call
   * {@link PushClient#handled} when it is done. If the method throws, the push is not handled.
   *
   * <p>A push that is not handled when the process ends is passed to the app again in the next run, with
   * {@link Push#isRedelivered}. With 1024 unhandled pushes the client stops reading from its server until no
   * more than 512 are left.
   */
  default boolean onPush(Push push) {
    return true;
  }

  /** The sender recalled a push: remove its notification if it is shown. */
  default void onRecalled(long messageId) {}

  /**
   * The server has issued a registration, which is stored already: at the first start, and when the server no
   * longer had the old one.
   */
  default void onRegistered(String registrationId) {}

  /** A session has started; about this many stored pushes follow. */
  default void onConnected(long pending) {}

  /**
   * A session, or an attempt to start one, has ended. The client tries again by itself unless
   * {@code retryMillis} is negative.
   *
   * @param retryMillis milliseconds until the next attempt; -1 if none follows until
   *     {@link PushClient#start()}
   */
  default void onDisconnected(Disconnect reason, long retryMillis) {}

  /**
   * An operation has ended: one of the app's, or one with which the library set alias, tags or tokens again
   * after a new registration.
   */
  default void onResult(OperationResult result) {}

  /**
   * A push, or the key for its content, arrived so late that another channel brings its notification, as its
   * sender asked for. There is nothing to show or to handle.
   */
  default void onLeftToChannel(long messageId) {}

  /**
   * The content of a push cannot be decrypted and never will be. There is nothing to show or to handle.
   *
   * @param keyId the key that the content names, 16 hexadecimal digits
   * @param code {@link ResultCode#KEY_MISSING}, {@link ResultCode#CONTENT_MALFORMED} or
   *     {@link ResultCode#CONTENT_DAMAGED}
   */
  default void onUnreadable(long messageId, String keyId, int code) {}

  /**
   * Pushes wait for a key that the app server shares with several devices. The library keeps requesting it.
   *
   * @param code {@link ResultCode#KEY_MISSING} if the server does not have the key yet,
   *     {@link ResultCode#CONTENT_DAMAGED} if its copy is not for this device
   */
  default void onKeyMissing(String keyId, int code) {}
}
