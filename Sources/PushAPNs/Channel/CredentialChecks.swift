import PushRouter
import PushStorage
import Synchronization

/// What Apple said about credentials when it was asked, and who waits for it.
final class CredentialChecks: Sendable {
  private struct Waiter: Sendable {
    let credentials: Set<APNsCredentialID>
    let deadline: UInt64
    let done: @Sendable () -> Void
  }

  private struct State: Sendable {
    var answers: [APNsCredentialID: APNsCheck] = [:]
    var open: Set<APNsCredentialID> = []
    var waiters: [Waiter] = []

    /// Those who have nothing more to wait for.
    mutating func takeServed(at nanoseconds: UInt64 = 0) -> [Waiter] {
      let served = waiters.filter { $0.deadline <= nanoseconds || $0.credentials.isDisjoint(with: open) }
      waiters.removeAll { $0.deadline <= nanoseconds || $0.credentials.isDisjoint(with: open) }
      return served
    }
  }

  /// How long anybody waits, in nanoseconds.
  private static let patience: UInt64 = 8_000_000_000
  private let state = Mutex(State())

  /// Apple is being asked.
  func begin(_ credential: APNsCredentialID) {
    state.withLock { state in
      state.answers[credential] = nil
      state.open.insert(credential)
    }
  }

  /// Apple has answered, or cannot be asked.
  func end(_ check: APNsCheck) {
    let served = state.withLock { state in
      state.answers[check.credential] = check
      state.open.remove(check.credential)
      return state.takeServed()
    }
    for waiter in served { waiter.done() }
  }

  func answer(_ credential: APNsCredentialID) -> APNsCheck? { state.withLock { $0.answers[credential] } }

  /// Calls `done` when none of these is open.
  func wait(
    for credentials: Set<APNsCredentialID>, from nanoseconds: UInt64, _ done: @escaping @Sendable () -> Void
  ) {
    let served = state.withLock { state in
      state.waiters.append(
        Waiter(credentials: credentials, deadline: nanoseconds &+ Self.patience, done: done))
      return state.takeServed()
    }
    for waiter in served { waiter.done() }
  }

  /// The work of once a second.
  func tick(at nanoseconds: UInt64) {
    let served = state.withLock { $0.takeServed(at: nanoseconds) }
    for waiter in served { waiter.done() }
  }
}
