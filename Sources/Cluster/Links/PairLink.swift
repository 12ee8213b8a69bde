import BorealisBase

/// What one node keeps about another: what it sends there, what it hears from there, and how far each side
/// has come. A state machine without input or output; `ClusterNode` owns one for each node.
struct PairLink {
  /// The other node.
  let peer: Incarnation
  /// What it last said about itself; nil before its first HELLO.
  private(set) var hello: NodeHello?
  /// The version that both speak; nil before the first HELLO, and if there is none.
  private(set) var version: UInt8?
  /// When something last came from it.
  private(set) var lastHeard: UInt64
  /// Nothing has come from it for a while.
  private(set) var isSilent = false
  /// How its clock differs from this node's.
  var clock = PeerClock()
  var outbound = FrameQueue()
  var inbound = InboundOrder()
  /// The pushes of own apps for it.
  private(set) var senders: [AppID: DeliverySender] = [:]
  /// Apps whose pushes it may lack.
  private var unconfirmed: Set<AppID> = []
  /// Apps of which it is to get a replay.
  private var owed: Set<AppID> = []
  /// Apps of its own whose position here is to be told to it.
  var positionsToReport: Set<AppID> = []
  /// Bytes that have come since it was last told.
  var bytesSinceApplied = 0
  /// It waits for word of how far this node has come.
  var owesApplied = false
  /// When it is told positions next.
  var nextPosition: UInt64

  init(peer: Incarnation, now: UInt64) {
    self.peer = peer
    lastHeard = now
    nextPosition = now + ClusterLimits.positionInterval
  }

  /// When something is to be done for it; silence is looked at with the positions.
  var deadline: UInt64 {
    let due = version == nil ? nil : outbound.deadline
    return min(due ?? .max, inbound.deadline ?? .max, nextPosition)
  }

  // MARK: The peer

  /// Handles the peer's HELLO; true the first time.
  mutating func handle(_ hello: NodeHello, own: ClosedRange<UInt8>) -> Bool {
    defer { self.hello = hello }
    version =
      hello.versions.overlaps(own) ? min(hello.versions.upperBound, own.upperBound) : nil
    return self.hello == nil
  }

  /// Something has come. True if the peer was silent.
  mutating func heard(now: UInt64) -> Bool {
    lastHeard = now
    defer { isSilent = false }
    return isSilent
  }

  /// True when the peer has just become silent.
  mutating func becomesSilent(now: UInt64) -> Bool {
    guard !isSilent, now >= lastHeard + ClusterLimits.silence else { return false }
    isSilent = true
    return true
  }

  // MARK: Pushes of own apps

  /// Starts the stream of an app behind what the gateway has applied.
  mutating func openStream(_ app: AppID, _ epoch: Epoch, after id: MessageID) {
    senders[app] = DeliverySender(epoch: epoch, after: id)
    unconfirmed.remove(app)
    owed.remove(app)
  }

  mutating func closeStream(_ app: AppID) {
    senders[app] = nil
    unconfirmed.remove(app)
    owed.remove(app)
  }

  /// Sends a message of a stream. False if a replay will have it.
  mutating func deliver(_ app: AppID, _ message: ClusterMessage, now: UInt64) -> Bool {
    guard version != nil, let sender = senders[app], let message = sender.prepare(message) else {
      return false
    }
    do throws(FrameQueue.Refusal) {
      try outbound.add(ClusterEntry(app: app, epoch: sender.epoch, message), now: now)
    } catch {
      owe(app, ReplayRequest(after: sender.sent))
      return false
    }
    senders[app]?.took(message)
    unconfirmed.insert(app)
    return true
  }

  /// The gateway is to get all open pushes of an app after one.
  mutating func owe(_ app: AppID, _ request: ReplayRequest) {
    guard senders[app] != nil else { return }
    senders[app]?.owe(request)
    owed.insert(app)
  }

  /// Begins a replay. False if there is no such stream.
  mutating func beginReplay(_ app: AppID, after id: MessageID) -> Bool {
    guard senders[app] != nil else { return false }
    senders[app]?.beginReplay(after: id)
    owed.remove(app)
    return true
  }

  /// The replays that are possible now, in the order of the apps.
  var possibleReplays: [(app: AppID, after: MessageID)] {
    guard !outbound.isBehind else { return [] }
    return owed.sorted { $0.rawValue < $1.rawValue }.compactMap { app in
      senders[app]?.owed.map { (app, $0) }
    }
  }

  /// The peer says what it has applied.
  mutating func confirm(_ positions: [AppPosition]) {
    for position in positions where senders[position.app]?.epoch == position.epoch {
      senders[position.app]?.confirm(position.id)
      if senders[position.app]?.isUnconfirmed == false { unconfirmed.remove(position.app) }
    }
  }

  /// The newest push sent of each app that the peer may lack.
  var unconfirmedPositions: [AppPosition] {
    unconfirmed.sorted { $0.rawValue < $1.rawValue }.compactMap { app in
      senders[app].map { AppPosition(app: app, epoch: $0.epoch, id: $0.sent) }
    }
  }
}
