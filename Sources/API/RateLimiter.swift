import BorealisBase
import HTTP
import Synchronization

/// Counts calls in windows of one minute, as JPush does: a window begins with the first call after the
/// previous one has ended.
package final class RateLimiter: Sendable {
  /// The values of the rate limit headers.
  package struct Budget: Sendable, Equatable {
    let quota: Int
    let remaining: Int
    let resetSeconds: Int
    /// Whether the call is allowed.
    package let isGranted: Bool

    /// The values for an unauthenticated caller, for whom nothing is counted.
    static func untouched(_ quota: Int) -> Budget {
      Budget(quota: quota, remaining: quota, resetSeconds: 60, isGranted: true)
    }
  }

  private struct Window: Sendable {
    var start: UInt64
    var count = 0

    func secondsLeft(at now: UInt64) -> Int {
      Int((RateLimiter.length - (now &- start) + 999_999_999) / 1_000_000_000)
    }
  }

  private struct State: Sendable {
    var windows: [UInt32: Window] = [:]
    var sweptAt: UInt64 = 0
  }

  fileprivate static let length: UInt64 = 60_000_000_000

  private let state = Mutex(State())

  /// Makes an empty limiter.
  package init() {}

  /// Counts a call of a caller with `quota` calls per minute, if there is one left. A changed quota applies
  /// immediately, also to the current window.
  package func consume(_ caller: UInt32, quota: Int, at now: UInt64) -> Budget {
    consume(caller, upTo: 1, quota: quota, at: now).budget
  }

  /// Counts as many calls as are left, at most `count`; the budget is granted if there is at least one.
  package func consume(
    _ caller: UInt32, upTo count: Int, quota: Int, at now: UInt64
  ) -> (granted: Int, budget: Budget) {
    state.withLock { state in
      if now &- state.sweptAt >= Self.length {
        // So that inactive callers are not remembered forever.
        state.windows = state.windows.filter { now &- $0.value.start < Self.length }
        state.sweptAt = now
      }
      var window = state.windows[caller] ?? Window(start: now)
      if now &- window.start >= Self.length { window = Window(start: now) }
      let granted = max(0, min(count, quota - window.count))
      window.count += granted
      state.windows[caller] = window
      let budget = Budget(
        quota: quota, remaining: max(0, quota - window.count),
        resetSeconds: window.secondsLeft(at: now), isGranted: granted > 0)
      return (granted, budget)
    }
  }

  /// Returns calls that were counted and not made.
  func giveBack(_ count: Int, to caller: UInt32, quota: Int, at now: UInt64) -> Budget {
    state.withLock { state in
      if var window = state.windows[caller], now &- window.start < Self.length {
        window.count = max(0, window.count - count)
        state.windows[caller] = window
      }
    }
    return look(caller, quota: quota, at: now)
  }

  /// What a caller has left, without counting a call.
  func look(_ caller: UInt32, quota: Int, at now: UInt64) -> Budget {
    state.withLock { state in
      guard let window = state.windows[caller], now &- window.start < Self.length else {
        return .untouched(quota)
      }
      return Budget(
        quota: quota, remaining: max(0, quota - window.count), resetSeconds: window.secondsLeft(at: now),
        isGranted: true)
    }
  }

  /// The calls of a caller in the current window.
  func used(by caller: UInt32, at now: UInt64) -> Int {
    state.withLock { state in
      guard let window = state.windows[caller], now &- window.start < Self.length else { return 0 }
      return window.count
    }
  }

  /// The number of remembered callers.
  var count: Int { state.withLock { $0.windows.count } }
}

extension HTTPHeaders {
  /// Appends the rate limit headers, under the documented name and under the one that JPush's Java and Go
  /// clients read.
  mutating func append(_ budget: RateLimiter.Budget) {
    let quota = String(budget.quota)
    append(lowercase: "x-rate-limit-quota", quota)
    append(lowercase: "x-rate-limit-limit", quota)
    append(lowercase: "x-rate-limit-remaining", String(budget.remaining))
    append(lowercase: "x-rate-limit-reset", String(budget.resetSeconds))
  }
}
