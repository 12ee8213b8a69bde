import BorealisBase

/// A push as a view of received bytes: nothing is copied.
public struct PushView: Hashable, Sendable {
  /// The ID of the push; the same in every attempt and on every channel.
  public let messageID: MessageID
  /// Whether the push had been accepted before this session began.
  public let isOffline: Bool
  /// The range of its content, a JSON object in UTF-8, in the span that the frame was decoded from.
  public let content: Range<Int>
}

/// A frame that a server sends.
public enum ServerFrame: Hashable, Sendable {
  /// Answers a PING.
  case pong
  /// The version to speak, the server's clock in Unix milliseconds, the most bytes (type and body) of any
  /// frame.
  case helloOK(version: UInt8, serverTime: Timestamp, maxFrame: UInt32)
  /// A new registration with its secret.
  case registerOK(RegistrationID, DeviceSecret)
  /// The session has started: heartbeat interval in seconds (from 1), how long ACKs may be collected in
  /// milliseconds, the server's clock, how many stored pushes follow.
  case loginOK(heartbeat: UInt16, ackDelay: UInt16, serverTime: Timestamp, pending: UInt32)
  /// The facts that the app asks for, sent after `loginOK` if there are any.
  case factsWanted(DeviceFactSet)
  /// A push; a view of the bytes it was decoded from.
  case push(PushView)
  /// Recalls a push.
  case recall(MessageID)
  /// The result of the operation with this number; `ResultPayload` reads the payload.
  case result(sequence: UInt32, code: ResultCode, payload: [UInt8])
  /// Ends a session: reconnect after `retryAfter` milliseconds, to `host` ("host:port") unless it is empty.
  case goAway(CloseReason, retryAfter: UInt32, host: String)
  /// Refuses the connection; it is closed after this frame. The message is for people.
  case error(ResultCode, ReconnectRule, message: String)

  /// Decodes what `scanFrame` has found in `bytes`. PONG, PUSH and RECALL allocate nothing.
  public init(type: FrameType, body: Range<Int>, in bytes: Span<UInt8>) throws(FrameError) {
    var reader = try BodyReader(body, in: bytes)
    switch type {
    case .pong: self = .pong
    case .push:
      let id = MessageID(try reader.integer(in: bytes))
      let flags = try reader.integer(UInt8.self, in: bytes)
      guard flags <= 1 else { throw .invalidValue }
      self = .push(PushView(messageID: id, isOffline: flags == 1, content: reader.readRest()))
    case .recall: self = .recall(MessageID(try reader.integer(in: bytes)))
    case .helloOK:
      let version = try reader.integer(UInt8.self, in: bytes)
      self = .helloOK(
        version: version, serverTime: try reader.time(in: bytes), maxFrame: try reader.integer(in: bytes))
    case .registerOK:
      self = .registerOK(try reader.registrationID(in: bytes), try reader.secret(in: bytes))
    case .loginOK:
      let heartbeat = try reader.integer(UInt16.self, in: bytes)
      guard heartbeat > 0 else { throw .invalidValue }
      self = .loginOK(
        heartbeat: heartbeat, ackDelay: try reader.integer(in: bytes), serverTime: try reader.time(in: bytes),
        pending: try reader.integer(in: bytes))
    case .factsWanted: self = .factsWanted(DeviceFactSet(rawValue: try reader.integer(in: bytes)))
    case .result:
      let sequence = try reader.integer(UInt32.self, in: bytes)
      let code = ResultCode(rawValue: try reader.integer(in: bytes))
      self = .result(sequence: sequence, code: code, payload: bytes.array(reader.readRest()))
    case .goAway:
      self = .goAway(
        CloseReason(rawValue: try reader.integer(in: bytes)), retryAfter: try reader.integer(in: bytes),
        host: try reader.text(in: bytes))
    case .error:
      let code = ResultCode(rawValue: try reader.integer(in: bytes))
      self = .error(code, try reader.value(in: bytes), message: try reader.text(in: bytes))
    default: throw .unknownType
    }
    try reader.finish()
  }
}

extension BodyReader {
  mutating func time(in bytes: Span<UInt8>) throws(FrameError) -> Timestamp {
    guard let time = Int64(exactly: try integer(UInt64.self, in: bytes)) else { throw .invalidValue }
    return Timestamp(milliseconds: time)
  }
}
