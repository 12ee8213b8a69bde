import BorealisBase
import Synchronization

/// What a service says of a credential.
package enum CredentialVerdict: Sendable, Equatable {
  /// It takes it.
  case accepted
  /// It does not; with its reason.
  case refused(String)
  /// There is nobody to ask.
  case unasked
  /// It could not be asked, or gave no clear answer; with the reason.
  case unclear(String)
}

/// What a service said of a credential, and when.
package struct CredentialCheck: Sendable, Equatable {
  /// What it said.
  package let verdict: CredentialVerdict
  /// When.
  package let at: Timestamp
}

/// What services said of credentials when they were asked, and who waits for that. Safe to use from any
/// thread.
package final class CredentialChecks<Credential: Hashable & Sendable>: Sendable {
  private struct Waiter: Sendable {
    let credentials: Set<Credential>
    let deadline: UInt64
    let done: @Sendable () -> Void
  }

  private struct State: Sendable {
    var known: [Credential: CredentialCheck] = [:]
    var open: Set<Credential> = []
    var waiters: [Waiter] = []

    /// Removes and returns those that need not wait any longer.
    mutating func removeServed(at nanoseconds: UInt64 = 0) -> [Waiter] {
      let served = waiters.filter { $0.deadline <= nanoseconds || $0.credentials.isDisjoint(with: open) }
      waiters.removeAll { $0.deadline <= nanoseconds || $0.credentials.isDisjoint(with: open) }
      return served
    }
  }

  /// How long somebody waits, in nanoseconds.
  private static var patience: UInt64 { 8_000_000_000 }
  /// Answers that are kept.
  private static var most: Int { 4096 }
  private let time: any TimeSource
  private let state = Mutex(State())

  /// Knows no answer yet.
  package init(time: any TimeSource) { self.time = time }

  /// A question was asked.
  package func begin(_ credential: Credential) {
    state.withLock { state in
      state.known[credential] = nil
      state.open.insert(credential)
    }
  }

  /// It was answered, or will not be.
  package func end(_ credential: Credential, _ verdict: CredentialVerdict) {
    let now = time.now()
    let served = state.withLock { state in
      // Pages then say nothing of an answer until somebody asks again.
      if state.known.count >= Self.most { state.known = [:] }
      state.known[credential] = CredentialCheck(verdict: verdict, at: now)
      state.open.remove(credential)
      return state.removeServed()
    }
    for waiter in served { waiter.done() }
  }

  /// The latest answer; nil if there is none yet.
  package func answer(_ credential: Credential) -> CredentialCheck? {
    state.withLock { $0.known[credential] }
  }

  /// Calls `done` when no question about one of these is open, or after eight seconds.
  package func wait(for credentials: Set<Credential>, _ done: @escaping @Sendable () -> Void) {
    let deadline = time.monotonic() &+ Self.patience
    let served = state.withLock { state in
      state.waiters.append(Waiter(credentials: credentials, deadline: deadline, done: done))
      return state.removeServed()
    }
    for waiter in served { waiter.done() }
  }

  /// The answer to the question that is open, or after eight seconds none.
  package func wait(for credential: Credential) async -> CredentialCheck? {
    await awaitCallback { done in wait(for: [credential]) { done(()) } }
    return answer(credential)
  }

  /// Call once a second.
  package func tick() {
    let now = time.monotonic()
    let served = state.withLock { $0.removeServed(at: now) }
    for waiter in served { waiter.done() }
  }
}
