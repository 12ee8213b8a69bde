import PushBase
import PushConsole
import PushMembership
import PushNodes
import PushStorage
import Synchronization

/// Apps that are divided among nodes: this one is the home of some.
extension ClusterService {
  /// Makes this node a home of some apps, of none at first. `installed` is called when what belongs to no app is this node's;
  /// `barrier` waits until all loops have seen what they were told.
  func startHomes(
    installed: @escaping @Sendable (HomeService) -> Void, barrier: @escaping @Sendable () -> Void
  ) throws(Failure) {
    guard let homes else { return }
    let runner = currentState.runner
    let service = try HomeService(
      settings, homes.store, homes.router, loop: loops, metrics: metrics, time: time,
      obstacle: { [self] in obstacle }, nodes: { [self] in consoleNodes })
    try service.start()
    link.serve(homes.router, mayDecide: { runner.isAlive })
    let open = state.withLock { state in
      state.storeObstacle = { [store = homes.store] in store.failure?.explanation }
      return state.open
    }
    open?(service)
    do throws(SystemThread.Failure) {
      try homes.start(
        installed: { epoch in
          runner.lead(epoch: epoch)
          service.console.takeInstallation()
          installed(service)
        }, barrier: barrier)
    } catch {
      throw .failed("cannot start a thread: \(error.number)")
    }
  }

  /// Apps whose requests this process serves as their home.
  var servedApps: Int {
    let state = currentState
    return homes?.count ?? (state.isLeading ? state.apps() : 0)
  }

  /// Whether each app has a home of its own.
  var spreadsApps: Bool { homes != nil }

  /// Takes no more apps over.
  func endHomes() { homes?.close() }

  /// Gives all apps to other nodes; true if none is left.
  func handOverApps() -> Bool {
    let runner = currentState.runner
    return homes?.handOverAll { runner.handOver() } ?? true
  }
}
