import BorealisBase
import BorealisProtocol
import HTTP

/// State that few sessions have at a time, outside of `DeviceSession` so that a million idle ones do not pay
/// for it. It belongs to one session.
final class SessionExtras {
  /// The bytes of an incomplete frame.
  var partial: [UInt8] = []
  /// The second at which the rest is overdue, however much of it has arrived.
  var partialDeadline: UInt32 = 0
  /// The state of a WebSocket connection, nil for a plain one.
  var webSocket: WebSocketState?
  /// What it knows as a browser of the autopush protocol, nil for all others.
  var autopush: AutopushState?
  /// Bytes that came after the end of the session.
  var skipped = 0
  /// Pushes sent out of order, above the largest one sent in order.
  var sentOutOfTurn: Set<MessageID> = []
  /// Pushes that were held back and could not be sent when their moment had come, to be read with what waits;
  /// true for those that waited already when the current reading began.
  private(set) var left: [MessageID: Bool] = [:]
  /// Pushes recalled while they may be being read for this session.
  var recalled: Set<MessageID> = []
  /// Whether the pushes being read are outdated: more were recalled than are remembered.
  var isReadVoid = false
  /// Whether more were left than are remembered: only another login brings them.
  private(set) var hasForgottenLeft = false
  /// When the device reported pushes that it has not acknowledged yet.
  var reported: [MessageID: Timestamp] = [:]

  /// Whether it is empty.
  var isEmpty: Bool {
    partial.isEmpty && webSocket == nil && skipped == 0 && sentOutOfTurn.isEmpty && recalled.isEmpty
      && !isReadVoid && reported.isEmpty && left.isEmpty && !hasForgottenLeft
  }

  /// Stores bytes of a frame until the rest arrives, which is overdue at a second. In place: the array grows
  /// by doubling.
  func hold(_ source: [UInt8], _ range: Range<Int>, until frameEnd: UInt32) {
    if partial.isEmpty { partialDeadline = frameEnd }
    // At least twice as much, or each piece would move all earlier bytes.
    let needed = partial.count + range.count
    if needed > partial.capacity { partial.reserveCapacity(max(needed, 2 * partial.capacity)) }
    partial.append(contentsOf: source[range])
  }

  /// Pushes sent out of order that are remembered.
  private static var mostOutOfTurn: Int { 64 }

  /// Remembers a push that was sent out of order.
  func noteOutOfTurn(_ id: MessageID) {
    sentOutOfTurn.insert(id)
    if sentOutOfTurn.count > Self.mostOutOfTurn, let oldest = sentOutOfTurn.min() {
      sentOutOfTurn.remove(oldest)
    }
  }

  /// Pushes up to this one were sent in order by now.
  func forgetOutOfTurn(through id: MessageID) {
    if !sentOutOfTurn.isEmpty { sentOutOfTurn = sentOutOfTurn.filter { id < $0 } }
  }

  /// Pushes that were left, and are remembered.
  static var mostLeft: Int { 64 }

  /// Remembers a push that could not be sent now.
  func noteLeft(_ id: MessageID) {
    if left[id] != nil || left.count < Self.mostLeft { left[id] = false } else { hasForgottenLeft = true }
  }

  /// A push was sent, or will not be.
  func forgetLeft(_ id: MessageID) { if !left.isEmpty { left[id] = nil } }

  /// What waits is read from the first of them on.
  func beginReadingLeft() { for id in left.keys { left[id] = true } }

  /// What waited when the reading began is sent up to a push, or ended.
  func forgetLeft(readThrough id: MessageID) {
    if !left.isEmpty { left = left.filter { id < $0.key || !$0.value } }
  }

  /// Recalls that are remembered while contents are being read.
  private static var mostRecalled: Int { 256 }

  /// Remembers a recall of a push that may be being read.
  func noteRecalled(_ id: MessageID) {
    if recalled.count < Self.mostRecalled { recalled.insert(id) } else { isReadVoid = true }
  }

  /// What was read is done.
  func forgetRecalled() {
    recalled = []
    isReadVoid = false
  }

  /// Nothing more is sent on the session.
  func forgetDelivery() {
    forgetRecalled()
    (sentOutOfTurn, reported, left, hasForgottenLeft) = ([], [:], [:], false)
  }

  /// Most receipts that are remembered until the acknowledgement of their push.
  private static var mostReported: Int { 64 }

  /// Remembers when pushes were reported.
  func noteReported(_ ids: [MessageID], at now: Timestamp) {
    for id in ids {
      // They include receipts of pushes that are acknowledged already, which must not stay forever.
      if reported[id] == nil, reported.count >= Self.mostReported,
        let oldest = reported.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })
      {
        reported[oldest.key] = nil
      }
      reported[id] = min(reported[id] ?? now, now)
    }
  }
}

/// For another process, which goes on with the session.
extension SessionExtras {
  /// Writes what does not concern the pushes that are being read: the other process reads them anew.
  func write(to writer: inout ByteWriter, at second: UInt32) {
    writer.write(UInt32(partial.count))
    writer.write(bytes: partial)
    writer.write(partialDeadline > second ? partialDeadline &- second : 0)
    for ids in [Array(sentOutOfTurn), Array(left.keys)] {
      writer.write(UInt16(clamping: ids.count))
      for id in ids { writer.write(id.rawValue) }
    }
    writer.write(UInt8(hasForgottenLeft ? 1 : 0))
    writer.write(UInt16(clamping: reported.count))
    for (id, moment) in reported {
      writer.write(id.rawValue)
      writer.write(moment.milliseconds)
    }
  }

  /// Reads what `write` wrote; nil if it is something else. `second` is the present one.
  convenience init?(from reader: inout ByteReader, at second: UInt32) {
    self.init()
    guard let size = reader.read(UInt32.self), Int(size) <= WireLimits.maxFrame + WireLimits.maxLengthBytes,
      let partial = reader.read(count: Int(size)), let time = reader.read(UInt32.self),
      let sent = Self.readIDs(from: &reader, most: Self.mostOutOfTurn),
      let left = Self.readIDs(from: &reader, most: Self.mostLeft), let forgotten = reader.read(UInt8.self),
      forgotten <= 1, let count = reader.read(UInt16.self), Int(count) <= Self.mostReported
    else { return nil }
    (self.partial, partialDeadline) = (partial, second &+ time)
    sentOutOfTurn = Set(sent)
    for id in left { noteLeft(id) }
    hasForgottenLeft = forgotten == 1
    for _ in 0..<count {
      guard let id = reader.read(UInt64.self), let moment = reader.read(Int64.self) else { return nil }
      reported[MessageID(id)] = Timestamp(milliseconds: moment)
    }
  }

  private static func readIDs(from reader: inout ByteReader, most: Int) -> [MessageID]? {
    guard let count = reader.read(UInt16.self), Int(count) <= most else { return nil }
    var ids: [MessageID] = []
    for _ in 0..<count {
      guard let id = reader.read(UInt64.self) else { return nil }
      ids.append(MessageID(id))
    }
    return ids
  }
}

/// The state of a WebSocket besides the device's frames.
struct WebSocketState {
  var reader: WebSocketReader
  /// The current message has had bytes.
  var hasBytes = false
  /// A protocol error was reported: further bytes cannot be interpreted.
  var isBroken = false
  /// Our Close is sent or queued.
  var hasSentClose = false
  /// The peer's Close was received, or is no longer awaited.
  var isClosed = false
  /// The second at which the current message is overdue, nil between messages. Only the incomplete frame of a
  /// message is stored, and at most 125 bytes of a control frame.
  var messageDeadline: UInt32?

  /// Sets the deadline of a message.
  mutating func noteMessage(until frameEnd: UInt32) {
    messageDeadline = reader.isUnderWay ? messageDeadline ?? frameEnd : nil
  }
}
