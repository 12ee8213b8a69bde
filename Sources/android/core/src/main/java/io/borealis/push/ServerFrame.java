package io.borealis.push;

/** A frame of the server. The type says which fields it has; the others are 0 or null. */
final class ServerFrame {
  /** Reconnect rules of ERROR. */
  static final int NEVER = 0;
  static final int AFTER_BACK_OFF = 1;
  static final int AT_ONCE = 2;

  final int type;
  /** HELLO_OK. */
  int version;
  /** HELLO_OK and LOGIN_OK: the server's clock, in milliseconds since 1970. */
  long serverTime;
  /** HELLO_OK: most bytes of type and body that the server accepts. */
  long maxFrame;
  /** REGISTER_OK. */
  Identity identity;
  /** LOGIN_OK: seconds, at least 1. */
  int heartbeat;
  /** LOGIN_OK: milliseconds. */
  int ackDelay;
  /** LOGIN_OK: about how many stored pushes follow. */
  long pending;
  /** FACTS_WANTED: the bits of facts, the lowest for number 1. */
  int facts;
  /** PUSH and RECALL. */
  long messageId;
  /** PUSH. */
  boolean offline;
  /** PUSH: a JSON object. RESULT: depends on the operation. */
  byte[] content;
  /** RESULT. */
  long sequence;
  /** RESULT and ERROR: the code. GO_AWAY: the reason. */
  int code;
  /** GO_AWAY: milliseconds. */
  long retryAfter;
  /** ERROR: {@link #NEVER}, {@link #AFTER_BACK_OFF} or {@link #AT_ONCE}. */
  int reconnect;
  /** GO_AWAY: the host to connect to. ERROR: for people. */
  String text;

  private ServerFrame(int type) {
    this.type = type;
  }

  /** Reads the body of a frame. */
  static ServerFrame decode(int type, BodyReader body) throws FrameException {
    ServerFrame frame = new ServerFrame(type);
    switch (type) {
      case Wire.PONG:
        break;
      case Wire.HELLO_OK:
        frame.version = body.u8();
        frame.serverTime = body.time();
        frame.maxFrame = body.u32();
        break;
      case Wire.REGISTER_OK:
        frame.identity = new Identity(Identity.registrationId(body.bytes(10)), body.bytes(Wire.SECRET_BYTES));
        break;
      case Wire.LOGIN_OK:
        frame.heartbeat = body.u16();
        if (frame.heartbeat == 0) throw new FrameException("a heartbeat interval of 0");
        frame.ackDelay = body.u16();
        frame.serverTime = body.time();
        frame.pending = body.u32();
        break;
      case Wire.FACTS_WANTED:
        frame.facts = body.u16();
        break;
      case Wire.PUSH:
        frame.messageId = body.u64();
        frame.offline = bit(body.u8());
        frame.content = body.rest();
        break;
      case Wire.RECALL:
        frame.messageId = body.u64();
        break;
      case Wire.RESULT:
        frame.sequence = body.u32();
        frame.code = body.u16();
        frame.content = body.rest();
        break;
      case Wire.GO_AWAY:
        frame.code = body.u8();
        frame.retryAfter = body.u32();
        frame.text = body.text();
        break;
      case Wire.ERROR:
        frame.code = body.u16();
        frame.reconnect = body.u8();
        if (frame.reconnect > AT_ONCE) throw new FrameException("an unknown reconnect rule");
        frame.text = body.text();
        break;
      default:
        throw new FrameException("an unknown type");
    }
    body.finish();
    return frame;
  }

  /** What a client does after a GO_AWAY with a reason. Unknown ones are followed by back-off. */
  static int reconnectAfter(int reason) {
    switch (reason) {
      case Wire.REASON_DRAIN:
      case Wire.REASON_HEARTBEAT:
        return AT_ONCE;
      case Wire.REASON_REPLACED:
      case Wire.REASON_LOGGED_OUT:
      case Wire.REASON_REGISTRATION_REPLACED:
        return NEVER;
      default:
        return AFTER_BACK_OFF;
    }
  }

  private static boolean bit(int flags) throws FrameException {
    if (flags > 1) throw new FrameException("a reserved bit is set");
    return flags == 1;
  }
}
