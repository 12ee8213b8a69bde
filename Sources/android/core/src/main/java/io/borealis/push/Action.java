package io.borealis.push;

/** What the state machine wants done. Actions are carried out in order. */
abstract class Action {
  /** Tells the app, if this action is for it. */
  void tell(PushListener listener) {}

  /** Open a connection, after the previous one was closed. */
  static final class Connect extends Action {
    final ServerAddress server;

    Connect(ServerAddress server) {
      this.server = server;
    }
  }

  /** Write bytes to the connection. */
  static final class Send extends Action {
    final byte[] bytes;

    Send(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  /** Send written bytes, then close the connection. No call about this connection may follow. */
  static final class Close extends Action {}

  /**
   * Store the new registration durably before it is used. If that fails, the rest of the list is dropped and
   * {@link Session#storageFailed} is called.
   */
  static final class StoreIdentity extends Action {
    final Identity identity;

    StoreIdentity(Identity identity) {
      this.identity = identity;
    }
  }

  /**
   * Delete the stored registration, which the server no longer has. May fail: it is then refused once more.
   */
  static final class ForgetIdentity extends Action {}

  /** Store alias and tags. May fail: they are then missing after a new registration. */
  static final class StoreWishes extends Action {
    final Wishes wishes;

    StoreWishes(Wishes wishes) {
      this.wishes = wishes;
    }
  }

  /**
   * Record the push as in hand, then pass it to the app. If recording fails, the app does not get it and
   * {@link Session#storageFailed} is called with its message ID after the rest of the list.
   */
  static final class Deliver extends Action {
    final Push push;

    Deliver(Push push) {
      this.push = push;
    }
  }

  /** Record that a push counts as handled although the app did not get it. May fail. */
  static final class NoteHandled extends Action {
    final long messageId;

    NoteHandled(long messageId) {
      this.messageId = messageId;
    }
  }

  /** Tell the app of its new registration, which is stored. */
  static final class Registered extends Action {
    final String registrationId;

    Registered(String registrationId) {
      this.registrationId = registrationId;
    }

    @Override
    void tell(PushListener listener) {
      listener.onRegistered(registrationId);
    }
  }

  /** Tell the app that a session has started; about this many stored pushes follow. */
  static final class LoggedIn extends Action {
    final long pending;

    LoggedIn(long pending) {
      this.pending = pending;
    }

    @Override
    void tell(PushListener listener) {
      listener.onConnected(pending);
    }
  }

  /** Tell the app that the session, or an attempt, has ended. */
  static final class Disconnected extends Action {
    final Disconnect reason;
    /** Milliseconds until the next attempt; -1 if none follows. */
    final long retryIn;

    Disconnected(Disconnect reason, long retryIn) {
      this.reason = reason;
      this.retryIn = retryIn;
    }

    @Override
    void tell(PushListener listener) {
      listener.onDisconnected(reason, retryIn);
    }
  }

  /** Tell the app that another channel brings the notification of a push. */
  static final class LeftToChannel extends Action {
    final long messageId;

    LeftToChannel(long messageId) {
      this.messageId = messageId;
    }

    @Override
    void tell(PushListener listener) {
      listener.onLeftToChannel(messageId);
    }
  }

  /** Tell the app that the sender recalled a push. */
  static final class Recalled extends Action {
    final long messageId;

    Recalled(long messageId) {
      this.messageId = messageId;
    }

    @Override
    void tell(PushListener listener) {
      listener.onRecalled(messageId);
    }
  }

  /** Tell the app that an operation has ended. */
  static final class Result extends Action {
    final OperationResult result;

    Result(OperationResult result) {
      this.result = result;
    }
  }
}
