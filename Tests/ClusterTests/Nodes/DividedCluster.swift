import BorealisBase
import Core
import PushTesting
import Storage

@testable import Cluster

/// Three nodes, each of which is the home of some apps on one database of PostgreSQL, and a gateway of the
/// others.
final class DividedCluster: SimulatedCluster {
  private let postgres: PostgresCluster
  private let name: String
  private var slot = 0
  /// When another node takes what belongs to no app, whose home is dead.
  private var vacantUntil: UInt64?
  /// Whether nodes read where apps are.
  var readsHomes = true

  override init(seed: UInt64) throws {
    postgres = try .shared()
    name = try postgres.make()
    try super.init(seed: seed)
  }

  override var isDivided: Bool { true }

  /// Every node has some apps; unless they are `opened` they have just been made, and the links do not know
  /// of them yet.
  func startDivided(apps: Int, devicesPerApp: Int, opened: Bool = true) async throws {
    for _ in 0..<3 { nodes.append(try makeNode()) }
    try await assign(.installation, to: nodes[0])
    for index in 0..<apps {
      let node = nodes[index % 3]
      guard let router = node.router else { continue }
      let key = try await awaitCallback { done in
        router.apps.create("test", for: .standard) { done($0.map(\.key)) }
      }.get()
      let found = await awaitCallback { done in
        router.apps.find(key) { done($0) }
      }
      guard let app = try found.get() else { throw Failed(description: "no app") }
      try await addDevices(devicesPerApp, of: app, router)
      if opened { try await openNew(app.id, at: node) }
    }
  }

  /// Opens an app where it was made.
  func openNew(_ app: AppID, at node: Node) async throws {
    let row = try await node.own?.store.look { transaction throws(StorageError) in
      try transaction.homes.home(of: app)
    }
    guard let epoch = (row ?? nil)?.epoch else { throw Failed(description: "an app has no home") }
    node.link.open(app, epoch: Epoch(UInt64(epoch)))
  }

  override func makeNode() throws -> Node {
    let node = try super.makeNode()
    slot = slot % 127 + 1
    guard let slot = MessageSlot(slot) else { throw Failed(description: "no slot") }
    let number = Int64(node.incarnation.rawValue)
    let apps = AssignedApps(home: number, node: number, slot: slot)
    var options = Store.Options()
    (options.home, options.patience) = (apps, 0)
    let store = try Store.open(
      .postgres(url: postgres.url(of: name)), readers: 1, log: .silent, options: options)
    node.own = OwnStore(store: store, apps: apps)
    let router = Router(store: store, scope: .assigned(apps), time: clock, log: .silent)
    try router.load()
    node.router = router
    node.link.serve(router)
    return node
  }

  override func home(of key: AppKey) -> Router? {
    nodes.first { $0.router?.apps.loaded(key) != nil }?.router
  }

  // MARK: Homes

  /// Gives an app that has no home to a node, which loads it.
  private func assign(_ app: AppID, to node: Node) async throws {
    guard let own = node.own, let router = node.router else { return }
    let epoch = try await own.store.change { transaction throws(StorageError) in
      try transaction.homes.assign(app, to: own.apps)
    }
    guard let epoch else { throw Failed(description: "an app has a home") }
    try load(app, epoch, router, at: node)
  }

  private func load(_ app: AppID, _ epoch: Int64, _ router: Router, at node: Node) throws {
    note("\(node.incarnation) loads in epoch \(epoch)", of: app)
    defer { note("\(node.incarnation) has opened", of: app) }
    if app == .installation {
      node.own?.apps.insert(app)
    } else {
      guard try router.load(app) != nil else { throw Failed(description: "an app cannot be loaded") }
    }
    node.link.open(app, epoch: Epoch(UInt64(epoch)))
  }

  /// A node reads where apps are, follows their homes, and loads those that it was given.
  private func read(_ node: Node) async throws {
    guard let own = node.own, let router = node.router else { return }
    let rows = try await own.store.look { transaction throws(StorageError) in try transaction.homes.all() }
    let places = rows.map { row in
      let home = Incarnation(UInt64(row.home.incarnation))
      return AppPlace(
        app: row.app, key: row.key, home: nodes.contains { $0.incarnation == home } ? home : nil,
        epoch: Epoch(UInt64(row.home.epoch)))
    }
    node.link.follow(places)
    for row in rows where row.home.fence == own.apps.home && !own.apps.contains(row.app) && row.key != nil {
      try load(row.app, row.home.epoch, router, at: node)
    }
  }

  /// The home of what belongs to no app gives those without a home to the nodes.
  private func assignHomeless() async throws {
    guard let node = nodes.first(where: { $0.own?.apps.contains(.installation) == true }),
      let store = node.own?.store
    else { return }
    let alive = Set(nodes.map { Int64($0.incarnation.rawValue) })
    let (homeless, loads) = try await store.look { transaction throws(StorageError) in
      (try transaction.homes.homeless(), try transaction.homes.loads())
    }
    let candidates = loads.filter { alive.contains($0.key) }.map {
      HomeCandidate(node: $0.key, home: $0.key, apps: $0.value)
    }
    let placed = HomePlan.place(homeless, among: candidates).map { ($0.app, $0.home.home) }
    try await store.change { transaction throws(StorageError) in
      for (app, home) in placed { _ = try transaction.homes.assign(app, to: (node: home, home: home)) }
    }
  }

  /// What the threads of nodes do: each reads where apps are, though some miss it once; apps of dead homes
  /// get others.
  override func beginSecond() async throws {
    if let moment = vacantUntil, moment <= clock.monotonic() {
      vacantUntil = nil
      try await assign(.installation, to: nodes[Int.random(in: 0..<nodes.count, using: &random)])
    }
    try await assignHomeless()
    for node in nodes where readsHomes && Int.random(in: 0..<3, using: &random) > 0 { try await read(node) }
  }

  /// A node hands an app over to another one, while everything goes on.
  func move() async throws {
    let index = Int.random(in: 0..<keys.count, using: &random)
    guard let from = nodes.first(where: { $0.router?.apps.loaded(keys[index]) != nil }),
      let router = from.router, let app = router.apps.loaded(keys[index])?.id
    else { return }
    let others = nodes.filter { $0 !== from }
    let next = others[Int.random(in: 0..<others.count, using: &random)]
    guard let own = next.own?.apps, let nextRouter = next.router else { return }
    note("\(from.incarnation) releases for \(next.incarnation)", of: app)
    from.link.release(app)
    if Bool.random(using: &random) { try await run(milliseconds: 30) }
    let epoch = router.handOver(keys[index], to: (node: own.node, home: own.home), keepingSessions: true)
    guard let epoch else { throw Failed(description: "an app cannot be handed over") }
    if Bool.random(using: &random) {
      from.link.follow([
        AppPlace(app: app, key: keys[index], home: next.incarnation, epoch: Epoch(UInt64(epoch)))
      ])
    }
    if Bool.random(using: &random) { try await run(milliseconds: 30) }
    try load(app, epoch, nextRouter, at: next)
  }

  /// A hand-over fails, since the next home has no fence: the app stays.
  func moveInVain(meanwhile: () -> Void = {}) async throws {
    let index = Int.random(in: 0..<keys.count, using: &random)
    guard let from = nodes.first(where: { $0.router?.apps.loaded(keys[index]) != nil }),
      let router = from.router, let app = router.apps.loaded(keys[index])?.id
    else { return }
    let row = try await from.own?.store.look { transaction throws(StorageError) in
      try transaction.homes.home(of: app)
    }
    guard let row = row ?? nil else { return }
    note("\(from.incarnation) releases in vain", of: app)
    from.link.release(app)
    meanwhile()
    if Bool.random(using: &random) { try await run(milliseconds: 30) }
    guard router.handOver(keys[index], to: (node: 1, home: -1), keepingSessions: true) == nil else {
      throw Failed(description: "an app was handed over to nobody")
    }
    from.link.open(app, epoch: Epoch(UInt64(row.epoch)))
    note("\(from.incarnation) opens again", of: app)
  }

  /// A node dies with what it had in memory, and starts again with no app; its apps get other homes after a
  /// while.
  func kill(_ index: Int) async throws {
    let old = nodes[index]
    guard let own = old.own else { return }
    let other = nodes[(index + 1) % 3]
    try await other.own?.store.change { transaction throws(StorageError) in
      try transaction.homes.removeFence(of: own.apps.home)
    }
    for device in devices { device.note("node \(old.incarnation) dies", clock) }
    old.router?.unplug()
    old.router = nil
    try replace(index)
    own.store.close()
    if own.apps.contains(.installation) {
      vacantUntil = clock.monotonic() + UInt64.random(in: 0...3_000_000_000, using: &random)
    }
  }

  // MARK: Time and the end

  override func barrier() async throws {
    for node in nodes {
      guard let store = node.own?.store else { continue }
      _ = try await store.look { _ throws(StorageError) in 0 }
      _ = try await store.change { _ throws(StorageError) in 0 }
    }
  }

  /// What still waits by the database alone.
  override func waitingAfterRestart() async throws -> Int {
    for node in nodes { node.router?.finish() }
    try await barrier()
    let apps = devices.map(\.app)
    for index in nodes.indices { try await kill(index) }
    guard let node = nodes.first, let router = node.router else { return -1 }
    for app in Set(apps).sorted(by: { $0.rawValue < $1.rawValue }) { try await assign(app, to: node) }
    return devices.reduce(0) { sum, device in
      sum + (router.apps.loaded(device.key)?.directory.pendingCount(for: device.number) ?? 0)
    }
  }

  override func close() {
    super.close()
    for node in nodes { node.own?.store.close() }
  }
}
