/// When a loop's thread stood still, by the system's clock, which it reads each turn: the process was
/// stopped, the machine suspended or short of everything. What is read afterwards may have come at any moment
/// since, and its sender may have given up or gone; that holds until all that was there at the end of the
/// pause is read.
struct LoopPauses {
  /// The longest gap between two readings that is none: an idle loop waits for a second.
  static let longestGap: UInt64 = 3_000_000_000
  /// Nanoseconds after which everything that was there is read, also in a crowd.
  private static let longestCatchUp: UInt64 = 1_000_000_000

  /// The last reading.
  private(set) var latest: UInt64
  /// The last reading before a pause, and the first one after it.
  private var pause: (start: UInt64, end: UInt64)?

  /// Starts at a reading.
  init(_ reading: UInt64) { latest = reading }

  /// Whether something may be left that came during a pause: the loop looks without waiting.
  var isCatchingUp: Bool { pause != nil }

  /// Since when what is read in this turn may have waited.
  var unreadSince: UInt64 { pause?.start ?? latest }

  /// Whether the thread stands still since this turn began, or did, at a reading.
  func isPaused(at reading: UInt64) -> Bool { reading > latest + Self.longestGap }

  /// The thread has been at work, or has looked at nothing on purpose, until a reading: that is no pause.
  mutating func rest(until reading: UInt64) { latest = max(latest, reading) }

  /// The thread reads again at a reading what nobody has read since a moment.
  mutating func goOn(at reading: UInt64, unreadSince moment: UInt64) {
    rest(until: reading)
    pause = (min(pause?.start ?? moment, moment, latest), latest)
  }

  /// The clock is read, in a turn that found so many ready sockets, negative if it did not look. True if a
  /// pause has ended.
  mutating func begin(at reading: UInt64, found count: Int) -> Bool {
    defer { latest = max(latest, reading) }
    if isPaused(at: reading) {
      pause = (pause?.start ?? latest, reading)
      return true
    }
    if let pause, count == 0 || reading > pause.end + Self.longestCatchUp { self.pause = nil }
    return false
  }
}
