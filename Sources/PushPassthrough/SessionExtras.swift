import PushBase
import PushWebSocket

/// What few sessions have at a time, beside `DeviceSession` so that a million idle ones do not pay for it. It belongs to one session.
final class SessionExtras {
  /// The beginning of a frame whose end has not come.
  var partial: [UInt8] = []
  /// The second at which the rest is overdue, however much of it has come meanwhile.
  var partialDeadline: UInt32 = 0
  /// What a connection over WebSocket needs besides, nil for a plain one.
  var webSocket: WebSocketState?
  /// Bytes that came after the end of the session.
  var skipped = 0
  /// What was sent before its turn while the session catches up.
  var sentOutOfTurn: Set<MessageID> = []
  /// What was recalled while it was perhaps being read for this session.
  var recalled: Set<MessageID> = []
  /// What is being read is out of date when it comes: more was recalled than is remembered.
  var isReadVoid = false
  /// When the device reported pushes that it has not acknowledged yet.
  var reported: [MessageID: Timestamp] = [:]

  /// Whether nothing is left of what it is for.
  var isEmpty: Bool {
    partial.isEmpty && webSocket == nil && skipped == 0 && sentOutOfTurn.isEmpty && recalled.isEmpty
      && !isReadVoid && reported.isEmpty
  }

  /// Keeps bytes of a frame until the rest arrives, which is overdue at a second. In place: the array grows by doubling.
  func hold(_ source: [UInt8], _ range: Range<Int>, until frameEnd: UInt32) {
    if partial.isEmpty { partialDeadline = frameEnd }
    // Twice as much at least, or each piece would move all before it.
    let needed = partial.count + range.count
    if needed > partial.capacity { partial.reserveCapacity(max(needed, 2 * partial.capacity)) }
    partial.append(contentsOf: source[range])
  }

  /// Most receipts that are remembered until the acknowledgement of their push.
  private static var mostReported: Int { 64 }

  /// Remembers when pushes were reported.
  func noteReported(_ ids: [MessageID], at now: Timestamp) {
    for id in ids {
      // Receipts of pushes that are acknowledged already are among them: they must not be in the way for good.
      if reported[id] == nil, reported.count >= Self.mostReported,
        let oldest = reported.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })
      {
        reported[oldest.key] = nil
      }
      reported[id] = min(reported[id] ?? now, now)
    }
  }
}

/// What was said on a WebSocket beside the device's frames.
struct WebSocketState {
  var reader: WebSocketReader
  /// The message under way has brought bytes.
  var hasBytes = false
  /// A fault was told: what still comes cannot be read.
  var isBroken = false
  /// Our Close is sent or queued.
  var hasSentClose = false
  /// The peer's Close has come, or is not waited for any more.
  var isClosed = false
  /// The second at which the message under way is overdue, nil between two. Of a message nothing is held but what the
  /// session has of an unfinished frame, and of a control frame 125 bytes at most.
  var messageDeadline: UInt32?

  /// Sees to the time that a message may take.
  mutating func noteMessage(until frameEnd: UInt32) {
    messageDeadline = reader.isUnderWay ? messageDeadline ?? frameEnd : nil
  }
}
