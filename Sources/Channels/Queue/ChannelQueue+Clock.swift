import BorealisBase
import Synchronization

/// Retries are due by the wall clock: if somebody sets it back, they must not wait until it is there again.
extension ChannelQueue {
  static func lead(of time: any TimeSource) -> Int64 {
    time.now().seconds - Int64(clamping: time.monotonic() / 1_000_000_000)
  }

  /// By how many seconds the wall clock was set back since the last tick. It may be set forward: what was to
  /// wait is due then.
  func jumpBack() -> Int64 {
    let now = Self.lead(of: time)
    return lead.withLock { last in
      let jump = last - now
      // Whole seconds of two clocks differ by one now and then.
      guard jump > 1 || jump < 0 else { return 0 }
      last = now
      return max(0, jump)
    }
  }
}

extension QueueState {
  /// The clock was set back: what waits for a moment of it does so for no longer than it would have.
  mutating func followClock(back seconds: Int64) {
    retries.followClock(back: seconds)
    removed.followClock(back: seconds)
    held.followClock(back: seconds)
  }
}
