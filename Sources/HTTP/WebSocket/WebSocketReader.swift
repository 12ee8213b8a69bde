/// Reads the frames of a WebSocket client (RFC 6455 section 5) as they come, in pieces of any size: messages
/// of one kind, binary or text, without extensions.
///
/// No message data is stored: pieces are unmasked in place. Only a control frame, of at most 125 bytes, is
/// stored until it is complete.
package struct WebSocketReader: Sendable {
  /// What a client sent.
  package enum Event: Equatable, Sendable {
    /// The next bytes of a message are unmasked in this range, which is empty only if an empty frame ends the
    /// message.
    case piece(Range<Int>, endsMessage: Bool)
    /// A Ping with this content, to be answered with a Pong.
    case ping([UInt8])
    /// A Pong, which asks for nothing.
    case pong
    /// A Close with this code, nil if it gives none. What follows is skipped.
    case close(UInt16?)
  }

  private enum Stage: UInt8 {
    case first, second, length, mask, payload, closed
  }

  private enum Opcode {
    static let (continuation, text, binary): (UInt8, UInt8, UInt8) = (0, 1, 2)
    static let (close, ping, pong): (UInt8, UInt8, UInt8) = (8, 9, 10)
  }

  private let limit: Int
  /// The opcode of messages.
  private let kind: UInt8
  private var stage = Stage.first
  private var opcode: UInt8 = 0
  private var isFinal = false
  /// A message has begun and not ended; control frames may be inside it.
  private var isInMessage = false
  /// Bytes of the message in the frames up to this one.
  private var messageBytes = 0
  /// Bytes of a header field that are still to come.
  private var fieldBytes = 0
  private var isLong = false
  private var length: UInt64 = 0
  private var mask: UInt32 = 0
  /// Bytes of the payload that were unmasked.
  private var unmasked = 0
  /// Bytes of the payload that are still to come.
  private var left = 0
  private var control: [UInt8] = []

  /// Waits for the first frame. `limit` is the most bytes that a message may have in all its frames. With
  /// `isText` messages are text, whose UTF-8 the caller checks, and else binary.
  package init(limit: Int, isText: Bool = false) {
    self.limit = limit
    kind = isText ? Opcode.text : Opcode.binary
  }

  /// Whether a frame or a message has begun and not ended.
  package var isUnderWay: Bool { isInMessage || (stage != .first && stage != .closed) }

  private var isControl: Bool { opcode & 8 != 0 }

  /// Consumes bytes from `position` up to `end`, until there is an event, and moves `position` past them. Nil
  /// when all were consumed without an event. Do not call it after an error.
  package mutating func next(
    _ bytes: inout [UInt8], _ position: inout Int, end: Int
  ) throws(WebSocketFault) -> Event? {
    let end = min(end, bytes.count)
    while position < end {
      switch stage {
      case .closed: position = end
      case .payload: if let event = try readPayload(&bytes, &position, end) { return event }
      case .first, .second, .length, .mask:
        let byte = bytes[position]
        position += 1
        try readHeader(byte)
        if stage == .payload, left == 0, let event = try endFrame(position..<position) { return event }
      }
    }
    return nil
  }

  // MARK: Header

  private mutating func readHeader(_ byte: UInt8) throws(WebSocketFault) {
    switch stage {
    case .first: try beginFrame(byte)
    case .second: try beginLength(byte)
    case .length:
      length = length << 8 | UInt64(byte)
      fieldBytes -= 1
      if fieldBytes == 0 { try endLength() }
    case .mask:
      mask = mask << 8 | UInt32(byte)
      fieldBytes -= 1
      if fieldBytes == 0 {
        unmasked = 0
        stage = .payload
      }
    case .payload, .closed: break
    }
  }

  private mutating func beginFrame(_ byte: UInt8) throws(WebSocketFault) {
    // The bits between are for extensions, and none was agreed on.
    guard byte & 0x70 == 0 else { throw .protocolError }
    isFinal = byte & 0x80 != 0
    opcode = byte & 0x0f
    switch opcode {
    case Opcode.continuation: guard isInMessage else { throw .protocolError }
    case kind: guard !isInMessage else { throw .protocolError }
    case Opcode.text, Opcode.binary: throw .unsupportedData
    case Opcode.close, Opcode.ping, Opcode.pong: guard isFinal else { throw .protocolError }
    default: throw .protocolError
    }
    stage = .second
  }

  private mutating func beginLength(_ byte: UInt8) throws(WebSocketFault) {
    // A client masks every frame (section 5.1).
    guard byte & 0x80 != 0 else { throw .protocolError }
    length = UInt64(byte & 0x7f)
    guard length >= 126 else { return try accept(length) }
    guard !isControl else { throw .protocolError }
    isLong = length == 127
    fieldBytes = isLong ? 8 : 2
    length = 0
    stage = .length
  }

  private mutating func endLength() throws(WebSocketFault) {
    // As short as possible, and the topmost bit is 0 (section 5.2).
    guard length >= (isLong ? 65_536 : 126), length >> 63 == 0 else { throw .protocolError }
    try accept(length)
  }

  private mutating func accept(_ length: UInt64) throws(WebSocketFault) {
    if !isControl {
      guard length <= UInt64(limit - messageBytes) else { throw .messageTooBig }
      messageBytes += Int(length)
    }
    left = Int(length)
    fieldBytes = 4
    stage = .mask
  }

  // MARK: Payload

  private mutating func readPayload(
    _ bytes: inout [UInt8], _ position: inout Int, _ end: Int
  ) throws(WebSocketFault) -> Event? {
    let range = position..<(position + min(left, end - position))
    unmask(&bytes, range)
    position = range.upperBound
    left -= range.count
    if isControl { control += bytes[range] }
    if left == 0 { return try endFrame(range) }
    return isControl ? nil : .piece(range, endsMessage: false)
  }

  private mutating func unmask(_ bytes: inout [UInt8], _ range: Range<Int>) {
    for index in range {
      bytes[index] ^= UInt8(truncatingIfNeeded: mask >> (24 - 8 * UInt32(unmasked & 3)))
      unmasked &+= 1
    }
  }

  /// The frame is complete; `range` is its outcome last.
  private mutating func endFrame(_ range: Range<Int>) throws(WebSocketFault) -> Event? {
    stage = .first
    guard !isControl else { return try endControl() }
    isInMessage = !isFinal
    if isFinal { messageBytes = 0 }
    // An empty frame in the middle says nothing.
    return isFinal || !range.isEmpty ? .piece(range, endsMessage: isFinal) : nil
  }

  private mutating func endControl() throws(WebSocketFault) -> Event {
    var content: [UInt8] = []
    swap(&content, &control)
    switch opcode {
    case Opcode.ping: return .ping(content)
    case Opcode.pong: return .pong
    default:
      stage = .closed
      return .close(try Self.closeCode(content))
    }
  }

  /// The code of a Close, which a reason in UTF-8 may follow (sections 5.5.1 and 7.4).
  private static func closeCode(_ content: [UInt8]) throws(WebSocketFault) -> UInt16? {
    guard !content.isEmpty else { return nil }
    guard content.count >= 2 else { throw .protocolError }
    let code = UInt16(content[0]) << 8 | UInt16(content[1])
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: break
    default: throw .protocolError
    }
    guard String(validating: content[2...], as: UTF8.self) != nil else { throw .invalidText }
    return code
  }
}
