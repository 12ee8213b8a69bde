import BorealisBase

/// The pushes of one app for one gateway, at the home: each says which one was before it, so that the gateway
/// finds a gap. A gateway that is behind gets nothing; once there is room, it gets all open pushes after the
/// last one it was sent. A state machine without input or output.
struct DeliverySender {
  /// The epoch in which the home has the app.
  let epoch: Epoch
  /// The newest push sent.
  private(set) var sent: MessageID
  /// The newest push that the gateway has applied.
  private(set) var applied: MessageID
  /// Pushes after this one are to be replayed once there is room, or once the owner answers; nothing else is
  /// sent before.
  private(set) var owed: MessageID?
  /// The newest question for a replay that the gateway has numbered; 0 for none.
  private(set) var asked: UInt32 = 0

  /// Starts behind the pushes up to one, which the gateway has applied: `SessionList.applied`.
  init(epoch: Epoch, after id: MessageID) {
    self.epoch = epoch
    sent = id
    applied = id
  }

  /// Whether the gateway may lack something that was sent.
  var isUnconfirmed: Bool { applied < sent }

  /// The message for a live push, with the push before it; nil if a replay will have it.
  func prepare(_ message: ClusterMessage) -> ClusterMessage? {
    owed == nil ? message.following(sent) : nil
  }

  /// The link has taken a message that `prepare` gave.
  mutating func took(_ message: ClusterMessage) {
    guard let place = message.streamPlace else { return }
    if place.isLast { sent = max(sent, place.id) }
  }

  /// The link has refused a message, or the gateway asks for a replay: from here on nothing is sent but that.
  mutating func owe(_ request: ReplayRequest) {
    owed = min(owed ?? request.after, request.after)
    asked = max(asked, request.number)
  }

  /// Begins a replay of all open pushes after one.
  mutating func beginReplay(after id: MessageID) {
    owed = nil
    sent = id
  }

  /// The gateway says what it has applied.
  mutating func confirm(_ id: MessageID) { applied = max(applied, min(id, sent)) }
}

extension ClusterMessage {
  /// The same message with the push before it.
  func following(_ previous: MessageID) -> ClusterMessage {
    switch self {
    case .pushOne(var push):
      push.previous = previous
      return .pushOne(push)
    case .pushMany(var push):
      push.previous = previous
      return .pushMany(push)
    case .replayed(var end):
      end.previous = previous
      return .replayed(end)
    default: return self
    }
  }

  /// Where a message stands in the stream of its app; nil if it is not part of one.
  var streamPlace: (previous: MessageID, id: MessageID, part: UInt32, isLast: Bool)? {
    switch self {
    case .pushOne(let push): (push.previous, push.id, 0, true)
    case .pushMany(let push): (push.previous, push.id, push.part, !push.hasMore)
    case .replayed(let end): (end.previous, end.through, 0, true)
    default: nil
    }
  }
}
