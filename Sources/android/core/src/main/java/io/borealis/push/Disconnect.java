package io.borealis.push;

/** Why a connection ended, or could not be made. */
public final class Disconnect {
  /** The kinds of reasons. */
  public enum Kind {
    /** No connection could be made; {@link Disconnect#message()} says why. */
    CONNECT_FAILED,
    /** The connection ended without a word of the server; {@link Disconnect#message()} has details. */
    CONNECTION_LOST,
    /** The login had no response within ten seconds. */
    LOGIN_TIMEOUT,
    /** A heartbeat had no response within ten seconds. */
    HEARTBEAT_TIMEOUT,
    /** The server sent bytes that are not the protocol. */
    PROTOCOL_ERROR,
    /** The server ended the session; {@link Disconnect#code()} is the reason of GO_AWAY in the protocol. */
    GO_AWAY,
    /** The server refused the connection; {@link Disconnect#code()} is a {@link ResultCode}. */
    REFUSED,
    /** The state file could not be written: a registration or a push was not accepted. */
    STORAGE_FAILED,
    /** The app asked for it. */
    STOPPED
  }

  private final Kind kind;
  private final int code;
  private final String message;

  Disconnect(Kind kind, int code, String message) {
    this.kind = kind;
    this.code = code;
    this.message = message;
  }

  static Disconnect of(Kind kind) {
    return new Disconnect(kind, 0, "");
  }

  /** The kind. */
  public Kind kind() {
    return kind;
  }

  /** The reason of {@link Kind#GO_AWAY} or the {@link ResultCode} of {@link Kind#REFUSED}; otherwise 0. */
  public int code() {
    return code;
  }

  /** Details for people, in English; may be empty. */
  public String message() {
    return message;
  }

  @Override
  public String toString() {
    return kind + (code == 0 ? "" : " " + code) + (message.isEmpty() ? "" : ": " + message);
  }
}
