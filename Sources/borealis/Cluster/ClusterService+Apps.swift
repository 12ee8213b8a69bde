import BorealisBase
import Cluster
import Console
import Core
import Storage
import Synchronization

/// Apps that are divided among nodes: this one is the home of some.
extension ClusterService {
  /// Makes this node a home of some apps, of none at first, as soon as it can be one. `installed` is called
  /// when what belongs to no app is this node's; `barrier` waits until all loops have seen what they were
  /// told.
  func startHomes(
    installed: @escaping @Sendable (HomeService) -> Void, barrier: @escaping @Sendable () -> Void
  ) throws(Failure) {
    guard let homes else { return }
    let service = Mutex<HomeService?>(nil)
    do throws(SystemThread.Failure) {
      try homes.start(
        NodeHomes.Hooks(
          open: { [self] registry, fence, mayMigrate throws(Failure) in
            try ClusterStart.home(
              settings, serverMetrics, incarnation: currentState.runner.incarnation, at: registry,
              replacing: fence, mayMigrate: mayMigrate, time: time)
          },
          begun: { [self] home in
            guard let begun = begin(home) else { return false }
            service.withLock { $0 = begun }
            return true
          },
          installed: { [self] epoch in
            currentState.runner.lead(epoch: epoch)
            guard let service = service.withLock({ $0 }) else { return }
            service.console.takeInstallation()
            installed(service)
          }, leaving: { [self] in currentState.runner.handOver() },
          staying: { [self] in currentState.runner.lead(epoch: $0) }, barrier: barrier))
    } catch {
      throw .failed("cannot start a thread: \(error.number)")
    }
  }

  /// Serves the apps of a home, which has none yet; nil if that fails for good.
  private func begin(_ home: NodeHome) -> HomeService? {
    let runner = currentState.runner
    guard let service = try? startService(home.store, home.router) else { return nil }
    link.serve(home.router, mayDecide: { runner.isAlive })
    let open = state.withLock { state in
      state.storeObstacle = { [store = home.store] in store.obstacle }
      return state.open
    }
    open?(service)
    return service
  }

  /// Starts what this process has as a home. After a failure this process can do its work no more: half of a
  /// home cannot be taken back.
  func startService(_ store: Store, _ router: Router) throws(Failure) -> HomeService {
    do throws(Failure) {
      let service = try HomeService(
        settings, store, router, loop: loops, metrics: metrics, time: time, obstacle: { [self] in obstacle },
        nodes: { [self] in consoleNodes })
      try service.start()
      return service
    } catch {
      state.withLock { $0.lastingFailure = error.message }
      throw error
    }
  }

  /// Apps whose requests this process serves as their home.
  var servedApps: Int {
    let state = currentState
    return homes?.count ?? (state.isLeading ? state.apps() : 0)
  }

  /// Whether each app is to have a home of its own.
  var spreadsApps: Bool { homes != nil }

  /// Takes no more apps over.
  func endHomes() { homes?.close() }

  /// Gives all apps to other nodes; true if none is left.
  func handOverApps() -> Bool { homes?.handOverAll() ?? true }

  /// Whether no other node is a home of apps that could have those of this one, by what the database says
  /// now.
  var isOnlyHome: Bool {
    let own = currentState.runner.incarnation
    guard let view = try? registry.look(as: own, beats: false) else { return false }
    return !view.nodes.contains { $0.isHome && $0.incarnation != own }
  }

  /// This node is the home of no app any more, whether other nodes have them already or not: from now on its
  /// requests and devices wait for the next homes, and go there. `finish` closes the store.
  func resign(_ finish: () -> Void) {
    let home = homes?.resign()
    finish()
    if let home { homes?.leave(home) }
    state.withLock { $0.storeObstacle = { nil } }
    currentState.runner.handOver()
  }
}
