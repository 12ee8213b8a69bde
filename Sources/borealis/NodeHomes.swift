import PushBase
import PushCluster
import PushForwarding
import PushMembership
import PushNodes
import PushRouter
import PushStorage
import Synchronization

/// The apps of a node that is one of several homes. A thread of its own reads each second where apps have their homes, takes over those
/// that this node was given, and, while this node has what belongs to no app, gives those without a home to nodes.
final class NodeHomes: Sendable {
  private struct State {
    var rows: [AppHomeRow] = []
    var sharing = SharingApps()
    /// What has to have the same home.
    var bundles = AppBundles.none
    var mark: HomesMark?
    /// Apps that devices have here.
    var opened: Set<AppID> = []
    /// Those that could not be read, so that the log says so once.
    var unread: Set<AppID> = []
    /// Those of them whose requests are served here, since all nodes have told their devices, or could have.
    var served: Set<AppID> = []
    /// Until when nodes may tell their devices of an app.
    var patience: [AppID: UInt64] = [:]
    /// When nodes were seen first.
    var seen: [Int64: UInt64] = [:]
    var isHandingOver = false
    var failure = ""
  }

  let own: AssignedApps
  let store: Store
  let router: Router
  private let registry: NodeRegistry
  private let link: NodeLink
  private let forwarder: RequestForwarder
  private let view: @Sendable () -> ClusterView?
  private let time: any TimeSource
  private let log: Log
  private let state = Mutex(State())
  /// Held while homes are read or changed.
  private let turns = Mutex(())
  private let work = Semaphore()
  private let ended = Semaphore()
  private let isClosing = Atomic<Bool>(false)
  /// Called when what belongs to no app is this node's, with its epoch; and to wait until all loops have seen a change of homes.
  private let hooks = Mutex<(installed: @Sendable (Int64) -> Void, barrier: @Sendable () -> Void)>(
    ({ _ in }, {}))

  /// Nanoseconds that nodes may take to tell the devices of an app that has come here.
  private static let sessionPatience: UInt64 = 3_000_000_000
  /// Nanoseconds for which a node has been seen before apps are moved to it.
  private static let settling: UInt64 = 10_000_000_000

  init(
    _ own: AssignedApps, _ store: Store, _ router: Router, registry: NodeRegistry, link: NodeLink,
    forwarder: RequestForwarder, view: @escaping @Sendable () -> ClusterView?, time: any TimeSource, log: Log
  ) {
    (self.own, self.store, self.router, self.registry) = (own, store, router, registry)
    (self.link, self.forwarder, self.view, self.time, self.log) = (link, forwarder, view, time, log)
  }

  /// Starts the thread.
  func start(
    installed: @escaping @Sendable (Int64) -> Void, barrier: @escaping @Sendable () -> Void
  ) throws(SystemThread.Failure) {
    hooks.withLock { $0 = (installed, barrier) }
    try SystemThread.start("homes") { [self] in
      while !isClosing.load(ordering: .acquiring) {
        turns.withLock { _ in turn() }
        let isWaiting = state.withLock { !$0.patience.isEmpty }
        _ = work.wait(until: time.monotonic() &+ (isWaiting ? 20_000_000 : 1_000_000_000))
      }
      ended.signal()
    }
  }

  /// Reads at once where homes are.
  func wake() { work.signal() }

  /// Ends the thread.
  func close() {
    guard !isClosing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    work.signal()
    ended.wait()
    registry.close()
  }

  /// How many apps are served here.
  var count: Int {
    state.withLock { state in
      state.rows.count { $0.key != nil && !$0.isDeleted && state.served.contains($0.app) }
    }
  }

  /// How many apps the home on each node has, as this node read it last.
  var shares: [Int64: Int] {
    let rows = state.withLock(\.rows).filter { $0.key != nil && !$0.isDeleted }
    return Dictionary(rows.map { ($0.home.incarnation, 1) }) { $0 + $1 }
  }

  /// Grows with each change of any app's home.
  var epoch: Int64 { state.withLock { $0.rows.reduce(0) { $0 + $1.home.epoch } } }

  // MARK: A turn

  private func turn() {
    do throws(StorageError) {
      guard let view = view() else { return }
      try read(view)
      follow(view)
      for row in state.withLock(\.rows) where row.home.fence == own.home { openUnlessItFails(row, view) }
      serveOpened(view)
      follow(view)
      if own.contains(.installation) { try assign(view) }
      try balance(view)
      state.withLock { $0.failure = "" }
    } catch {
      let isNew = state.withLock { state in
        defer { state.failure = error.description }
        return state.failure != error.description
      }
      if isNew { log.warning("cannot look after the homes of apps", ["error": .text(error.description)]) }
    }
  }

  /// An app that cannot be read, or takes long, keeps no other one waiting; it is tried again with the next turn.
  private func openUnlessItFails(_ row: AppHomeRow, _ view: ClusterView) {
    guard !state.withLock({ $0.opened.contains(row.app) }) else { return }
    do throws(StorageError) {
      try open(row)
      state.withLock { _ = $0.unread.remove(row.app) }
    } catch {
      let isNew = state.withLock { $0.unread.insert(row.app).inserted }
      if isNew {
        log.error(
          "an app cannot be read; it is tried again",
          ["app": .text(row.key?.text ?? ""), "error": .text(error.description)])
      }
    }
    serveOpened(view)
    follow(view)
  }

  private func read(_ view: ClusterView) throws(StorageError) {
    if let reading = try registry.homes(since: state.withLock(\.mark)) {
      let bundles = AppBundles(reading.sharing.sets)
      state.withLock { state in
        (state.rows, state.sharing, state.mark) = (reading.rows, reading.sharing, reading.mark)
        state.bundles = bundles
      }
    }
    let now = time.monotonic()
    let alive = Set(view.nodes.map(\.incarnation))
    let rows = state.withLock { state in
      state.seen = state.seen.filter { alive.contains($0.key) }
      for node in alive where state.seen[node] == nil { state.seen[node] = now }
      return state.rows
    }
    link.follow(
      rows.map { row in
        let node = row.home.incarnation
        return AppPlace(
          app: row.app, key: row.key, home: alive.contains(node) ? Incarnation(UInt64(node)) : nil,
          epoch: Epoch(UInt64(row.home.epoch)))
      })
  }

  /// Takes over what this node was given.
  private func open(_ row: AppHomeRow) throws(StorageError) {
    if row.app == .installation {
      own.insert(.installation)
      link.open(.none, epoch: Epoch(UInt64(row.home.epoch)))
      state.withLock { state in
        state.opened.insert(row.app)
        state.served.insert(row.app)
      }
      log.info("this node is the home of the installation", ["epoch": .number(row.home.epoch)])
      hooks.withLock(\.installed)(row.home.epoch)
      return
    }
    // Its devices look disconnected until nodes have told of them: nothing may follow from that.
    own.unsettle(row.app)
    guard let app = try router.load(row.app) else {
      // It was deleted; what is left of it goes with the sweeps.
      own.settle(row.app)
      state.withLock { _ = $0.opened.insert(row.app) }
      return
    }
    link.open(row.app, epoch: Epoch(UInt64(row.home.epoch)))
    let end = time.monotonic() &+ Self.sessionPatience
    state.withLock { state in
      state.opened.insert(row.app)
      state.patience[row.app] = end
    }
    log.info(
      "this node is the home of an app", ["app": .text(app.key.text), "epoch": .number(row.home.epoch)])
  }

  /// Serves requests of apps whose devices are known.
  private func serveOpened(_ view: ClusterView) {
    let others = view.nodes.map(\.incarnation).filter { $0 != own.node }.map { Incarnation(UInt64($0)) }
    for (app, end) in state.withLock(\.patience) {
      guard link.waitForSessions(of: others, app: app, atMost: 0) || time.monotonic() >= end else { continue }
      state.withLock { state in
        state.patience[app] = nil
        state.served.insert(app)
      }
      own.settle(app)
    }
  }

  /// Tells where requests go.
  private func follow(_ view: ClusterView) {
    let nodes = Dictionary(view.nodes.map { ($0.incarnation, NodeAddress(of: $0)) }) { $1 }
    let (rows, sharing, served) = state.withLock { ($0.rows, $0.sharing, $0.served) }
    var installation = RequestHomes.Home.nobody
    var apps: [AppKey: RequestHomes.Home] = [:]
    for row in rows {
      let home: RequestHomes.Home
      if row.home.fence == own.home {
        home = served.contains(row.app) ? .here : .nobody
      } else {
        home = (nodes[row.home.incarnation] ?? nil).map { .node($0) } ?? .nobody
      }
      if row.app == .installation { installation = home } else if let key = row.key { apps[key] = home }
    }
    let keys = Dictionary(rows.compactMap { row in row.key.map { (row.app, $0) } }) { $1 }
    let groups = Dictionary(sharing.groups.map { ($0.key, $0.apps.compactMap { keys[$0] }) }) { $1 }
    forwarder.follow(RequestHomes(installation: installation, apps: apps, groups: groups))
  }

  // MARK: Who gets what

  /// Takes what belongs to no app, if its home is gone; its epoch.
  func takeInstallation() throws(StorageError) -> Int64? {
    for home in try registry.endDeadHomes() {
      log.warning("the home of a dead node is ended", ["node": .number(home)])
    }
    let epoch = try Store.wait {
      [store, own] (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
      store.write({ t throws(StorageError) in try t.homes.assign(.installation, to: own) }, completion: done)
    }
    if epoch != nil { wake() }
    return epoch
  }

  /// Gives apps without a home to nodes.
  private func assign(_ view: ClusterView) throws(StorageError) {
    for home in try registry.endDeadHomes() {
      log.warning("the home of a dead node is ended", ["node": .number(home)])
    }
    let (homeless, loads) = try store.wait { t throws(StorageError) in
      (try t.homes.homeless(), try t.homes.loads())
    }
    guard !homeless.isEmpty else { return }
    let bundles = state.withLock(\.bundles)
    let placed = HomePlan.place(homeless, among: candidates(loads, view), bundles: bundles).map {
      ($0.app, $0.home.home)
    }
    try Store.wait { [store] (done: @escaping @Sendable (Result<Void, StorageError>) -> Void) in
      store.write(
        { t throws(StorageError) in
          for (app, home) in placed { _ = try t.homes.assign(app, to: (node: home, home: home)) }
        }, completion: done)
    }
    log.info("apps have got homes", ["apps": .number(Int64(placed.count))])
    wake()
  }

  private func candidates(_ loads: [Int64: [AppID: Int]], _ view: ClusterView) -> [HomeCandidate] {
    let nodes = Set(view.nodes.filter { !$0.isDraining }.map(\.incarnation))
    return loads.filter { nodes.contains($0.key) }.map {
      HomeCandidate(node: $0.key, home: $0.key, apps: $0.value)
    }
  }

  /// Gives apps to a home that has less, if this one has most; or to the one that has most of what they share something with.
  private func balance(_ view: ClusterView) throws(StorageError) {
    let now = time.monotonic()
    let (isQuiet, isSettled, bundles) = state.withLock { state in
      (
        state.patience.isEmpty && !state.isHandingOver,
        state.served.count > 1
          && view.nodes.allSatisfy { now >= (state.seen[$0.incarnation] ?? now) + Self.settling },
        state.bundles
      )
    }
    guard isQuiet, isSettled || hasDividedBundle else { return }
    let loads = try store.wait { t throws(StorageError) in try t.homes.loads() }
    let candidates = candidates(loads, view)
    let move =
      isSettled
      ? HomePlan.move(among: candidates, bundles: bundles)
      : HomePlan.reunion(among: candidates, bundles: bundles)
    guard let move, move.from.home == own.home else { return }
    // A bundle that this home does not serve completely yet stays until it does.
    let rows = state.withLock { state in
      state.rows.filter { move.apps.contains($0.app) && state.served.contains($0.app) }
    }
    guard rows.count == move.apps.count else { return }
    for row in rows { handOver(row, to: move.to.home, view) }
  }

  /// Whether apps of this home share something with apps of others.
  private var hasDividedBundle: Bool {
    state.withLock { state in
      let homes = Dictionary(state.rows.map { ($0.app, $0.home.fence) }) { $1 }
      return state.opened.contains { app in
        state.bundles[app].contains { homes[$0] != nil && homes[$0] != own.home }
      }
    }
  }

  // MARK: Handing over

  private func handOver(_ row: AppHomeRow, to home: Int64, _ view: ClusterView) {
    guard let key = row.key else { return }
    // Calls wait from now on; those under way are carried out.
    state.withLock { _ = $0.served.remove(row.app) }
    follow(view)
    hooks.withLock(\.barrier)()
    link.release(row.app)
    guard let epoch = router.handOver(key, to: (node: home, home: home), keepingSessions: true) else {
      link.open(row.app, epoch: Epoch(UInt64(row.home.epoch)))
      state.withLock { _ = $0.served.insert(row.app) }
      return log.warning("an app could not be handed over", ["app": .text(key.text)])
    }
    note(row, HomeRow(incarnation: home, epoch: epoch, fence: home))
    log.info("an app is handed over", ["app": .text(key.text), "epoch": .number(epoch)])
  }

  private func note(_ row: AppHomeRow, _ home: HomeRow) {
    state.withLock { state in
      state.opened.remove(row.app)
      state.served.remove(row.app)
      state.patience[row.app] = nil
      for index in state.rows.indices where state.rows[index].app == row.app { state.rows[index].home = home }
    }
    link.follow([
      AppPlace(
        app: row.app, key: row.key, home: Incarnation(UInt64(home.incarnation)),
        epoch: Epoch(UInt64(home.epoch)))
    ])
  }

  /// Gives everything to the other nodes, what belongs to no app last. True if nothing is left.
  func handOverAll(leaving: () -> Void) -> Bool {
    turns.withLock { _ in
      guard let view = view() else { return false }
      state.withLock { $0.isHandingOver = true }
      guard let loads = try? store.wait({ t throws(StorageError) in try t.homes.loads() }) else {
        return false
      }
      let others = candidates(loads, view).filter { $0.home != own.home }
      guard !others.isEmpty else { return false }
      let rows = state.withLock { $0.rows.filter { $0.home.fence == own.home } }
      // Deleted apps are not among these: who ends their home sees to what is left of them.
      let weights = loads[own.home] ?? [:]
      for (app, home) in HomePlan.place(weights, among: others, bundles: state.withLock(\.bundles)) {
        if let row = rows.first(where: { $0.app == app }) { handOver(row, to: home.home, view) }
      }
      if let row = rows.first(where: { $0.app == .installation }), let next = others.first {
        leaving()
        own.remove(.installation)
        link.release(.none)
        let epoch = try? Store.wait {
          [store] (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
          store.write(
            { t throws(StorageError) in
              try t.homes.handOver(.installation, to: (node: next.home, home: next.home))
            }, completion: done)
        }
        if let epoch = epoch ?? nil {
          note(row, HomeRow(incarnation: next.home, epoch: epoch, fence: next.home))
        }
      }
      follow(view)
      return state.withLock { state in
        state.rows.allSatisfy { row in
          row.home.fence != own.home || row.app != .installation && weights[row.app] == nil
        }
      }
    }
  }
}
