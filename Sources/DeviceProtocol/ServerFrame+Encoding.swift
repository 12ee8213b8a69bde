import BorealisBase

extension ServerFrame {
  /// Appends the frame. `views` must be the span that a PUSH was decoded from; to write a new one, use
  /// `encodePush`. Appends nothing and returns false when a text is over 255 bytes, the frame would be over
  /// `WireLimits.maxFrame`, or a view does not fit `views`. A server time before 1970 is written as 0.
  @discardableResult
  public func encode(into output: inout [UInt8], views: Span<UInt8>) -> Bool {
    var writer = FrameWriter(type)
    switch self {
    case .pong: break
    case .helloOK(let version, let serverTime, let maxFrame):
      writer.integer(version)
      writer.time(serverTime)
      writer.integer(maxFrame)
    case .registerOK(let registrationID, let secret):
      writer.registrationID(registrationID)
      writer.secret(secret)
    case .loginOK(let heartbeat, let ackDelay, let serverTime, let pending):
      writer.integer(heartbeat)
      writer.integer(ackDelay)
      writer.time(serverTime)
      writer.integer(pending)
    case .factsWanted(let facts): writer.integer(facts.rawValue)
    case .push(let push):
      writer.integer(push.messageID.rawValue)
      writer.integer(UInt8(push.isOffline ? 1 : 0))
      writer.copy(push.content, of: views)
    case .recall(let messageID): writer.integer(messageID.rawValue)
    case .result(let sequence, let code, let payload):
      writer.integer(sequence)
      writer.integer(code.rawValue)
      writer.bytes(payload)
    case .goAway(let reason, let retryAfter, let host):
      writer.integer(reason.rawValue)
      writer.integer(retryAfter)
      writer.text(host)
    case .error(let code, let reconnect, let message):
      writer.integer(code.rawValue)
      writer.integer(reconnect.rawValue)
      writer.text(message)
    }
    return writer.finish(into: &output)
  }

  /// Appends a frame other than PUSH; see `encode(into:views:)`.
  @discardableResult
  public func encode(into output: inout [UInt8]) -> Bool {
    encode(into: &output, views: Span())
  }

  /// A PUSH frame to be shared by all connections it goes to. `content` is a JSON object in UTF-8 of at most
  /// `WireLimits.maxPushContent` bytes, which the caller has checked; the result for a longer one is empty.
  public static func encodePush(messageID: MessageID, offline: Bool, content: [UInt8]) -> [UInt8] {
    guard content.count <= WireLimits.maxPushContent else { return [] }
    let length = 1 + WireLimits.pushHeader + content.count
    var frame: [UInt8] = []
    frame.reserveCapacity(WireLimits.maxLengthBytes + length)
    frame.appendLength(length)
    frame.append(FrameType.push.rawValue)
    frame.appendBigEndian(messageID.rawValue)
    frame.append(offline ? 1 : 0)
    frame.append(contentsOf: content)
    return frame
  }

  /// Appends the RESULT of an operation; returns false and appends nothing when the payload does not fit a
  /// frame.
  @discardableResult
  public static func encodeResult(
    sequence: UInt32, code: ResultCode, payload: ResultPayload = .none, into output: inout [UInt8]
  ) -> Bool {
    var writer = FrameWriter(.result)
    writer.integer(sequence)
    writer.integer(code.rawValue)
    switch payload {
    case .none: break
    case .alias(let alias): writer.text(alias)
    case .tags(let tags): writer.texts(tags)
    case .hasTag(let flag): writer.integer(UInt8(flag ? 1 : 0))
    case .key(let bytes): writer.counted(bytes)
    }
    return writer.finish(into: &output)
  }

  /// The type of the frame.
  public var type: FrameType {
    switch self {
    case .pong: .pong
    case .helloOK: .helloOK
    case .registerOK: .registerOK
    case .loginOK: .loginOK
    case .factsWanted: .factsWanted
    case .push: .push
    case .recall: .recall
    case .result: .result
    case .goAway: .goAway
    case .error: .error
    }
  }
}

extension FrameWriter {
  mutating func time(_ time: Timestamp) { integer(UInt64(max(0, time.milliseconds))) }
}
