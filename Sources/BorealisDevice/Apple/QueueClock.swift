/// Milliseconds in which a device could have read what its server sent: without those in which the process
/// was stopped or the device slept.
///
/// The owner is called when something happens, and at the latest when its timer is due. If it is called
/// later than that, it stood still in between.
struct QueueClock {
  /// So much later a timer may come, in milliseconds.
  static let tolerance: UInt64 = 2000

  /// The time.
  private(set) var now: UInt64
  /// The same on a clock that counts all time.
  private(set) var steady: UInt64

  /// Starts at a reading of the steady clock.
  init(_ reading: UInt64) { (now, steady) = (reading, reading) }

  /// Takes the next reading; `due` is the time at which the timer was to come, nil for none. Returns
  /// whether the process stood still.
  mutating func advance(to reading: UInt64, due: UInt64?) -> Bool {
    guard reading > steady else { return false }
    let step = reading - steady
    steady = reading
    guard let due, step > due - min(due, now) + Self.tolerance else {
      now += step
      return false
    }
    now = max(now, due) + Self.tolerance
    return true
  }
}
