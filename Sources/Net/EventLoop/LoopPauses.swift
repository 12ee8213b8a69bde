/// When a loop's thread stood still, by the system's clock, which it reads each turn: the process was
/// stopped, the machine suspended or short of everything. What is read afterwards may have come at any moment
/// since, and its sender may have given up or gone; that holds until all that was there at the end of the
/// pause is read.
struct LoopPauses {
  /// The longest gap between two readings that is none: an idle loop waits for a second.
  static let longestGap: UInt64 = 3_000_000_000
  /// Nanoseconds of reading after which everything that was there is read, also in a crowd; of a turn only so
  /// many count, as the thread may have waited for a processor or done something else in it.
  private static let (longestCatchUp, longestTurn): (UInt64, UInt64) = (1_000_000_000, 50_000_000)

  /// The last reading.
  private(set) var latest: UInt64
  /// The last reading before a pause, and the nanoseconds of reading since it ended.
  private var pause: (start: UInt64, read: UInt64)?

  /// Starts at a reading.
  init(_ reading: UInt64) { latest = reading }

  /// Whether something may be left that came during a pause: the loop looks without waiting.
  var isCatchingUp: Bool { pause != nil }

  /// Since when what is read in this turn may have waited.
  var unreadSince: UInt64 { pause?.start ?? latest }

  /// Whether the thread stands still since this turn began, or did, at a reading.
  func isPaused(at reading: UInt64) -> Bool { reading > latest + Self.longestGap }

  /// The thread has been at work, or has looked at nothing on purpose, until a reading: that is not a pause.
  mutating func rest(until reading: UInt64) { latest = max(latest, reading) }

  /// The thread reads again at a reading what nobody has read since a moment.
  mutating func goOn(at reading: UInt64, unreadSince moment: UInt64) {
    rest(until: reading)
    pause = (min(pause?.start ?? moment, moment, latest), 0)
  }

  /// The clock is read, in a turn that found so many ready sockets, negative if it did not look. True if a
  /// pause has ended.
  mutating func begin(at reading: UInt64, found count: Int) -> Bool {
    defer { latest = max(latest, reading) }
    if isPaused(at: reading) {
      pause = (pause?.start ?? latest, 0)
      return true
    }
    if var pause {
      pause.read += min(max(reading, latest) - latest, Self.longestTurn)
      self.pause = count == 0 || pause.read > Self.longestCatchUp ? nil : pause
    }
    return false
  }
}
