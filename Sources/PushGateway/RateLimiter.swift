import PushBase
import Synchronization

/// Counts calls in windows of one minute, as JPush does: a window begins with the first call after the one before has
/// ended.
final class RateLimiter: Sendable {
  /// What the answer's headers say.
  struct Budget: Sendable, Equatable {
    let quota: Int
    let remaining: Int
    let resetSeconds: Int
    let isGranted: Bool

    /// What is said to somebody who is nobody yet, for whom nothing is counted.
    static func untouched(_ quota: Int) -> Budget {
      Budget(quota: quota, remaining: quota, resetSeconds: 60, isGranted: true)
    }
  }

  private struct Window: Sendable {
    var start: UInt64
    var count = 0
  }

  private struct State: Sendable {
    var windows: [UInt32: Window] = [:]
    var sweptAt: UInt64 = 0
  }

  private static let length: UInt64 = 60_000_000_000

  private let state = Mutex(State())

  /// Counts a call of someone who may make `quota` in a minute, if there is one left. A quota that changes holds at once,
  /// for the window that is running too.
  func take(_ caller: UInt32, quota: Int, at now: UInt64) -> Budget {
    take(caller, upTo: 1, quota: quota, at: now).budget
  }

  /// Counts as many calls as are left, at most `count`; the budget is granted if it is any.
  func take(
    _ caller: UInt32, upTo count: Int, quota: Int, at now: UInt64
  ) -> (granted: Int, budget: Budget) {
    state.withLock { state in
      if now &- state.sweptAt >= Self.length {
        // So that those who called once are not remembered for ever.
        state.windows = state.windows.filter { now &- $0.value.start < Self.length }
        state.sweptAt = now
      }
      var window = state.windows[caller] ?? Window(start: now)
      if now &- window.start >= Self.length { window = Window(start: now) }
      let granted = max(0, min(count, quota - window.count))
      window.count += granted
      state.windows[caller] = window
      let left = Self.length - (now &- window.start)
      let budget = Budget(
        quota: quota, remaining: max(0, quota - window.count),
        resetSeconds: Int((left + 999_999_999) / 1_000_000_000), isGranted: granted > 0)
      return (granted, budget)
    }
  }

  /// The calls of a caller in the window that is running.
  func used(by caller: UInt32, at now: UInt64) -> Int {
    state.withLock { state in
      guard let window = state.windows[caller], now &- window.start < Self.length else { return 0 }
      return window.count
    }
  }

  /// Callers that are remembered.
  var count: Int { state.withLock { $0.windows.count } }
}
