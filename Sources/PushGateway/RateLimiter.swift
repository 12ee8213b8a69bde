import PushBase
import Synchronization

/// Counts calls of each app in windows of one minute, as JPush does.
final class RateLimiter: Sendable {
  /// What the answer's headers say.
  struct Budget: Sendable, Equatable {
    let quota: Int
    let remaining: Int
    let resetSeconds: Int
    let isGranted: Bool
  }

  private struct Window: Sendable {
    var start: UInt64
    var count = 0
  }

  private static let length: UInt64 = 60_000_000_000

  private let quota: Int
  private let windows = Mutex<[AppID: Window]>([:])

  init(perMinute quota: Int) { self.quota = quota }

  func take(_ app: AppID, at now: UInt64) -> Budget {
    windows.withLock { windows in
      var window = windows[app] ?? Window(start: now)
      if now >= window.start + Self.length { window = Window(start: now) }
      let isGranted = window.count < quota
      if isGranted { window.count += 1 }
      windows[app] = window
      let left = window.start + Self.length - now
      return Budget(
        quota: quota, remaining: quota - window.count,
        resetSeconds: Int((left + 999_999_999) / 1_000_000_000),
        isGranted: isGranted)
    }
  }
}
