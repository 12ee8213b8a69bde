import PushRouter
import PushStorage
import Synchronization

/// The results of verifying credentials with APNs, and the callers that wait for them.
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

    /// The callers that need not wait any longer.
    mutating func takeServed(at nanoseconds: UInt64 = 0) -> [Waiter] {
      let served = waiters.filter { $0.deadline <= nanoseconds || $0.credentials.isDisjoint(with: open) }
      waiters.removeAll { $0.deadline <= nanoseconds || $0.credentials.isDisjoint(with: open) }
      return served
    }
  }

  /// How long a caller waits, in nanoseconds.
  private static let patience: UInt64 = 8_000_000_000
  private let state = Mutex(State())

  /// A verification has started.
  func begin(_ credential: APNsCredentialID) {
    state.withLock { state in
      state.answers[credential] = nil
      state.open.insert(credential)
    }
  }

  /// A verification has ended, with or without a response.
  func end(_ check: APNsCheck) {
    let served = state.withLock { state in
      state.answers[check.credential] = check
      state.open.remove(check.credential)
      return state.takeServed()
    }
    for waiter in served { waiter.done() }
  }

  func answer(_ credential: APNsCredentialID) -> APNsCheck? { state.withLock { $0.answers[credential] } }

  /// Calls `done` when none of these is in progress.
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

  /// Call once a second.
  func tick(at nanoseconds: UInt64) {
    let served = state.withLock { $0.takeServed(at: nanoseconds) }
    for waiter in served { waiter.done() }
  }
}
