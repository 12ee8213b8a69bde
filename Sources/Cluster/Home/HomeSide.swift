import BorealisBase
import Core
import Model

/// What a home keeps of the gateways that are other nodes: it serves them from the same `LocalHome` as the
/// loops of its own process. Used on the link's thread only.
struct HomeSide: Sendable {
  let own: Incarnation
  private(set) var epochs: HomeEpochs
  /// Loops of this process have lower numbers.
  let loops: UInt16
  let router: Router
  let home: LocalHome
  let places: LoopDirectory
  let local: any DeviceGateway
  let time: any TimeSource
  var peers: [Incarnation: GatewayPeer] = [:]
  var output: [LinkAction] = []
  var requests = RequestTable()
  var recalls = HomeRecalls()
  var lost = LostGateways()
  private var orders = SessionOrders()
  private var question: UInt32 = 0
  private var nextNotice: UInt64
  /// How many questions for sessions gateways have answered.
  var answers: UInt64 = 0

  init(
    own: Incarnation, epochs: HomeEpochs, loops: UInt16, router: Router, home: LocalHome,
    places: LoopDirectory,
    local: any DeviceGateway, time: any TimeSource, now: UInt64
  ) {
    self.own = own
    self.epochs = epochs
    self.loops = loops
    self.router = router
    self.home = home
    self.places = places
    self.local = local
    self.time = time
    nextNotice = now
  }

  /// When `tick` has something to do.
  var deadline: UInt64 {
    peers.values.reduce(min(nextNotice, requests.deadline ?? .max, recalls.deadline)) {
      min($0, $1.nextAsk)
    }
  }

  /// The gateways that have reported all their sessions of an app.
  func reportedGateways(of app: AppID) -> Set<Incarnation> {
    Set(peers.values.filter { $0.hasReported(app) }.map(\.incarnation))
  }

  /// The order of an app's next login.
  mutating func nextOrder(of app: AppID) -> UInt64 { orders.next(in: epochs[app] ?? .none) }

  // MARK: Gateways

  /// Sends a message to a gateway.
  mutating func send(_ app: AppID, _ message: ClusterMessage, to peer: Incarnation) {
    output.append(.send(app, message, to: peer))
  }

  /// Hands over what came up since the last call, in order.
  mutating func flush(_ node: inout ClusterNode, now: UInt64) {
    guard !output.isEmpty else { return }
    for item in output { item.perform(on: &node, epochs, now: now) }
    output = []
  }

  /// A gateway was heard for the first time, or this node has just become the home.
  mutating func join(_ peer: Incarnation, now: UInt64) {
    guard peers[peer] == nil else { return }
    peers[peer] = GatewayPeer(peer)
    for app in epochs.questions { askForSessions(of: app, peer, now: now) }
    // Its devices may be those of a node that was cut off.
    output += recalls.announceRecent(to: peer, now: now)
  }

  /// Asks a gateway for its sessions of an app, with `.none` of all apps.
  private mutating func askForSessions(of app: AppID, _ peer: Incarnation, now: UInt64) {
    question += 1
    peers[peer]?.ask(app, question, next: now + HomeTiming.ask)
    send(app, .home(HomeNotice(incarnation: own)), to: peer)
    let wanted = SessionsWanted(request: question, buckets: [])
    send(app, .wantSessions(wanted), to: peer)
  }

  /// This node has become the home of an app, or of what belongs to none, beside other homes.
  mutating func begin(_ app: AppID, _ epoch: Epoch, now: UInt64) {
    epochs.begin(app, epoch)
    for peer in peers.keys.sorted() {
      if app == .none {
        send(app, .home(HomeNotice(incarnation: own)), to: peer)
      } else {
        askForSessions(of: app, peer, now: now)
      }
    }
  }

  /// Another node is the home of an app from now on, or will be.
  mutating func end(_ app: AppID) {
    epochs.end(app)
    for peer in peers.keys { peers[peer]?.forget(app) }
    requests.forget(app)
    recalls.forget(app)
    orders.forget(app)
  }

  /// A gateway, which said this of itself last, is dead for the database: its sessions end.
  mutating func forget(_ peer: Incarnation, _ hello: NodeHello?, now: UInt64) {
    guard let known = peers.removeValue(forKey: peer) else { return }
    // One that ends has sent its devices away.
    let hasDevices = hello?.isDraining != true
    if hasDevices {
      let own = router.apps.all.filter { epochs[$0.id] != nil && known.hasReported($0.id) }
      let numbers = own.map { ($0.id, known.table.numbers(of: $0.id)) }
      lost.add(hello?.name, Dictionary(numbers) { first, _ in first }, now: now)
    }
    requests.forget(peer)
    var answers: [HomeMessage] = []
    for (location, session) in known.table.all {
      let bound = BoundSession(app: session.app, number: session.number, location: location)
      // How they ended nobody has said.
      home.handle([.close(bound, .unknown)], answers: &answers)
    }
    places.forget(peer)
    recalls.forget(peer, hasDevices: hasDevices, now: now)
  }

  /// Sends again what is due.
  mutating func tick(now: UInt64) {
    for request in requests.popDue(now: now).again {
      guard let gateway = request.gateway else { continue }
      if case .late(let late) = request.message,
        let directory = router.apps.loaded(request.app)?.directory,
        peers[gateway]?.isWaiting(late, in: directory, places) != true
      {
        requests.confirm(request.key)
        continue
      }
      send(request.app, request.message, to: gateway)
    }
    output += recalls.tick(now: now)
    if now >= nextNotice {
      nextNotice = now + HomeTiming.notice
      // Where apps are divided, the homes of apps are told when they begin, and read from the database.
      for peer in peers.keys.sorted() where epochs[.none] != nil {
        send(.none, .home(HomeNotice(incarnation: own)), to: peer)
      }
    }
    for (peer, known) in peers where now >= known.nextAsk {
      for app in known.unanswered(now: now) { askForSessions(of: app, peer, now: now) }
    }
  }

  /// Announces a recall to all gateways with sessions of an app, until they confirm it.
  mutating func recall(_ id: MessageID, _ app: AppID, _ audience: NumberSet?, now: UInt64) {
    let gateways = peers.filter { $0.value.mayHaveSessions(of: app) }.keys
    let online = router.apps.loaded(app)?.directory.online ?? NumberSet()
    let lost = lost.count(app, audience, online: online, now: now)
    output += recalls.announce(id, app, audience, to: gateways.sorted(), lost: lost, now: now)
  }

  // MARK: Sessions of other homes

  /// This node's own sessions, which earlier homes accepted.
  mutating func adopt(_ sessions: SessionTable) {
    var bound: [AppID: [BoundSession]] = [:]
    for (location, session) in sessions.all.sorted(by: { $0.session.order < $1.session.order }) {
      guard let id = session.id else { continue }
      orders.note(session.order, of: location, session.app)
      let app = router.apps.loaded(session.app)
      let isBound =
        app.map {
          bind(id, session.number, of: $0, at: location, order: session.order, session.isForeground)
        } ?? false
      if isBound {
        bound[session.app, default: []].append(
          BoundSession(app: session.app, number: session.number, location: location))
      } else {
        local.send(.endSession(location, .loginAgain), to: location.loop)
      }
    }
    for (id, sessions) in bound {
      if let app = router.apps.loaded(id) { router.deliverReleased(to: sessions, of: app) }
    }
  }

  /// Makes a session that another home accepted its registration's, unless a newer login has taken its place.
  mutating func bind(
    _ id: RegistrationID, _ number: RegistrationNumber, of app: App, at location: Location, order: UInt64,
    _ isForeground: Bool
  ) -> Bool {
    let (isBound, replaced) = app.directory.bind(
      id, number, at: location, isForeground: isForeground, since: UInt32(clamping: time.now().seconds)
    ) { self.order(of: $0, app.id) > order }
    // It has logged in, and the home before may have been gone before that was stored.
    if isBound { router.registrations.confirm(number, in: app) }
    // Which of the two the device still uses nobody knows.
    if let replaced, replaced.loop < loops {
      local.send(.endSession(replaced, .loginAgain), to: replaced.loop)
    } else if let replaced {
      keepEnd(replaced, .loginAgain)
    }
    return isBound
  }

  private func order(of location: Location, _ app: AppID) -> UInt64 {
    guard let handle = places.handle(of: location) else { return orders.order(of: location, app) ?? .max }
    return peers[handle.incarnation]?.table[location]?.order ?? 0
  }

  /// Tells the gateway of a session to end it, until that confirms.
  mutating func keepEnd(_ location: Location, _ reason: EndReason) {
    guard let handle = places.handle(of: location),
      let session = peers[handle.incarnation]?.table[location]
    else {
      return
    }
    peers[handle.incarnation]?.table.withdraw(location)
    let message = ClusterMessage.endSession(
      SessionEnd(handle: handle, reason: OperationCoding.number(of: reason)))
    let now = time.sinceBoot()
    _ = requests.add(.endSession(handle), session.app, message, to: handle.incarnation, now: now)
    send(session.app, message, to: handle.incarnation)
  }

  /// Copies this process's sessions of an app, with nil of all, for the time when another node is home.
  mutating func copySessions(of id: AppID? = nil, to table: inout SessionTable) {
    for app in id.map({ [router.apps.loaded($0)].compactMap { $0 } }) ?? router.apps.all {
      for device in app.directory.connected(below: loops) {
        let order = orders.order(of: device.location, app.id) ?? nextOrder(of: app.id)
        table.insert(
          NodeSession(device, of: app.id, at: own, order, time.sinceBoot()), at: device.location)
      }
    }
  }
}
