import BorealisBase
import Core
import Model

/// Everything that a link's thread works on: the node, and what it is to the others.
struct NodeEngine: Sendable {
  /// This node is the home of all apps, or of some.
  struct Leadership: Sendable {
    var side: HomeSide
    /// The apps whose messages its loops take to the home themselves.
    var own: OwnApps
    let gateway: LinkGateway
    let term: UInt64
  }

  let loops: [LoopHome]
  let local: any DeviceGateway
  let queue: LinkQueue
  let time: any TimeSource
  var node: ClusterNode
  var gateway: GatewaySide
  var leadership: Leadership?
  /// The newest epoch of a home of all apps that was heard of.
  var epoch = Epoch.none
  /// The newest one that the database knows of.
  var storedEpoch = Epoch.none
  private var term: UInt64 = 0
  /// Apps that this node was about to hand over.
  var released: Set<AppID> = []
  /// What others are told once nothing is locked.
  private var events: [NodeEvent] = []
  private var frames: [(frame: [UInt8], target: BusTarget)] = []
  private var replies: [@Sendable () -> Void] = []
  /// Since when the database has an older epoch of an app than nodes say.
  var contradicted: [AppID: UInt64] = [:]

  /// What a turn has to say.
  struct Output {
    let frames: [(frame: [UInt8], target: BusTarget)]
    let events: [NodeEvent]
    /// Answers to calls that have waited.
    let replies: [@Sendable () -> Void]
  }

  init(
    _ node: ClusterNode, loops: [LoopHome], local: any DeviceGateway, queue: LinkQueue, time: any TimeSource
  ) {
    self.node = node
    self.loops = loops
    self.local = local
    self.queue = queue
    self.time = time
    gateway = GatewaySide(
      own: node.incarnation, local: local, time: time, now: time.sinceBoot())
  }

  // MARK: Turns

  /// Takes what has come, and does what is due.
  mutating func turn(_ received: [[UInt8]], now: UInt64) {
    for frame in received {
      node.receive(frame, now: now)
      handleOutput(now: now)
    }
    drainQueue(now: now)
    gateway.tick(&node, now: now)
    leadership?.side.tick(now: now)
    flush(now: now)
    repeat {
      node.tick(now: now)
      handleOutput(now: now)
    } while node.hasOutput || node.deadline <= now
  }

  /// When the next turn is due, if nothing comes before.
  var deadline: UInt64 {
    min(node.deadline, gateway.deadline, leadership?.side.deadline ?? .max)
  }

  /// Removes and returns the frames to publish and the other output since the last call.
  mutating func drainOutput() -> Output {
    replies += leadership?.side.recalls.drainReplies() ?? []
    defer { (frames, events, replies) = ([], [], []) }
    return Output(frames: frames, events: events, replies: replies)
  }

  mutating func flush(now: UInt64) { leadership?.side.flush(&node, now: now) }

  mutating func drainQueue(now: UInt64) {
    let (items, missed) = queue.drain()
    for item in items {
      switch item {
      case .fromLoop(let messages):
        let (own, others) = divide(messages)
        // On the way when this node became their home.
        if let home = leadership?.side.home, !own.isEmpty { handleLocally(own, home) }
        if !others.isEmpty { gateway.handle(others, &node, now: now) }
      case .toLoop(let message, _, let term):
        if term == leadership?.term { leadership?.side.deliver(message, now: now) }
      case .toAll(let message, let term):
        if term == leadership?.term { leadership?.side.deliverToAll(message, now: now) }
      case .recallWait(let key, let term, let done):
        if term == leadership?.term, leadership?.side.epochs[key.app] != nil {
          leadership?.side.recalls.wait(for: key, now: now, done)
        } else {
          // Another home has it now, and repeats it.
          let others = node.peers.count
          replies.append { done(others) }
        }
      }
      flush(now: now)
    }
    leadership?.side.missed(missed)
    flush(now: now)
  }

  /// Divides messages of loops into those for the home in this process and those for others.
  private func divide(_ messages: [GatewayMessage]) -> (own: [GatewayMessage], others: [GatewayMessage]) {
    guard let epochs = leadership?.side.epochs else { return ([], messages) }
    return messages.divided { place in
      switch place {
      case .key(let key): epochs[gateway.homes.app(of: key)] != nil
      case .app(let app): epochs[app] != nil
      case .session(let session): epochs[session.app] != nil || isOfNewApp(session)
      case .all: gateway.homes.isDivided ? nil : true
      }
    }
  }

  /// Has the home of this process handle messages of its own loops, and answers by mail.
  func handleLocally(_ messages: [GatewayMessage], _ home: LocalHome) {
    var answers: [HomeMessage] = []
    home.handle(messages, answers: &answers)
    for answer in answers {
      guard let loop = answer.loop else { continue }
      guard case .acknowledgementsReceived(let taken) = answer else {
        local.send(answer, to: loop)
        continue
      }
      // The loop has been told that all of them wait to be stored.
      let settled = taken.filter { $0.awaited < $0.count }.map {
        StoredAcknowledgements(location: $0.location, count: $0.count - $0.awaited)
      }
      if !settled.isEmpty { local.send(.stored(settled), to: loop) }
    }
  }

  private mutating func handleOutput(now: UInt64) {
    for item in node.drainOutput() {
      switch item {
      case .publish(let frame, let target): frames.append((frame, target))
      case .joined(let peer, let hello):
        leadership?.side.lost.found(hello.name)
        leadership?.side.join(peer, now: now)
        events.append(.joined(peer, hello))
      case .silent(let peer): events.append(.silent(peer, node.hello(of: peer)))
      case .heard(let peer): events.append(.heard(peer, node.hello(of: peer)))
      case .dropped(let peer): leadership?.side.forget(peer, nil, now: now)
      case .incompatible(let peer, let hello): events.append(.incompatible(peer, hello))
      case .newerTimeline(let timeline): events.append(.newerTimeline(timeline))
      case .foreign: events.append(.foreign)
      case .replay(let app, let peer, _): leadership?.side.replay(app, to: peer)
      case .message(let peer, let entry, let age): handle(entry, from: peer, age: age, now: now)
      // Requests are repeated, pushes replayed, sessions compared.
      case .gap, .changed: break
      }
      flush(now: now)
    }
  }

  private mutating func handle(_ entry: ClusterEntry, from peer: Incarnation, age: UInt64, now: UInt64) {
    // A gateway of the version before does not say when a device asked.
    let askedAt = node.moment(entry.message.askedAt, of: peer) ?? now
    if gateway.homes.isDivided {
      guard entry.message.isFromHome else {
        leadership?.side.handle(entry, from: peer, askedAt: askedAt, now: now)
        return
      }
      hear(entry, from: peer, now: now)
      gateway.handle(entry, from: peer, age: age, &node, now: now)
    } else if case .home(let notice) = entry.message, entry.app == .none {
      guard notice.incarnation == peer, entry.epoch > epoch, leadership == nil else { return }
      follow(peer, epoch: entry.epoch, now: now)
      events.append(.home(peer, entry.epoch))
    } else if leadership != nil {
      leadership?.side.handle(entry, from: peer, askedAt: askedAt, now: now)
    } else {
      gateway.handle(entry, from: peer, age: age, &node, now: now)
    }
  }

  // MARK: Changes

  /// The database says that another node is the home, or that nobody is.
  mutating func followStored(_ home: Incarnation?, epoch: Epoch, now: UInt64) {
    storedEpoch = max(storedEpoch, epoch)
    follow(home, epoch: epoch, now: now)
  }

  /// Another node is the home, or nobody is.
  private mutating func follow(_ home: Incarnation?, epoch: Epoch, now: UInt64) {
    guard !gateway.homes.isDivided, epoch >= self.epoch, home != node.incarnation else { return }
    let followed = home.map { FollowedHome(incarnation: $0, epoch: epoch) }
    guard leadership != nil || epoch > self.epoch || gateway.homes.common != followed else { return }
    self.epoch = epoch
    // What the router has said so far still goes to the other nodes: a recall is told once only.
    if leadership != nil { drainQueue(now: now) }
    stopLeading()
    gateway.follow(followed, &node, now: now)
  }

  mutating func stopLeading() {
    guard var old = leadership else { return }
    leadership = nil
    old.gateway.retire()
    replies += old.side.recalls.end()
    // From here on the loops' messages wait in the queue, behind the sessions that are read now.
    for loop in loops { loop.change(to: nil) }
    old.side.copySessions(to: &gateway.table)
    for app in old.side.router.apps.all { node.closeStreams(app.id) }
    guard old.side.epochs.isDivided else { return local.sendToAll(.abandoned(nil)) }
    for app in old.side.epochs.apps { local.sendToAll(.abandoned(app)) }
  }

  /// This node is the home, by the database: a later epoch that was heard of is none.
  mutating func lead(
    _ router: Router, epoch: Epoch, mayDecide: @escaping @Sendable () -> Bool, now: UInt64
  ) {
    guard !gateway.homes.isDivided, leadership == nil,
      epoch > storedEpoch || epoch == storedEpoch && gateway.homes.common == nil
    else { return }
    drainQueue(now: now)
    (self.epoch, storedEpoch) = (epoch, epoch)
    gateway.follow(nil, &node, now: now)
    // What was pushed since the last home was lost: from here on its sessions wait for it, before this home
    // has anything for them.
    local.sendToAll(.missed(nil))
    let home = begin(router, HomeEpochs(ofAll: epoch), mayDecide: mayDecide, now: now)
    leadership?.side.adopt(gateway.table)
    handleLocally(gateway.handOver(), home)
    for peer in node.peers { leadership?.side.join(peer, now: now) }
    flush(now: now)
    for loop in loops { loop.change(to: home) { drainQueue(now: now) } }
  }

  /// Plugs the connections of all nodes into a router, for what this node is the home of.
  @discardableResult
  mutating func begin(
    _ router: Router, _ epochs: HomeEpochs, mayDecide: @escaping @Sendable () -> Bool, now: UInt64
  ) -> LocalHome {
    term += 1
    let count = UInt16(clamping: loops.count)
    let places = LoopDirectory(local: count, mayDecide: mayDecide)
    let home = LocalHome(router, rules: places)
    let plugged = LinkGateway(local: local, loops: count, queue: queue, term: term)
    router.add(plugged)
    let side = HomeSide(
      own: node.incarnation, epochs: epochs, loops: count, router: router, home: home, places: places,
      local: local, time: time, now: now)
    leadership = Leadership(
      side: side, own: epochs.isDivided ? .none : .all, gateway: plugged, term: term)
    return home
  }

  /// What was recalled before this node became the home, which some nodes may not know: the home before may
  /// have gone before they confirmed it.
  mutating func repeatRecalls(_ recalls: [RecentRecall], of epoch: Epoch, now: UInt64) {
    guard let router = leadership?.side.router else { return }
    for recall in recalls where leadership?.side.epochs[recall.app] == epoch {
      let (app, id) = (recall.app, recall.id)
      if gateway.recalled.insert(RecallKey(app: app, id: id)) {
        let audience = recall.audience ?? router.apps.loaded(app)?.directory.online ?? NumberSet()
        local.sendToAll(.recall(id, app, audience: audience))
      }
      leadership?.side.recall(id, app, recall.audience, now: now)
    }
    flush(now: now)
  }

  /// A node is dead for the database.
  mutating func forget(_ peer: Incarnation, now: UInt64) {
    leadership?.side.forget(peer, node.hello(of: peer), now: now)
    node.forget(peer)
    if gateway.homes.isDivided {
      forgetApps(of: peer, now: now)
    } else if gateway.homes.common?.incarnation == peer {
      gateway.follow(nil, &node, now: now)
    }
    flush(now: now)
  }

  /// Goes on under another registration.
  mutating func rejoin(_ new: ClusterNode, now: UInt64) {
    stopLeading()
    // What the old registration had to say goes nowhere.
    (frames, node) = ([], new)
    gateway.rejoin(as: new.incarnation)
  }

  /// Notes what others are to be told.
  mutating func note(_ event: NodeEvent) { events.append(event) }

  /// Changes what the node says about itself.
  mutating func update(load: UInt32, isDraining: Bool) {
    node.update(load: load, isDraining: isDraining)
  }
}

extension HomeMessage {
  /// The loop of the connection that it is about; nil if it is about several.
  fileprivate var loop: UInt16? {
    switch self {
    case .loginResult(let location, _), .registerResult(let location, _),
      .stateApplied(let location, _),
      .result(let location, _, _), .pulled(let location, _), .waiting(let location, _),
      .push(_, _, let location), .endSession(let location, _):
      location.loop
    case .loginAgain(let login): login.location.loop
    case .acknowledgementsReceived(let taken): taken.first?.location.loop
    case .stored(let stored): stored.first?.location.loop
    case .broadcast, .recall, .factsWanted, .forget, .missed, .abandoned: nil
    }
  }
}
