import BorealisBase
import Synchronization

/// A clock that stands still until a test moves it.
package final class ManualClock: TimeSource {
  private let state = Mutex((wall: Int64(1_790_000_000_000), monotonic: UInt64(1_790_000_000_000_000_000)))

  /// What happens when somebody looks at the clock.
  package let interruption = Interruption()

  /// A clock that shows a day in September 2026.
  package init() {}

  /// The wall clock.
  package func now() -> Timestamp {
    interruption.occur()
    return Timestamp(milliseconds: state.withLock { $0.wall })
  }

  /// Nanoseconds that only go forward.
  package func monotonic() -> UInt64 {
    interruption.occur()
    return state.withLock { $0.monotonic }
  }

  /// The wall clock in seconds.
  package var seconds: UInt32 { UInt32(clamping: now().seconds) }

  /// Lets time go by.
  package func advance(seconds: some BinaryInteger) {
    state.withLock { state in
      state.wall += Int64(seconds) * 1000
      state.monotonic += UInt64(clamping: seconds) * 1_000_000_000
    }
  }

  /// Lets time go by.
  package func advance(milliseconds: Int) {
    state.withLock { state in
      state.wall += Int64(milliseconds)
      state.monotonic += UInt64(clamping: milliseconds) * 1_000_000
    }
  }

  /// Lets time go by.
  package func advance(minutes: some BinaryInteger) { advance(seconds: minutes * 60) }

  /// Somebody sets the wall clock, forward or back.
  package func setWall(minutes: some BinaryInteger) { state.withLock { $0.wall += Int64(minutes) * 60_000 } }
}
