import BorealisBase
import Glibc
import Storage
import Synchronization

/// How a node ends.
extension ClusterService {
  /// Nanoseconds that what is under way may hold the end up: a database that does not answer would do so for
  /// more than a minute. This process then ends in the middle of it, as if it were killed.
  private static let endPatience: UInt64 = 5_000_000_000

  /// Whether another node can become the home. Waits for the database: a node may have joined since it was
  /// last read. Nothing can be handed over without it.
  package var hasHeir: Bool {
    let state = currentState
    guard state.isLeading || homes?.home != nil else { return false }
    let own = state.runner.incarnation
    let known = state.runner.isAlive ? state.runner.view : nil
    return registry.view(as: own, orKnown: known)?.hasHeir(of: own) == true
  }

  /// Tells the others that this node ends. When it returns, this node is the home or will not be it.
  package func beginEnd() {
    currentState.runner.drain()
    homes?.settleDown()
    link.update(load: 0, isDraining: true)
    let reached = BorealisBase.Semaphore()
    orders.add(.reach(reached))
    guard !reached.wait(until: time.monotonic() &+ Self.endPatience) else { return }
    state.withLock { $0.isEnding = true }
    log.warning("database not responding; this node stops without it")
  }

  /// From now on the devices of this node wait for the next home.
  package func stopLeading() {
    let epoch = currentState.epoch
    link.follow(nil, epoch: Epoch(UInt64(epoch)))
    forwarder.follow(nil)
  }

  /// This node was the home, and another one is: calls and devices of this node go there until it ends. False
  /// if it is not found by a moment.
  package func followSuccessor(until deadline: UInt64) -> Bool {
    let done = BorealisBase.Semaphore()
    orders.add(.yield(done))
    guard done.wait(until: deadline) else { return false }
    return waitForHome(until: deadline)
  }

  /// Nothing of the home is left in this process: it follows the next one.
  package func handOver() {
    state.withLock { state in
      state.isLeading = false
      state.storeObstacle = { nil }
      state.apps = { 0 }
    }
    currentState.runner.handOver()
  }

  /// Waits until another node is the home; false if none has become it by then.
  package func waitForHome(until deadline: UInt64) -> Bool {
    BlockingCall.assertAllowed()
    while currentState.home == nil {
      guard time.monotonic() < deadline else { return false }
      usleep(20_000)
    }
    return true
  }

  /// Gives the node's place back and ends its threads.
  package func close() {
    homes?.close()
    currentState.runner.close()
    orders.add(.end)
    orders.awaitClose(until: time.monotonic() &+ (currentState.isEnding ? 0 : Self.endPatience))
    link.close()
  }
}
