import PushBase
import Synchronization

/// What services said of credentials when they were asked, and who waits for that. Safe to use from any thread.
final class CredentialChecks: Sendable {
  /// What a service said.
  struct Check: Sendable {
    let verdict: VendorVerdict
    let at: Timestamp
  }

  private struct Waiter: Sendable {
    let credential: String
    let deadline: UInt64
    let done: @Sendable () -> Void
  }

  private struct State: Sendable {
    var known: [String: Check] = [:]
    var open: Set<String> = []
    var waiters: [Waiter] = []

    mutating func takeServed(at nanoseconds: UInt64) -> [Waiter] {
      let served = waiters.filter { $0.deadline <= nanoseconds || !open.contains($0.credential) }
      waiters.removeAll { $0.deadline <= nanoseconds || !open.contains($0.credential) }
      return served
    }
  }

  /// How long somebody waits, in nanoseconds.
  private static let patience: UInt64 = 8_000_000_000
  /// Answers that are kept.
  private static let most = 4096
  private let time: any TimeSource
  private let state = Mutex(State())

  init(time: any TimeSource) { self.time = time }

  /// A question was asked.
  func begin(_ credential: String) {
    state.withLock { state in
      state.known[credential] = nil
      state.open.insert(credential)
    }
  }

  /// It was answered.
  func end(_ credential: String, _ verdict: VendorVerdict) {
    let now = time.now()
    let served = state.withLock { state in
      // Pages then say nothing of an answer until somebody asks again.
      if state.known.count >= Self.most { state.known = [:] }
      state.known[credential] = Check(verdict: verdict, at: now)
      state.open.remove(credential)
      return state.takeServed(at: 0)
    }
    for waiter in served { waiter.done() }
  }

  /// The latest answer; nil if there is none yet.
  func answer(_ credential: String) -> Check? { state.withLock { $0.known[credential] } }

  /// The answer to the question that is open, or after some seconds none.
  func wait(for credential: String) async -> Check? {
    await awaitCallback { done in
      let served = state.withLock { state in
        state.waiters.append(
          Waiter(credential: credential, deadline: time.monotonic() &+ Self.patience) { done(()) })
        return state.takeServed(at: 0)
      }
      for waiter in served { waiter.done() }
    }
    return answer(credential)
  }

  /// Call once a second.
  func tick() {
    let now = time.monotonic()
    let served = state.withLock { $0.takeServed(at: now) }
    for waiter in served { waiter.done() }
  }
}
