import BorealisBase
import Core
import Model
import Synchronization

/// Who a node is.
package struct NodeIdentity: Sendable {
  package let cluster: ClusterName
  /// Its registration in the database.
  package let incarnation: Incarnation
  /// Its name, which stays the same when it starts again.
  package let name: String
  /// Where other nodes reach it: `host:port`.
  package let address: String
  /// The version of its program, for people.
  package let program: String
  /// Where devices reach it, and no other node: `host:port`; empty if there is no such address.
  package let deviceAddress: String

  package init(
    cluster: ClusterName, incarnation: Incarnation, name: String, address: String, program: String,
    deviceAddress: String = ""
  ) {
    self.cluster = cluster
    self.incarnation = incarnation
    self.name = name
    self.address = address
    self.program = program
    self.deviceAddress = deviceAddress
  }
}

/// What happens to a node's links.
package enum NodeEvent: Sendable {
  /// A node said that it is the home in a newer epoch; it is followed.
  case home(Incarnation, Epoch)
  /// A node said that it is the home of an app, with `.none` of what belongs to no app, in a newer epoch; it
  /// is followed.
  case app(AppID, Incarnation, Epoch)
  /// A node was heard for the first time.
  case joined(Incarnation, NodeHello)
  /// Nothing has come from a node for six seconds.
  case silent(Incarnation, NodeHello?)
  /// A silent node was heard again.
  case heard(Incarnation, NodeHello?)
  /// A node speaks no version that this one speaks.
  case incompatible(Incarnation, NodeHello)
  /// A node has seen a newer timeline of PostgreSQL than this one.
  case newerTimeline(UInt32)
  /// Nodes of another database, or of another cluster, use this cluster's subjects. Told once.
  case foreign
  /// This node, which is the home now, cannot read what the home before has recalled.
  case recallsUnread
  /// Something happened to the connection to the bus.
  case bus(BusEvent)
}

/// How a node's links stand.
package struct NodeLinkStatus: Sendable {
  /// The home of all apps, or of what belongs to no app, that is followed; nil while this node is it, and
  /// while nobody is.
  package let home: Incarnation?
  /// The newest epoch known.
  package let epoch: Epoch
  /// Whether this node is the home of all apps, or can be that of some.
  package let isLeading: Bool
  /// Sessions of this process at other homes, and those of other nodes at this one.
  package let sessions: Int
  /// What no home has confirmed.
  package let unconfirmed: Int
  package let unconfirmedBytes: Int
  /// What the node has met.
  package let counts: ClusterCounts
  /// What the bus has met.
  package let bus: BusCounts
  /// Whether the bus said last that it can be used.
  package let isBusConnected: Bool
}

/// Connects the devices of this process with the homes of their apps, wherever those are, and, while this
/// process is a home, the devices of all nodes with its router. One home has all apps, or each app has one of
/// its own. Safe to use from any thread but its own; loops never wait for it.
package final class NodeLink: Sendable {
  /// Makes the connection to the bus for a registration; `wake` is called when there is something to take.
  package typealias Connect =
    @Sendable (Incarnation, _ wake: @escaping @Sendable () -> Void)
    throws(SystemThread.Failure) -> any Bus

  /// Nanoseconds from one turn to the next at most.
  private static let longestWait: UInt64 = 60_000_000_000

  private let identity: NodeIdentity
  private let time: any TimeSource
  private let events: @Sendable (NodeEvent) -> Void
  private let connect: Connect
  private let loops: [LoopHome]
  private let queue: LinkQueue
  private let engine: Mutex<NodeEngine>
  private let bus: Mutex<any Bus>
  private let work: Semaphore
  private let told = Semaphore()
  private let ended = Semaphore()
  private let isClosing = Atomic<Bool>(false)
  private let isBusConnected = Atomic<Bool>(false)
  private let hasThread: Bool

  /// Starts with nobody as the home. `gateway` are the connections of this process, which has so many loops.
  /// `events` is called on the link's thread and must not block.
  package convenience init(
    _ identity: NodeIdentity, gateway: any DeviceGateway, loops: Int,
    time: any TimeSource = SystemTime(),
    events: @escaping @Sendable (NodeEvent) -> Void = { _ in }, connect: @escaping Connect
  ) throws(SystemThread.Failure) {
    try self.init(
      identity, gateway: gateway, loops: loops, time: time, hasThread: true,
      events: events, connect: connect)
    do throws(SystemThread.Failure) {
      try SystemThread.start("cluster") { [self] in
        while !isClosing.load(ordering: .acquiring) {
          let due = turn()
          let now = time.sinceBoot()
          // What waits for a semaphore goes by the clock that stands still in a suspended machine.
          _ = work.wait(until: time.monotonic() &+ (due > now ? min(due - now, Self.longestWait) : 0))
        }
        ended.signal()
      }
    } catch {
      bus.withLock { $0 }.close()
      throw error
    }
  }

  /// Without a thread if a test takes the turns.
  init(
    _ identity: NodeIdentity, gateway: any DeviceGateway, loops: Int,
    time: any TimeSource, hasThread: Bool,
    events: @escaping @Sendable (NodeEvent) -> Void = { _ in }, connect: @escaping Connect
  ) throws(SystemThread.Failure) {
    self.identity = identity
    self.time = time
    self.events = events
    self.connect = connect
    self.hasThread = hasThread
    let work = Semaphore()
    self.work = work
    let queue = LinkQueue(work: work)
    self.queue = queue
    let homes = (0..<loops).map { _ in LoopHome(queue) }
    self.loops = homes
    engine = Mutex(
      NodeEngine(
        Self.node(identity, as: identity.incarnation, time), loops: homes, local: gateway, queue: queue,
        time: time))
    bus = Mutex(try connect(identity.incarnation) { work.signal() })
  }

  private static func node(
    _ identity: NodeIdentity, as incarnation: Incarnation, _ time: any TimeSource
  ) -> ClusterNode {
    ClusterNode(
      cluster: identity.cluster, incarnation: incarnation,
      hello: NodeHello(
        name: identity.name, address: identity.address, program: identity.program,
        deviceAddress: identity.deviceAddress),
      now: time.sinceBoot())
  }

  /// The home of all apps for one loop, the same object for life.
  package func home(ofLoop index: Int) -> any AppHome { loops[index] }

  // MARK: Turns

  /// Does what is due; the moment of the next turn.
  func turn() -> UInt64 {
    let bus = bus.withLock { $0 }
    let (received, busEvents) = bus.drain()
    let (output, deadline, hasReported) = engine.withLock { engine in
      let before = engine.leadership?.side.answers
      if busEvents.contains(.connected) { engine.node.greet() }
      engine.turn(received, now: time.sinceBoot())
      return (engine.drainOutput(), engine.deadline, engine.leadership?.side.answers != before)
    }
    for (frame, target) in output.frames { bus.publish(frame, to: target) }
    if hasReported { told.signal() }
    for event in busEvents { note(event) }
    for event in output.events { events(event) }
    for reply in output.replies { reply() }
    return deadline
  }

  private func note(_ event: BusEvent) {
    switch event {
    case .connected: isBusConnected.store(true, ordering: .relaxed)
    case .disconnected: isBusConnected.store(false, ordering: .relaxed)
    case .failed, .overflowed, .unsealed: break
    }
    events(.bus(event))
  }

  private func change(_ body: (inout NodeEngine, _ now: UInt64) -> Void) {
    engine.withLock { body(&$0, time.sinceBoot()) }
    work.signal()
  }

  // MARK: Homes

  /// This node is a gateway of a home; with nil, nobody is home now. An epoch older than the newest known has
  /// no effect. If this node was the home, it is none any more: its router reaches no device, and the devices
  /// stay.
  package func follow(_ home: Incarnation?, epoch: Epoch) {
    change { $0.followStored(home, epoch: epoch, now: $1) }
  }

  /// The database has said a moment ago that this is the newest epoch of a home of all apps, and which node
  /// that is, nil for this one or nobody; nil as a whole if it does not answer. To be said each second: a
  /// later epoch of which only the bus knows is forgotten after ten seconds.
  package func confirm(_ stored: (home: Incarnation?, epoch: Epoch)?) {
    engine.withLock { $0.confirm(stored, now: time.sinceBoot()) }
  }

  /// This node is the home of all apps. The router is loaded; connections of devices are plugged into it
  /// here. `mayDecide` is asked before something final is said to a device: without a yes it is told to try
  /// again.
  package func lead(
    _ router: Router, epoch: Epoch, mayDecide: @escaping @Sendable () -> Bool = { true }
  ) {
    change { $0.lead(router, epoch: epoch, mayDecide: mayDecide, now: $1) }
    router.recentRecalls { [weak self] in self?.repeatRecalls($0, epoch) }
  }

  private func repeatRecalls(_ found: Result<[RecentRecall], DeviceFailure>, _ epoch: Epoch) {
    switch found {
    case .success(let recalls): change { $0.repeatRecalls(recalls, of: epoch, now: $1) }
    case .failure: events(.recallsUnread)
    }
  }

  // MARK: Homes of some apps

  /// From now on each app has a home of its own: a home of all apps is followed no more.
  package func divide() { change { $0.divide(now: $1) } }

  /// Apps, which are divided, have these homes; what is older than what is known has no effect.
  package func follow(_ places: [AppPlace]) { change { $0.follow(places, now: $1) } }

  /// This node can be the home of some apps, which divides them; it has none yet. Connections of devices are
  /// plugged into the router here. `mayDecide` is asked before something final is said to a device.
  package func serve(_ router: Router, mayDecide: @escaping @Sendable () -> Bool = { true }) {
    change { $0.serve(router, mayDecide: mayDecide, now: $1) }
  }

  /// This node is the home of an app that its router has, or with `.none` of what belongs to no app, after
  /// `serve`.
  package func open(_ app: AppID, epoch: Epoch) {
    change { $0.open(app, epoch: epoch, now: $1) }
    let router = engine.withLock { $0.leadership?.side.router }
    guard app != .none, let router else { return }
    router.recentRecalls(of: app) { [weak self] in self?.repeatRecalls($0, epoch) }
  }

  /// This node is about to hand an app over. Its devices stay, and what they say from now on waits for the
  /// next home; what they have asked before is answered. `open` with the same epoch takes this back.
  package func release(_ app: AppID) { change { $0.release(app, now: $1) } }

  /// This node, which is the home of some apps, is that of none any more, though nobody else is it yet: its
  /// devices stay and wait for the next homes.
  package func resign() { change { $0.resign(now: $1) } }

  /// Waits until nodes have told this home all their sessions, of one app or of all; false if one has not
  /// after so many nanoseconds.
  package func waitForSessions(
    of nodes: [Incarnation], app: AppID = .none, atMost nanoseconds: UInt64 = 3_000_000_000
  ) -> Bool {
    let end = time.monotonic() + nanoseconds
    let wanted = Set(nodes)
    while true {
      if engine.withLock({ wanted.isSubset(of: $0.leadership?.side.reportedGateways(of: app) ?? []) }) {
        return true
      }
      guard told.wait(until: end) else { return false }
    }
  }

  /// A node is dead for the database: its sessions end at the home, and what it still says has no effect.
  package func forget(_ node: Incarnation) { change { $0.forget(node, now: $1) } }

  /// This node was declared dead, and has registered anew. Its devices stay; nobody is home until it is said
  /// who is.
  package func rejoin(as incarnation: Incarnation) throws(SystemThread.Failure) {
    let new = try connect(incarnation) { [work] in work.signal() }
    let old = bus.withLock { bus in
      defer { bus = new }
      return bus
    }
    isBusConnected.store(false, ordering: .relaxed)
    change { $0.rejoin(Self.node(identity, as: incarnation, time), now: $1) }
    // Beside the rest: it waits for a bus that stands still, some seconds at most.
    do throws(SystemThread.Failure) {
      try SystemThread.start("bus end") { old.close() }
    } catch {
      old.close()
    }
  }

  /// Changes what this node says about itself.
  package func update(load: UInt32, isDraining: Bool) {
    change { engine, _ in engine.update(load: load, isDraining: isDraining) }
  }

  // MARK: Status

  /// The other nodes that have said hello, oldest first.
  package var peers: [(incarnation: Incarnation, hello: NodeHello)] {
    engine.withLock { engine in
      engine.node.peers.compactMap { peer in engine.node.hello(of: peer).map { (peer, $0) } }
    }
  }

  /// Where the devices of this node may go when it ends.
  package var deviceAddresses: [String] { engine.withLock { $0.node.deviceAddresses } }

  /// How the links stand.
  package var status: NodeLinkStatus {
    let counts = bus.withLock { $0 }.counts
    return engine.withLock { engine in
      let side = engine.leadership?.side
      return NodeLinkStatus(
        home: engine.gateway.homes.common?.incarnation,
        epoch: max(engine.epoch, engine.gateway.homes.epoch(of: .none)), isLeading: side != nil,
        sessions: engine.gateway.table.count + (side?.peers.values.reduce(0) { $0 + $1.table.count } ?? 0),
        unconfirmed: engine.gateway.requests.count + (side.map { $0.requests.count + $0.recalls.count } ?? 0),
        unconfirmedBytes: engine.gateway.requests.bytes
          + (side.map { $0.requests.bytes + $0.recalls.bytes } ?? 0),
        counts: engine.node.counts,
        bus: counts, isBusConnected: isBusConnected.load(ordering: .relaxed))
    }
  }

  /// Ends the thread and the connection to the bus. Not on the link's thread.
  package func close() {
    guard !isClosing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.close()
    work.signal()
    if hasThread { ended.wait() }
    bus.withLock { $0 }.close()
  }
}
