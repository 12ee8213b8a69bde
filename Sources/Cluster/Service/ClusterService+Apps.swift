import BorealisBase
import Core
import Storage
import Synchronization

/// Apps that are divided among nodes: this one is the home of some.
extension ClusterService {
  /// What this node does when it becomes a home of some apps, of none at first.
  var homeHooks: NodeHomes.Hooks {
    NodeHomes.Hooks(
      open: { [self] registry, fence, mayMigrate throws(NodeFailure) in
        try ClusterStart(configuration, host).home(
          currentState.runner.incarnation, at: registry, replacing: fence, mayMigrate: mayMigrate)
      },
      begun: { [self] in begin($0) },
      installed: { [self] epoch in
        currentState.runner.lead(epoch: epoch)
        host.takeOverInstallation()
      }, leaving: { [self] in currentState.runner.handOver() },
      staying: { [self] in currentState.runner.lead(epoch: $0) }, barrier: { [self] in host.awaitLoops() })
  }

  /// Serves the apps of a home, which has none yet; false if that fails for good.
  private func begin(_ home: NodeHome) -> Bool {
    let runner = currentState.runner
    do throws(NodeFailure) { try startHost(home.store, home.router) } catch { return false }
    link.serve(home.router, mayDecide: { runner.isAlive })
    state.withLock { $0.storeObstacle = { [store = home.store] in store.obstacle } }
    host.serve()
    return true
  }

  /// Starts what this process has as a home; if that fails it can do its work no more.
  func startHost(_ store: Store, _ router: Router) throws(NodeFailure) {
    do throws(NodeFailure) { try host.start(store, router) } catch {
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
  package var spreadsApps: Bool { homes != nil }

  /// Takes no more apps over.
  package func endHomes() { homes?.close() }

  /// Gives all apps to other nodes; true if none is left.
  package func handOverApps() -> Bool { homes?.handOverAll() ?? true }

  /// Whether no other node is a home of apps that could have those of this one, by what the database says
  /// now.
  package var isOnlyHome: Bool {
    let own = currentState.runner.incarnation
    return registry.view(as: own)?.isOnlyHome(own) ?? false
  }

  /// This node is the home of no app any more, whether other nodes have them already or not: from now on its
  /// requests and devices wait for the next homes, and go there. `finish` closes the store.
  package func resign(_ finish: () -> Void) {
    let home = homes?.resign()
    finish()
    if let home { homes?.leave(home) }
    state.withLock { $0.storeObstacle = { nil } }
    currentState.runner.handOver()
  }
}
