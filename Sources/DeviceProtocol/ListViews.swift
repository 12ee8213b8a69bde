import BorealisBase

/// The message IDs of an ACK, read in place: nothing is copied.
public struct AckList: Hashable, Sendable {
  private let start: Int
  /// How many there are: 1 to 512.
  public let count: Int

  init(_ body: Range<Int>) throws(FrameError) {
    guard body.count.isMultiple(of: 8), WireLimits.acksPerFrame.contains(body.count / 8)
    else { throw .invalidCount }
    start = body.lowerBound
    count = body.count / 8
  }

  /// The range of the list in the span it was decoded from.
  public var range: Range<Int> { start..<start + 8 * count }

  /// The message ID at `index`, 0..<count; `bytes` must be the span that the frame was decoded from.
  public subscript(index: Int, in bytes: Span<UInt8>) -> MessageID {
    precondition(index >= 0 && index < count)
    return MessageID(bytes.bigEndian(at: start + 8 * index))
  }
}

/// A push that a device has processed, and how long ago it arrived.
public struct AgedAcknowledgement: Hashable, Sendable {
  /// The age of a push that arrived too long ago, or at a time that the device does not know.
  public static let unknownAge = UInt32.max

  /// The push.
  public let messageID: MessageID
  /// Milliseconds from its arrival at the device to the sending of this, by the device's monotonic clock.
  public let age: UInt32

  /// Makes the value from its parts.
  public init(_ messageID: MessageID, age: UInt32) {
    self.messageID = messageID
    self.age = age
  }
}

/// The entries of an ACK_AGE, read in place: nothing is copied.
public struct AgedAckList: Hashable, Sendable {
  static let entryBytes = 12

  private let start: Int
  /// How many there are: 1 to 512.
  public let count: Int

  init(_ body: Range<Int>) throws(FrameError) {
    guard body.count.isMultiple(of: Self.entryBytes),
      WireLimits.acksPerFrame.contains(body.count / Self.entryBytes)
    else { throw .invalidCount }
    start = body.lowerBound
    count = body.count / Self.entryBytes
  }

  /// The range of the list in the span it was decoded from.
  public var range: Range<Int> { start..<start + Self.entryBytes * count }

  /// The entry at `index`, 0..<count; `bytes` must be the span that the frame was decoded from.
  public subscript(index: Int, in bytes: Span<UInt8>) -> AgedAcknowledgement {
    precondition(index >= 0 && index < count)
    let place = start + Self.entryBytes * index
    return AgedAcknowledgement(
      MessageID(bytes.bigEndian(at: place)), age: bytes.bigEndian(at: place + 8))
  }
}

/// What a device reports about a push after it received it. The raw values are used on the wire.
public enum ReceiptKind: UInt8, Sendable, CaseIterable {
  /// The notification was shown.
  case shown = 1
  /// The user has tapped the notification.
  case tapped = 2
  /// The app has shown the in-app message. Since version 7.
  case inAppShown = 3
  /// The user has tapped the in-app message. Since version 7.
  case inAppTapped = 4

  /// The version of the protocol that has it.
  public var version: UInt8 {
    switch self {
    case .shown, .tapped: 1
    case .inAppShown, .inAppTapped: 7
    }
  }
}

/// One thing that happened to a push on a device.
public struct Receipt: Hashable, Sendable {
  /// What happened.
  public let kind: ReceiptKind
  /// To which push.
  public let messageID: MessageID

  /// Makes the value from its parts.
  public init(_ kind: ReceiptKind, _ messageID: MessageID) {
    self.kind = kind
    self.messageID = messageID
  }
}

/// The entries of a RECEIPT, read in place: nothing is copied.
public struct ReceiptList: Hashable, Sendable {
  private let start: Int
  /// How many there are: 1 to 256.
  public let count: Int

  init(_ body: Range<Int>, in bytes: Span<UInt8>) throws(FrameError) {
    guard body.count.isMultiple(of: 9), WireLimits.receiptsPerFrame.contains(body.count / 9)
    else { throw .invalidCount }
    for index in stride(from: body.lowerBound, to: body.upperBound, by: 9) {
      guard ReceiptKind(rawValue: bytes[index]) != nil else { throw .invalidValue }
    }
    start = body.lowerBound
    count = body.count / 9
  }

  /// The range of the list in the span it was decoded from.
  public var range: Range<Int> { start..<start + 9 * count }

  /// The entry at `index`, 0..<count; `bytes` must be the span that the frame was decoded from.
  public subscript(index: Int, in bytes: Span<UInt8>) -> Receipt {
    precondition(index >= 0 && index < count)
    let place = start + 9 * index
    // Decoding has checked every kind.
    return Receipt(ReceiptKind(rawValue: bytes[place]) ?? .shown, MessageID(bytes.bigEndian(at: place + 1)))
  }
}
