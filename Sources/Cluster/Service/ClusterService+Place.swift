import BorealisBase
import Storage
import Synchronization

/// How a node that has lost its place in the database gets another one.
extension ClusterService {
  /// Nanoseconds between two attempts.
  private static let retryInterval: UInt64 = 1_000_000_000

  /// The others have taken this node for dead. A home that was replaced ends; a gateway gets a new place and
  /// keeps its devices.
  func renew() {
    let isLeading = state.withLock { state in
      let isHome = state.isLeading || homes?.home != nil
      if isHome {
        state.lastingFailure = "another node has become the home, or considered this one dead"
      }
      return isHome
    }
    guard !isLeading, host.isReady else { return }
    log.warning("other nodes considered this node dead; rejoining the cluster")
    state.withLock { $0.rejoinsAt = time.monotonic() }
  }

  /// Gets a new place if one is due. Nobody takes anything from a gateway while it has none: what fails is
  /// tried again for as long as it does, unless another process has its name.
  func joinAgain() {
    guard let moment = currentState.rejoinsAt, moment <= time.monotonic() else { return }
    // About to end: without a place, then.
    guard host.isReady else { return state.withLock { $0.rejoinsAt = .max } }
    do {
      try rejoin()
      state.withLock { ($0.rejoinsAt, $0.rejoinFailure) = (nil, nil) }
      log.info("rejoined the cluster")
    } catch {
      let failure = "\(error)"
      let lasts = Self.lasts(error)
      let isNew = state.withLock { state in
        if lasts {
          state.lastingFailure = "this node was considered dead and cannot rejoin the cluster: \(failure)"
        }
        defer { state.rejoinFailure = failure }
        state.rejoinsAt = lasts ? nil : time.monotonic() &+ Self.retryInterval
        return !lasts && state.rejoinFailure != failure
      }
      if isNew { log.warning("rejoining the cluster failed; retrying", ["reason": .text(failure)]) }
    }
  }

  private static func lasts(_ error: any Error) -> Bool {
    switch error as? NodeRegistry.Problem {
    case .nameInUse, .otherCluster: true
    case .storage, nil: false
    }
  }

  /// Gets a new place. If that fails, all is as it was.
  private func rejoin(draining: Bool = false) throws {
    let incarnation = try registry.register(configuration.row, at: time.now(), clock: MembershipRunner.clock)
    let runner = ClusterStart(configuration, host).runner(registry, incarnation, reach, orders)
    do {
      try link.rejoin(as: Incarnation(UInt64(incarnation)))
      if draining || !host.isReady { runner.drain() }
      try runner.start()
    } catch {
      try? registry.leave(incarnation)
      throw error
    }
    let old = state.withLock { state in
      defer { state.runner = runner }
      return state.runner
    }
    old.stop()
  }

  /// This node was the home, and another one is: it gets a place as a gateway until it ends.
  func leaveHome() {
    let old = currentState.runner
    _ = homes?.resign()
    state.withLock { state in
      state.isLeading = false
      state.storeObstacle = { nil }
      state.apps = { 0 }
    }
    do {
      try registry.leave(old.incarnation)
      try rejoin(draining: true)
    } catch {
      log.warning("this node cannot follow the home", ["reason": .text("\(error)")])
    }
  }
}
