import BorealisBase
import Model
import PushTesting
import Testing

/// The windows of the first delays of a schedule, in milliseconds.
struct ScheduleCase: Sendable {
  let first: Int64
  let windows: [ClosedRange<Int64>]
}

@Suite struct RetryScheduleTests {
  /// Every delay lies in its window, the windows double up to 15 minutes, and all of a window is used.
  @Test(arguments: [
    ScheduleCase(first: 1, windows: [1000...2000, 1000...3000, 1000...5000, 1000...9000]),
    ScheduleCase(first: 10, windows: [10_000...20_000, 10_000...30_000]),
    ScheduleCase(first: 0, windows: [0...0, 1000...2000, 1000...3000]),
    ScheduleCase(first: 900, windows: [900_000...900_000]), ScheduleCase(first: -5, windows: [0...0]),
    ScheduleCase(first: .max, windows: [900_000...900_000]),
  ])
  func windows(_ example: ScheduleCase) {
    let schedule = RetrySchedule(firstSeconds: example.first)
    var random = SeededRandom(seed: 1)
    for (index, window) in example.windows.enumerated() {
      let delays = (0..<2000).map { _ in schedule.delay(afterFailures: index + 1, using: &random) }
      let (least, most) = (delays.min() ?? -1, delays.max() ?? -1)
      #expect(window.contains(least) && window.contains(most), "\(least)...\(most)")
      let width = window.upperBound - window.lowerBound
      #expect(most - least >= width * 9 / 10, "the jitter is full")
    }
  }

  @Test(arguments: [0, 1, 10, 900] as [Int64])
  func noDelayIsLongerThan15Minutes(_ first: Int64) {
    var random = SeededRandom(seed: 2)
    for failures in [1, 2, 5, 10, 15, 19, 20, 21, 22, 63, 64, 65, 1000, .max] {
      let delays = (0..<200).map { _ in
        RetrySchedule(firstSeconds: first).delay(afterFailures: failures, using: &random)
      }
      #expect(delays.allSatisfy { (0...RetrySchedule.maximumDelay).contains($0) })
      if failures > 12 { #expect(delays.contains { $0 > RetrySchedule.maximumDelay / 2 }) }
    }
    #expect(RetrySchedule(firstSeconds: first).delay(afterFailures: .min, using: &random) <= 1_800_000)
  }

  @Test func nothingIsTriedAfterTheEnd() {
    var random = SeededRandom(seed: 3)
    let schedule = RetrySchedule(firstSeconds: 1)
    let now = Timestamp(milliseconds: 1_000_000)
    for room in [-5, 0, 1, 999, 1000] as [Int64] {
      let end = Timestamp(milliseconds: now.milliseconds + room)
      #expect(schedule.next(afterFailures: 3, now: now, end: end, using: &random) == nil)
    }
    for room in [1001, 1500, 3000, 100_000] as [Int64] {
      let end = Timestamp(milliseconds: now.milliseconds + room)
      for _ in 0..<200 {
        let next = schedule.next(afterFailures: 9, now: now, end: end, using: &random)
        #expect(next.map { $0 < end && $0.milliseconds >= now.milliseconds + 1000 } == true)
      }
    }
    let atOnce = RetrySchedule(firstSeconds: 0)
    #expect(atOnce.next(afterFailures: 1, now: now, end: now.adding(seconds: 1), using: &random) == now)
    #expect(atOnce.next(afterFailures: 1, now: now, end: now, using: &random) == nil)
    let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
    #expect(schedule.next(afterFailures: 1, now: first, end: last, using: &random) != nil)
    #expect(schedule.next(afterFailures: 1, now: last, end: first, using: &random) == nil)
  }
}
