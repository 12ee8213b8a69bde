import Testing

@testable import BorealisDevice

@Suite struct QueueClockTests {
  /// Readings, each with the time at which the timer was to come, and what the clock shows then.
  @Test(
    arguments: [
      ([(500, nil)], 500, false),
      // An idle device without a deadline may be called after any time.
      ([(900_000, nil)], 900_000, false), ([(100, 1000), (1100, 1000)], 1100, false),
      ([(3000, 1000)], 3000, false), ([(3001, 1000)], 3000, true),
      // A long sleep counts until the deadline and the tolerance.
      ([(600_000, 10_000)], 12_000, true), ([(600_000, 10_000), (600_500, 13_000)], 12_500, false),
      // The deadline was over already.
      ([(50, 20), (9000, 20)], 2050, true),
      // The reading never goes back.
      ([(700, nil), (600, nil)], 700, false),
    ] as [([(UInt64, UInt64?)], UInt64, Bool)])
  func timeInWhichTheProcessStoodStillDoesNotCount(
    readings: [(UInt64, UInt64?)], now: UInt64, stoodStill: Bool
  ) {
    var clock = QueueClock(0)
    var last = false
    for (reading, due) in readings { last = clock.advance(to: reading, due: due) }
    #expect(clock.now == now)
    #expect(last == stoodStill)
    #expect(clock.steady == readings.map(\.0).max())
  }
}
