import BorealisBase
import HTTP
import Testing

@Suite struct ACMEScheduleTests {
  private static let day: Int64 = 86_400

  private func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  @Test(arguments: [(90 * day, 60 * day, 63 * day), (6 * day, 4 * day, 4 * day + 17_280), (0, 0, 0)])
  func `A certificate is renewed when two thirds of its life are over`(
    life: Int64, earliest: Int64, latest: Int64
  ) {
    for (jitter, expected) in [(0.0, earliest), (1.0, latest)] {
      let renewal = ACMESchedule.renewal(from: moment(1000), to: moment(1000 + life), jitter: jitter)
      #expect(renewal == moment(1000 + expected))
    }
  }

  @Test(arguments: [(90 * day, day), (day, day / 3), (30, 10), (0, 1), (-5, 1)])
  func `A new one is left alone for a while`(life: Int64, rest: Int64) {
    #expect(ACMESchedule.rest(from: moment(0), to: moment(life)) == rest)
  }

  @Test(
    arguments: [
      (1, 30 * day, nil, 900), (2, 30 * day, nil, 1800), (20, 30 * day, nil, day), (20, 2 * day, nil, 21_600),
      (20, 0, nil, 3600), (1, 0, nil, 900), (.max, .max, nil, day), (20, 0, 60, 3600), (0, 0, -1, 900),
      (1, 0, 7200, 3600), (1, 0, .max, 3600), (1, 30 * day, 3 * day, 3 * day),
      (1, 30 * day, .max, 30 * day / 8), (1, 100 * day, .max, 7 * day), (1, 4 * 3600, 7200, 3600),
    ] as [(Int64, Int64, Int64?, Int64)])
  func `Pauses grow with failures, and are shorter when little time is left`(
    failures: Int64, left: Int64, wish: Int64?, expected: Int64
  ) {
    let failure = ACMEFailure("no", retryAfter: wish)
    #expect(ACMESchedule.pause(failures: failures, left: left, failure) == expected)
  }

  @Test(
    arguments: [
      (0, 7200, 7200), (0, .max, 7 * day), (8 * day, .max, 7 * day), (7 * day, .max, 7 * day / 8),
      (7200, 7199, 7199), (7200, 7200, 3600), (7200, nil, 900), (7200, 60, 900),
    ] as [(Int64, Int64?, Int64)])
  func `A limit is waited for unless the certificate expires meanwhile`(
    left: Int64, wish: Int64?, expected: Int64
  ) {
    let failure = ACMEFailure("no", retryAfter: wish, isLimit: true)
    #expect(ACMESchedule.pause(failures: 1, left: left, failure) == expected)
  }

  /// Seconds on the wall clock, which shows 1,000,000 in the beginning, and seconds that have gone by.
  @Test(
    arguments: [
      (0, nil, 1_000_000, 0, true), (1_000_900, nil, 1_000_899, 899, false),
      (1_000_900, nil, 1_000_900, 900, true),
      // Somebody sets the clock back, or forward.
      (1_000_900, nil, 500, 899, false), (1_000_900, nil, 500, 900, true),
      (1_000_900, nil, 9_000_000, 899, false),
      // It was ahead when that was stored.
      (.max, nil, 9_000_000, 7 * day - 1, false), (.max, nil, 1_000_000, 7 * day, true),
      // A certificate is due by the wall clock, behind the pause.
      (0, 2_000_000, 1_999_999, 999_999, false), (0, 2_000_000, 2_000_000, 0, true),
      (1_000_900, 2_000_000, 2_000_000, 899, false), (1_000_900, 2_000_000, 2_000_000, 900, true),
      (1_000_900, 2_000_000, 500, 5_000_000, false), (0, 500, 1_000_000, 0, true),
    ] as [(Int64, Int64?, Int64, Int64, Bool)])
  func `A clock that is set neither shortens nor lengthens a pause`(
    earliest: Int64, renewal: Int64?, wall: Int64, passed: Int64, isDue: Bool
  ) {
    let next = ACMENextAttempt(
      earliest: Timestamp(milliseconds: 0).adding(seconds: earliest), renewal: renewal.map(moment),
      now: moment(1_000_000), monotonic: 77)
    #expect(next.isDue(now: moment(wall), monotonic: 77 + UInt64(passed) * 1_000_000_000) == isDue)
  }

  @Test(
    arguments: [
      (0, nil, 1_000_000), (1_000_900, nil, 1_000_900), (1_000_900, 2_000_000, 2_000_000),
      (1_000_900, 1_000_100, 1_000_900), (.max, nil, 1_000_000 + 7 * day),
    ] as [(Int64, Int64?, Int64)])
  func `The log says when the next attempt begins`(earliest: Int64, renewal: Int64?, expected: Int64) {
    let next = ACMENextAttempt(
      earliest: Timestamp(milliseconds: 0).adding(seconds: earliest), renewal: renewal.map(moment),
      now: moment(1_000_000), monotonic: 77)
    #expect(next.begin(now: moment(1_000_000), monotonic: 77) == moment(expected))
    #expect(
      next.begin(now: moment(8_000_000), monotonic: .max) == max(moment(8_000_000), moment(renewal ?? 0)))
  }
}
