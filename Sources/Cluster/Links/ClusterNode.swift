import BorealisBase

/// What a node has to publish, and what it has heard.
package enum ClusterOutput: Hashable, Sendable {
  /// A frame for the bus.
  case publish([UInt8], to: BusTarget)
  /// A node was heard for the first time.
  case joined(Incarnation, NodeHello)
  /// A node has said something new about itself.
  case changed(Incarnation, NodeHello)
  /// A node speaks no version that this one speaks: nothing is sent to it.
  case incompatible(Incarnation, NodeHello)
  /// Nothing has come from a node for six seconds.
  case silent(Incarnation)
  /// A silent node was heard again.
  case heard(Incarnation)
  /// A silent node has given its place to another one: it is known no more until it is heard.
  case dropped(Incarnation)
  /// A message, in the order in which its sender sent it, and for how many nanoseconds it was on its way
  /// beyond what is usual. Pushes come in the order of their stream and once.
  case message(from: Incarnation, ClusterEntry, age: UInt64)
  /// Messages of a node were lost: what the receiver believes about it has to be compared.
  case gap(from: Incarnation)
  /// A gateway is to get all open pushes of an app after one: the home answers with `replay`. Told again each
  /// second until then.
  case replay(AppID, to: Incarnation, after: MessageID)
  /// A node has seen a newer timeline of PostgreSQL than this one.
  case newerTimeline(UInt32)
  /// Frames of another cluster come over the subjects of this one. Told once.
  case foreign
}

/// Counts of what a node has met since it started.
package struct ClusterCounts: Hashable, Sendable {
  /// Frames sent, without those to all.
  package var sent: UInt64 = 0
  /// Frames that came.
  package var received: UInt64 = 0
  /// Frames that came again or too late.
  package var repeated: UInt64 = 0
  /// Frames of others that were given up.
  package var lost: UInt64 = 0
  /// Frames that could not be read.
  package var malformed: UInt64 = 0
  /// Frames of a type that this program does not know.
  package var unknown: UInt64 = 0
  /// Messages of a home that is one no longer.
  package var stale: UInt64 = 0
  /// Messages that were not taken, since their receiver is behind or not known.
  package var refused: UInt64 = 0
  /// Replays that this node asked for.
  package var replaysAsked: UInt64 = 0
}

/// What became of a message that was to be sent.
package enum SendResult: Hashable, Sendable {
  /// It is on its way, which may lose it.
  case sent
  /// The receiver has not applied enough of what it got.
  case behind
  /// The receiver has not said hello yet, or it speaks no common version.
  case unknown
  /// The message does not fit a frame.
  case tooLarge
}

/// A node of a cluster, as a state machine without input or output: messages, frames and moments go in;
/// frames to publish and events come out. It knows no bus, no database and no device. Moments are nanoseconds
/// of a clock that never jumps.
package struct ClusterNode: Sendable {
  package let cluster: ClusterName
  /// Which registration it is.
  package let incarnation: Incarnation
  /// What it has met.
  package internal(set) var counts = ClusterCounts()
  /// What it says about itself.
  var hello: NodeHello
  private var nextHello: UInt64
  /// Whether the next HELLO asks all others who they are.
  private var asksAll = false
  /// The newest timeline of PostgreSQL that it has seen; told to others with each position.
  package var timeline: UInt32 = 0
  private var heardTimeline: UInt32 = 0
  private var hasReportedForeign = false
  var links: [Incarnation: PairLink] = [:]
  /// Pushes of other homes' apps for this gateway.
  var receivers: [AppID: DeliveryReceiver] = [:]
  /// Own apps whose pushes this node's own gateway gets.
  private var localStreams: [AppID: Epoch] = [:]
  /// Nodes that are dead for the database; what they still say has no effect.
  var forgotten: Set<Incarnation> = []
  var output: [ClusterOutput] = []

  /// Starts; says hello with the first `tick`.
  package init(cluster: ClusterName, incarnation: Incarnation, hello: NodeHello, now: UInt64) {
    precondition(incarnation != .none, "a node has an incarnation")
    self.cluster = cluster
    self.incarnation = incarnation
    self.hello = hello
    nextHello = now
  }

  // MARK: Output

  /// Removes and returns the output since the last call, in order.
  package mutating func drainOutput() -> [ClusterOutput] {
    defer { output = [] }
    return output
  }

  /// Whether `drainOutput` has something.
  package var hasOutput: Bool { !output.isEmpty }

  /// When `tick` has something to do.
  package var deadline: UInt64 { links.values.reduce(nextHello) { min($0, $1.deadline) } }

  /// Sends and gives up what is due. Call it after other calls, too: a node that has sent nothing lately
  /// sends at once.
  package mutating func tick(now: UInt64) {
    if now >= nextHello {
      sayHello(to: .none, wantsAnswer: links.isEmpty || asksAll, now: now)
      asksAll = false
      nextHello = now + ClusterLimits.helloInterval
    }
    for peer in links.keys.sorted() {
      flush(peer, now: now)
      guard let link = links[peer] else { continue }
      if let due = link.inbound.deadline, due <= now {
        var frames: [InboundOrder.Output] = []
        links[peer]?.inbound.tick(now: now, &frames)
        apply(frames, from: peer, now: now)
      }
      if now >= link.nextPosition { reportPositions(peer, now: now) }
    }
  }

  private mutating func flush(_ peer: Incarnation, now: UInt64) {
    guard let link = links[peer], let version = link.version, let due = link.outbound.deadline, due <= now
    else { return }
    let frames =
      links[peer]?.outbound.popDue(now: now, cluster, version: version, from: incarnation, to: peer) ?? []
    for frame in frames { publish(frame, to: peer) }
  }

  private mutating func publish(_ frame: [UInt8], to peer: Incarnation) {
    counts.sent += 1
    output.append(.publish(frame, to: .node(peer)))
  }

  /// Publishes a message outside of the order of frames.
  mutating func publish(_ message: ClusterMessage, to peer: Incarnation, version: UInt8, now: UInt64) {
    let head = FrameHead(version: version, type: message.type, from: incarnation, to: peer, sequence: 0)
    let entry = ClusterEntry(app: .none, epoch: .none, message)
    guard let frame = ClusterFrame.encode(head, [entry], saidAt: now / 1_000_000, cluster: cluster)
    else { return }
    if peer == .none {
      output.append(.publish(frame, to: .all))
    } else {
      publish(frame, to: peer)
    }
  }

  mutating func sayHello(to peer: Incarnation, wantsAnswer: Bool, now: UInt64) {
    let hello = NodeHello(
      versions: hello.versions, name: hello.name, address: hello.address, program: hello.program,
      load: hello.load, isDraining: hello.isDraining, wantsAnswer: wantsAnswer,
      deviceAddress: hello.deviceAddress)
    publish(.hello(hello), to: peer, version: hello.versions.lowerBound, now: now)
  }

  // MARK: Nodes

  /// Changes what it says about itself.
  package mutating func update(load: UInt32, isDraining: Bool) {
    // Who ends next must not send its devices here.
    if isDraining != hello.isDraining { nextHello = 0 }
    hello = NodeHello(
      versions: hello.versions, name: hello.name, address: hello.address, program: hello.program,
      load: load, isDraining: isDraining, deviceAddress: hello.deviceAddress)
  }

  /// The bus can be used, for the first time or again: what was said before may be lost.
  package mutating func greet() { (nextHello, asksAll) = (0, true) }

  /// The nodes that have said hello, oldest first.
  package var peers: [Incarnation] { links.values.filter { $0.hello != nil }.map(\.peer).sorted() }

  /// Where the devices of this node may go when it ends: the addresses that other nodes have told, of those
  /// that are heard and stay.
  package var deviceAddresses: [String] {
    links.values.filter { !$0.isSilent }.compactMap(\.hello).filter { !$0.isDraining }.map(\.deviceAddress)
      .filter { !$0.isEmpty }.sorted()
  }

  /// The version that this node and another one speak with each other; nil before the other's first HELLO,
  /// and if there is none.
  package func version(with peer: Incarnation) -> UInt8? { links[peer]?.version }

  /// A moment of another node's clock, in milliseconds, on this node's; nil if it is not known how they
  /// differ.
  package func moment(_ milliseconds: UInt64, of peer: Incarnation) -> UInt64? {
    links[peer]?.clock.moment(milliseconds)
  }

  /// What a node last said about itself.
  package func hello(of peer: Incarnation) -> NodeHello? { links[peer]?.hello }

  /// A node is dead for the database: forgets it for good. Its sequence numbers would begin anew, which no
  /// receiver accepts.
  package mutating func forget(_ peer: Incarnation) {
    links[peer] = nil
    // Numbers grow: with room for many restarts, those of long ago need not be known.
    if forgotten.count >= 1024, let oldest = forgotten.min() { forgotten.remove(oldest) }
    forgotten.insert(peer)
  }

  // MARK: Messages

  /// Sends a message that is not part of a stream of pushes. To the node itself it comes back at once.
  @discardableResult
  package mutating func send(_ entry: ClusterEntry, to peer: Incarnation, now: UInt64) -> SendResult {
    guard peer != incarnation else {
      output.append(.message(from: incarnation, entry, age: 0))
      return .sent
    }
    guard links[peer]?.version != nil else {
      counts.refused += 1
      return .unknown
    }
    do throws(FrameQueue.Refusal) {
      try links[peer]?.outbound.add(entry, now: now)
      return .sent
    } catch {
      counts.refused += 1
      return error == .behind ? .behind : .tooLarge
    }
  }

  /// Starts the stream of an app's pushes to a gateway behind what that has applied, as it said in SESSIONS.
  package mutating func openStream(_ app: AppID, epoch: Epoch, to gateway: Incarnation, after id: MessageID) {
    if gateway == incarnation { localStreams[app] = epoch }
    links[gateway]?.openStream(app, epoch, after: id)
  }

  /// The node is no longer the home of an app.
  package mutating func closeStreams(_ app: AppID) {
    localStreams[app] = nil
    for gateway in links.keys { links[gateway]?.closeStream(app) }
  }

  /// Sends a push, which is newer than all before it for the app. False if the gateway gets it with a later
  /// `replay` instead: then nothing is kept of it here. To the node's own gateway it comes back at once.
  @discardableResult
  package mutating func deliver(_ app: AppID, _ message: ClusterMessage, to gateway: Incarnation, now: UInt64)
    -> Bool
  {
    precondition(message.streamPlace != nil, "only pushes are part of a stream")
    if gateway == incarnation, let epoch = localStreams[app] {
      output.append(.message(from: incarnation, ClusterEntry(app: app, epoch: epoch, message), age: 0))
      return true
    }
    let isSent = links[gateway]?.deliver(app, message, now: now) ?? false
    if !isSent { counts.refused += 1 }
    return isSent
  }

  /// Answers `ClusterOutput.replay`: all open pushes of an app after one, oldest first, and up to which they
  /// are complete. If the gateway falls behind on the way, the rest is asked for again.
  package mutating func replay(
    _ app: AppID, to gateway: Incarnation, after id: MessageID, _ pushes: [ClusterMessage],
    through last: MessageID, now: UInt64
  ) {
    guard links[gateway]?.beginReplay(app, after: id) == true else { return }
    for push in pushes {
      guard deliver(app, push, to: gateway, now: now) else { return }
    }
    let end = ReplayEnd(through: max(id, last), answers: links[gateway]?.senders[app]?.asked ?? 0)
    deliver(app, .replayed(end), to: gateway, now: now)
  }

  /// The newest push that this gateway has applied of an app.
  package func applied(of app: AppID) -> MessageID { receivers[app]?.applied ?? MessageID(0) }

  /// The newest epoch in which a home of an app was heard.
  package func epoch(of app: AppID) -> Epoch { receivers[app]?.epoch ?? .none }

  /// The database knows of no later epoch of an app: what was heard of one was not true.
  package mutating func believe(_ epoch: Epoch, of app: AppID) { receivers[app]?.fallBack(to: epoch) }

  /// The newest epoch in which a home of any app was heard.
  package var newestEpoch: Epoch { receivers.values.map(\.epoch).max() ?? .none }

  /// The same of all apps, which have one home.
  package mutating func believe(_ epoch: Epoch) {
    for app in receivers.keys { receivers[app]?.fallBack(to: epoch) }
  }

  /// Bytes that nodes keep for others, for metrics and tests.
  package var heldBytes: Int { links.values.reduce(0) { $0 + $1.inbound.heldBytes } }

  /// The most bytes that a peer has not applied.
  package var mostUnapplied: Int { links.values.map(\.outbound.cost).max() ?? 0 }

  // MARK: Positions

  private mutating func reportPositions(_ peer: Incarnation, now: UInt64) {
    links[peer]?.nextPosition = now + ClusterLimits.positionInterval
    if links[peer]?.becomesSilent(now: now) == true { output.append(.silent(peer)) }
    guard let link = links[peer], let version = link.version else { return }
    // Send nothing to a peer that has applied everything: such messages would be most of the traffic.
    let positions = link.unconfirmedPositions
    if !positions.isEmpty || link.outbound.isUnapplied {
      publishPositions(positions, of: link, version: version, now: now)
    }
    if link.owesApplied { reportApplied(peer, now: now) }
    for replay in link.possibleReplays {
      output.append(.replay(replay.app, to: peer, after: replay.after))
    }
  }

  private mutating func publishPositions(
    _ positions: [AppPosition], of link: PairLink, version: UInt8, now: UInt64
  ) {
    let most = ClusterLimits.positionsPerMessage
    for start in stride(from: 0, to: max(1, positions.count), by: most) {
      let part = Array(positions[start..<min(start + most, positions.count)])
      let message = LinkPosition(sequence: link.outbound.sequence, timeline: timeline, apps: part)
      publish(.position(message), to: link.peer, version: version, now: now)
    }
  }

  mutating func reportApplied(_ peer: Incarnation, now: UInt64) {
    guard let link = links[peer], let version = link.version else { return }
    links[peer]?.bytesSinceApplied = 0
    links[peer]?.owesApplied = false
    links[peer]?.positionsToReport = []
    let positions = link.positionsToReport.sorted { $0.rawValue < $1.rawValue }.compactMap { app in
      receivers[app].map { AppPosition(app: app, epoch: $0.epoch, id: $0.applied) }
    }
    let most = ClusterLimits.positionsPerMessage
    for start in stride(from: 0, to: max(1, positions.count), by: most) {
      let part = Array(positions[start..<min(start + most, positions.count)])
      let message = LinkApplied(sequence: link.inbound.passed, timeline: timeline, apps: part)
      publish(.applied(message), to: peer, version: version, now: now)
    }
  }

  /// A frame cannot be read.
  mutating func refuse(_ error: ClusterFrameError) {
    counts.malformed += 1
    guard error == .otherCluster, !hasReportedForeign else { return }
    hasReportedForeign = true
    output.append(.foreign)
  }

  mutating func hear(timeline: UInt32) {
    guard timeline > max(self.timeline, heardTimeline) else { return }
    heardTimeline = timeline
    output.append(.newerTimeline(timeline))
  }
}
