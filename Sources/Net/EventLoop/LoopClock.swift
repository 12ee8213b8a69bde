/// The clock of an event loop: nanoseconds in which the loop could have read what its peers sent.
///
/// A turn waits for a second at most and works for milliseconds. If the clock goes by more than that between
/// two turns, the process was stopped (a debugger, a frozen container) or the machine was suspended: what
/// peers sent meanwhile waits unread, so that time does not count against them.
struct LoopClock {
  /// The most that a turn adds.
  static let longestTurn: UInt64 = 2_000_000_000

  /// The loop's time.
  private(set) var now: UInt64
  /// How often a turn took longer.
  private(set) var pauses = 0
  private var latest: UInt64

  /// Starts at a reading of the system's clock.
  init(_ reading: UInt64) { (now, latest) = (reading, reading) }

  /// Takes the next reading of the system's clock.
  mutating func advance(to reading: UInt64) {
    guard reading > latest else { return }
    let step = reading - latest
    latest = reading
    now += min(step, Self.longestTurn)
    if step > Self.longestTurn { pauses += 1 }
  }
}
