import BorealisBase
import Core
import Storage
import Synchronization

/// What a node has as a home of some apps beside other homes.
struct NodeHome: Sendable {
  let own: AssignedApps
  let store: Store
  let router: Router
}

/// The apps of a node that is one of several homes. A thread of its own reads each second where apps have
/// their homes, takes over those that this node was given, and, while this node has what belongs to no app,
/// gives those without a home to nodes.
///
/// A node begins as a gateway: of the home of all apps, as long as there is one, or of the homes of apps. It
/// becomes a home once nothing is in the way: a server of all apps, nodes that know of no other home, or a
/// schema of an older version that others still use.
final class NodeHomes: Sendable {
  /// What others do about it.
  struct Hooks: Sendable {
    /// Opens the database as one of several homes; the number is the fence of a server of all apps that is
    /// dead. Without permission to migrate, an older schema is a failure.
    var open: @Sendable (NodeRegistry, Int64?, _ mayMigrate: Bool) throws(NodeFailure) -> NodeHome
    /// Serves what the home will have; false if that fails for good.
    var begun: @Sendable (NodeHome) -> Bool
    /// What belongs to no app is this node's, with its epoch.
    var installed: @Sendable (Int64) -> Void
    /// It is about to be given to another node.
    var leaving: @Sendable () -> Void
    /// Nobody took it: it is this node's on, with its epoch.
    var staying: @Sendable (Int64) -> Void
    /// Waits until all loops have seen a change of homes.
    var barrier: @Sendable () -> Void
  }

  let registry: NodeRegistry
  let link: NodeLink
  let forwarder: RequestForwarder
  /// What the database said last, and which of its nodes this is.
  let view: @Sendable () -> (ClusterView, own: Int64)?
  let time: any TimeSource
  let log: Log
  let state = Mutex(NodeHomesState())
  /// Held while homes are read or changed.
  let turns = Mutex(())
  let hooks = Mutex<Hooks?>(nil)
  private let work = Semaphore()
  private let ended = Semaphore()
  private let isClosing = Atomic<Bool>(false)

  /// Nanoseconds that nodes may take to tell the devices of an app that has come here.
  private static let sessionPatience: UInt64 = 3_000_000_000

  init(
    registry: NodeRegistry, link: NodeLink, forwarder: RequestForwarder,
    view: @escaping @Sendable () -> (ClusterView, own: Int64)?, time: any TimeSource, log: Log
  ) {
    (self.registry, self.link, self.forwarder) = (registry, link, forwarder)
    (self.view, self.time, self.log) = (view, time, log)
  }

  /// Starts the thread.
  func start(_ hooks: Hooks) throws(SystemThread.Failure) {
    self.hooks.withLock { $0 = hooks }
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

  /// Nanoseconds for the end of a turn: a database that does not answer may hold it up for a minute.
  private static let endPatience: UInt64 = 5_000_000_000

  /// Ends the thread. If it does not end in time it is left alone, as the process is about to end.
  func close() {
    guard !isClosing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    work.signal()
    guard ended.wait(until: time.monotonic() &+ Self.endPatience) else { return }
    registry.close()
  }

  /// What this node has as a home; nil as long as it is none.
  var home: NodeHome? { state.withLock(\.home) }

  /// Whether each app has a home of its own.
  var isDivided: Bool { state.withLock(\.isDivided) }

  /// Whether this node has not tried yet to be a home.
  var isAboutToBegin: Bool { state.withLock { $0.home == nil && $0.hindrance.isEmpty } }

  /// Whether this node is the home of what belongs to no app.
  var hasInstallation: Bool { home?.own.contains(.installation) == true }

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
      if let leaving = state.withLock(\.leaving) { leave(leaving) }
      guard let (view, node) = view() else { return }
      noteUnreachable(view)
      if view.isDivided {
        divide()
        begin(view, node)
      }
      guard isDivided else { return }
      try read(view)
      follow(view)
      if let home {
        for row in state.withLock(\.rows) where row.home.fence == home.own.home {
          openUnlessItFails(row, home, view)
        }
        serveOpened(home, view)
        follow(view)
        if home.own.contains(.installation) { try assign(home, view) }
        if !giveBack(home, view) { try balance(home, view) }
      }
      try expelOthers(view, as: node)
      state.withLock { $0.failure = "" }
    } catch {
      let isNew = state.withLock { state in
        defer { state.failure = error.description }
        return state.failure != error.description
      }
      if isNew { log.warning("cannot check app assignments", ["error": .text(error.description)]) }
    }
  }

  /// An app that cannot be read, or takes long, keeps no other one waiting; it is tried again with the next
  /// turn.
  private func openUnlessItFails(_ row: AppHomeRow, _ home: NodeHome, _ view: ClusterView) {
    guard !state.withLock({ $0.opened.contains(row.app) }) else { return }
    do throws(StorageError) {
      try open(row, home)
      state.withLock { _ = $0.unread.remove(row.app) }
    } catch {
      let isNew = state.withLock { $0.unread.insert(row.app).inserted }
      if isNew {
        log.error(
          "cannot load an app; retrying",
          ["app": .text(row.key?.text ?? ""), "error": .text(error.description)])
      }
    }
    serveOpened(home, view)
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
  private func open(_ row: AppHomeRow, _ home: NodeHome) throws(StorageError) {
    if row.app == .installation {
      home.own.insert(.installation)
      link.open(.none, epoch: Epoch(UInt64(row.home.epoch)))
      state.withLock { state in
        state.opened.insert(row.app)
        state.served.insert(row.app)
      }
      log.info("this node is the home of the installation", ["epoch": .number(row.home.epoch)])
      hooks.withLock { $0 }?.installed(row.home.epoch)
      return
    }
    // Its devices look disconnected until nodes have told of them: nothing may follow from that.
    home.own.unsettle(row.app)
    guard let app = try home.router.load(row.app) else {
      // It was deleted; what is left of it goes with the sweeps.
      home.own.settle(row.app)
      state.withLock { _ = $0.opened.insert(row.app) }
      return
    }
    openLinks(of: row)
    log.info(
      "this node is the home of an app", ["app": .text(app.key.text), "epoch": .number(row.home.epoch)])
  }

  /// Has nodes tell of the devices of an app, which is served once they have.
  func openLinks(of row: AppHomeRow) {
    link.open(row.app, epoch: Epoch(UInt64(row.home.epoch)))
    let end = time.monotonic() &+ Self.sessionPatience
    state.withLock { state in
      state.opened.insert(row.app)
      state.patience[row.app] = end
    }
  }

  /// Serves requests of apps whose devices are known.
  private func serveOpened(_ home: NodeHome, _ view: ClusterView) {
    let others = view.nodes.map(\.incarnation).filter { $0 != home.own.node }.map { Incarnation(UInt64($0)) }
    for (app, end) in state.withLock(\.patience) {
      guard link.waitForSessions(of: others, app: app, atMost: 0) || time.monotonic() >= end else { continue }
      state.withLock { state in
        state.patience[app] = nil
        state.served.insert(app)
      }
      home.own.settle(app)
    }
  }

  /// Tells where requests go.
  func follow(_ view: ClusterView) {
    forwarder.follow(state.withLock { $0.requestHomes(in: view) })
  }
}
