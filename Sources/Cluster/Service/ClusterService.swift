import BorealisBase
import Core
import Glibc
import HTTP
import Storage
import Synchronization

/// What makes a process a node of a cluster: its place in the database, its links to other nodes, and what
/// follows from both. A thread of its own carries out one after the other what membership demands.
package final class ClusterService: Sendable {
  package let link: NodeLink
  package let forwarder: RequestForwarder
  /// Which other nodes take requests of this one.
  package let reach: NodeReach
  package let pages: NodePages
  let configuration: ClusterConfiguration
  let host: any HomeHost
  let registry: NodeRegistry
  /// Seals what goes over the bus.
  private let sealing: FrameSealing
  let time: SystemTime
  /// The apps of this node, if each app is to have a home of its own.
  let homes: NodeHomes?
  let state: Mutex<ClusterState>
  let orders: ClusterOrders<ClusterOrder>

  /// Nanoseconds without a home after which this node says that it cannot serve.
  private static let homelessAfter: UInt64 = 10_000_000_000
  /// Nanoseconds that a new home waits for what other nodes know of their devices.
  private static let sessionPatience: UInt64 = 3_000_000_000

  /// Gets a place in the database, and connects to the bus. `gateway` are the devices of this process.
  package init(
    _ configuration: ClusterConfiguration, host: any HomeHost, gateway: any DeviceGateway,
    forwarder: RequestForwarder, metrics: Metrics, time: SystemTime
  ) throws(NodeFailure) {
    (self.configuration, self.host, self.forwarder, self.time) = (configuration, host, forwarder, time)
    reach = NodeReach(tls: configuration.tls, log: configuration.log)
    let start = ClusterStart(configuration, host)
    let registry = try start.registry()
    self.registry = registry
    let sealing = try host.frameSealing()
    self.sealing = sealing
    if !configuration.node.spreadsApps { try start.expectOneHome(at: registry) }
    let incarnation = try start.register(at: registry, time)
    let orders = ClusterOrders<ClusterOrder>()
    self.orders = orders
    let runner = start.runner(registry, incarnation, reach, orders)
    state = Mutex(ClusterState(runner: runner, homeAt: MembershipRunner.clock()))
    sealing.follow(try? registry.look(as: incarnation, beats: true))
    let status = ClusterStatus()
    do throws(NodeFailure) {
      link = try start.link(
        try start.identity(incarnation, at: registry), gateway, sealing, time,
        homeChanged: { orders.add(.read) }
      ) {
        // Others would take this node for dead while it waits.
        _ = try? registry.look(as: incarnation, beats: true)
      }
      do throws(NodeFailure) {
        homes = try start.homes(link, forwarder, view: { status.view }, time: time)
      } catch {
        link.close()
        throw error
      }
    } catch {
      try? registry.leave(incarnation)
      throw error
    }
    pages = NodePages(metrics: metrics, obstacle: { status.obstacle }, ready: { status.text })
    status.service.withLock { $0 = self }
    ClusterMetrics.compute(metrics, of: self)
  }

  package var tls: NodeTLS? { configuration.tls }

  var log: Log { configuration.log }

  var currentState: ClusterState { state.withLock { $0 } }

  /// Takes part from now on.
  package func start() throws(NodeFailure) {
    do throws(SystemThread.Failure) {
      try SystemThread.start("node") { [self] in
        run()
        orders.close()
      }
      try currentState.runner.start()
      try homes?.start(homeHooks)
    } catch {
      throw .failed("cannot start a thread: \(error.number)")
    }
  }

  // MARK: What others ask

  /// Whether the others cannot have taken this node for dead.
  package var isAlive: Bool { currentState.runner.isAlive }

  /// See `MembershipRunner.isCurrent`.
  package var isCurrent: Bool { currentState.runner.isCurrent }

  /// Names of the nodes that may ask this one.
  package var names: [String] { currentState.runner.view?.nodes.map(\.name) ?? [configuration.node.name] }

  /// Why this process can do its work no more; nil if it can.
  package var lastingFailure: String? { currentState.lastingFailure }

  /// Why this node cannot serve, nil if it can.
  package var obstacle: String? {
    guard host.isReady else { return "draining" }
    let state = currentState
    if state.rejoinsAt != nil { return "this node was considered dead and has not rejoined the cluster yet" }
    if state.isLeading || homes?.home != nil {
      guard state.runner.isAlive else { return "the cluster's database does not answer" }
      if let obstacle = state.storeObstacle() { return obstacle }
    }
    if let obstacle = reachReport.obstacle { return obstacle }
    if state.isLeading || homes?.hasInstallation == true { return nil }
    if state.runner.view?.isDivided == true, homes?.isAboutToBegin == true { return "starting" }
    let isHomeless =
      state.home == nil && (state.epoch == 0 || MembershipRunner.clock() &- state.homeAt > Self.homelessAfter)
    return isHomeless ? "no node is the home" : nil
  }

  var reachReport: ReachReport { ReachReport(currentState.runner, reach) }

  /// What this node is, for people.
  var description: String { ([role] + reachReport.lines).joined(separator: "\n") }

  private var role: String {
    let state = currentState
    if let homes, homes.home != nil {
      let installation = homes.hasInstallation ? "this node" : state.home?.name ?? "nobody"
      return "ready\nhome of \(homes.count) apps\ninstallation at \(installation)"
    }
    return state.isLeading ? "ready\nhome" : "ready\ngateway of \(state.home?.name ?? "nobody")"
  }

  /// The work of once a second.
  package func tick(devices: Int64) {
    let state = currentState
    link.update(load: UInt32(clamping: devices), isDraining: !host.isReady)
    reach.follow(state.runner)
    sealing.follow(state.runner.view)
    if state.isLeading, state.runner.isAlive { forwarder.wake() }
    confirmHome(state)
    if host.isReady, state.own?.isDraining == true { endOnce() }
  }

  /// Lets the link compare what it has heard of a home of all apps with what the database said last, unless
  /// that was long ago.
  private func confirmHome(_ state: ClusterState) {
    guard state.runner.isAlive, let known = state.runner.view?.home, known.epoch == state.epoch else {
      return link.confirm(nil)
    }
    let home = state.home.map { Incarnation(UInt64($0.incarnation)) }
    link.confirm((home, Epoch(UInt64(known.epoch))))
  }

  /// Ends this process as SIGTERM does, since an operator has asked for it in the database.
  private func endOnce() {
    let isFirst = self.state.withLock { state in
      defer { state.isAskedToEnd = true }
      return !state.isAskedToEnd
    }
    guard isFirst else { return }
    log.info("an operator has drained this node")
    kill(getpid(), SIGTERM)
  }

  /// The nodes as the database had them last, those that were taken for dead, the number of this one, and how
  /// many apps the home on each node has; nil if one home has all.
  package var members: (nodes: [NodeRow], dead: [DeadNode], own: Int64, shares: [Int64: Int]?) {
    let runner = currentState.runner
    return (runner.view?.nodes ?? [], runner.deadNodes, runner.incarnation, homes?.shares)
  }

  /// Reads the certificates between nodes again.
  package func reload() {
    guard let tls else { return }
    do { try tls.reload(as: configuration.node.name) } catch {
      log.error("TLS certificate between nodes not reloaded", ["reason": .text("\(error)")])
    }
  }

  // MARK: What membership demands

  private func run() {
    while true {
      for order in orders.drain(waitingUntil: currentState.rejoinsAt) {
        switch order {
        case .act(let action): perform(action)
        case .reach(let semaphore): semaphore.signal()
        case .read: homes?.wake()
        case .yield(let semaphore):
          leaveHome()
          semaphore.signal()
        case .end: return
        }
      }
      joinAgain()
    }
  }

  private func perform(_ action: Membership.Action) {
    switch action {
    case .follow(let home, let epoch): follow(home, epoch)
    case .gone(let node):
      link.forget(Incarnation(UInt64(node.incarnation)))
      if let address = NodeAddress(of: node) { forwarder.abandon(address) }
      homes?.wake()
    case .takeOver(let replaced): takeOver(replacing: replaced)
    case .remove: break
    case .lost: renew()
    }
  }

  private func follow(_ home: NodeRow?, _ epoch: Int64) {
    let isLeading = state.withLock { state in
      guard !state.isLeading else { return true }
      if state.home != nil || home != nil { state.homeAt = MembershipRunner.clock() }
      (state.home, state.epoch) = (home, epoch)
      return false
    }
    guard !isLeading else { return }
    if let homes {
      homes.followAll(home, epoch: epoch)
      homes.wake()
      return log.info(
        home == nil ? "no node is the home of the installation" : "a node is the home of the installation",
        ["node": .text(home?.name ?? ""), "epoch": .number(epoch)])
    }
    if host.isReady, currentState.runner.view?.isDivided == true {
      // It would take the home of the installation for that of all apps.
      state.withLock { $0.lastingFailure = ClusterStart.dividedElsewhere }
    }
    link.follow(home.map { Incarnation(UInt64($0.incarnation)) }, epoch: Epoch(UInt64(epoch)))
    forwarder.follow(home.flatMap { NodeAddress(of: $0) })
    log.info(
      home == nil ? "no node is the home" : "another node is the home",
      ["node": .text(home?.name ?? ""), "epoch": .number(epoch)])
  }

  /// Opens the database, which ends the home before, and becomes the home.
  private func takeOver(replacing home: HomeRow?) {
    let runner = currentState.runner
    if let homes {
      let epoch: Int64?
      do throws(StorageError) { epoch = try homes.takeOverInstallation(replacing: home?.fence) } catch {
        epoch = nil
        log.warning("failed to take over installation-wide services", ["reason": .text(error.message)])
      }
      if let epoch { runner.lead(epoch: epoch) } else { runner.giveUp() }
      return
    }
    var lasts = false
    do throws(NodeFailure) {
      // Before anything of the home is touched that has another program.
      do throws(StorageError) { try registry.expectKnownSchema() } catch {
        if case .newerThanProgram = error.kind { lasts = true }
        if case .migrationChanged = error.kind { lasts = true }
        throw host.failure(toOpen: error)
      }
      let (store, fence) = try host.open(replacing: home?.fence, as: nil)
      // What the database has, or this machine has not, is the same next time.
      lasts = true
      do throws(NodeFailure) { try lead(store, fence, runner) } catch {
        store.close()
        throw error
      }
    } catch {
      runner.giveUp(lasts: lasts)
      let isNew = state.withLock { state in
        defer { state.reason = error.message }
        return state.reason != error.message
      }
      if isNew { log.warning("this node did not become the home", ["reason": .text(error.message)]) }
    }
  }

  private func lead(_ store: Store, _ fence: Int64, _ runner: MembershipRunner) throws(NodeFailure) {
    let incarnation = runner.incarnation
    let before = runner.view
    guard !currentState.isEnding else { throw .failed("this node ends") }
    let begun: Int64?
    do throws(StorageError) {
      begun = try Store.wait { (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
        store.write(
          { t throws(StorageError) in try t.beginHome(of: incarnation, fence: fence) }, completion: done)
      }
    } catch {
      throw .failed("cannot become the home: \(error.message)")
    }
    guard let epoch = begun else { throw .failed("this node was considered dead") }
    log.info("becoming the home", ["epoch": .number(epoch)])
    let router = try host.load(store, scope: .all)
    try startHost(store, router)
    runner.lead(epoch: epoch)
    link.lead(router, epoch: Epoch(UInt64(epoch)), mayDecide: { runner.isAlive })
    // Before it is known who is connected, a push would take other ways.
    // The home before tells its devices only if it has handed over.
    let others = (runner.view?.nodes ?? []).filter { node in
      node.incarnation != incarnation && (node.isDraining || node.incarnation != before?.home?.incarnation)
    }.map(\.incarnation)
    if !link.waitForSessions(
      of: others.map { Incarnation(UInt64($0)) }, atMost: Self.sessionPatience)
    {
      log.warning("node did not report its device sessions")
    }
    let isEnding = state.withLock { state in
      guard !state.isEnding else { return true }
      state.isLeading = true
      (state.home, state.epoch, state.reason) = (nil, epoch, nil)
      state.storeObstacle = { store.obstacle }
      state.apps = { router.apps.all.count }
      return false
    }
    guard !isEnding else { throw .failed("this node ends") }
    host.serve()
    forwarder.wake()
  }
}
