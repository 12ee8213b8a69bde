import BorealisBase
import PushTesting
import Testing

@testable import Model

/// When quiet hours end.
@Suite struct QuietHoursTests {
  /// A zone whose clocks are set once.
  private struct ChangingZone: Zone {
    let before, after, change: Int64
    func offset(at second: Int64) -> Int64 { second < change ? before : after }
  }

  /// 2026-09-22 01:00:00 UTC.
  private static let change: Int64 = 1_790_038_800

  /// The end as somebody finds it who looks at the clock each minute: the first moment at which it shows the
  /// end that comes next, or has passed over it.
  private static func end(_ hours: QuietHours, at now: Timestamp, in zone: any Zone) -> Timestamp? {
    func minute(_ moment: Timestamp) -> Int64 {
      let count = zone.local(moment).count
      return count >= 0 ? count / 60 : (count - 59) / 60
    }
    let day: Int64 = 1440
    let start = minute(now)
    var isQuiet = false
    // Forward from the minute shown: the end must come before the beginning does.
    var end = start + 1
    while true {
      let ofDay = Int((end % day + day) % day)
      if ofDay == hours.until {
        isQuiet = true
        break
      }
      if ofDay == hours.from { break }
      end += 1
    }
    if Int((start % day + day) % day) == hours.until { isQuiet = false }
    guard isQuiet else { return nil }
    var moment = now.seconds - now.seconds % 60
    repeat { moment += 60 } while minute(Timestamp(milliseconds: moment * 1000)) < end
    return Timestamp(milliseconds: moment * 1000)
  }

  /// 24 zones, two of whose clocks are set in these three days.
  @Test(arguments: -11...12) func `They end as the clocks of a zone say`(east: Int64) throws {
    let offset = east * 3600
    let zones: [any Zone] = [
      FixedZone(secondsEast: offset),
      ChangingZone(before: offset, after: offset + 3600, change: Self.change),
      ChangingZone(before: offset, after: offset - 3600, change: Self.change),
    ]
    var random = SeededRandom(seed: UInt64(east + 20))
    for zone in zones {
      for _ in 0..<150 {
        let (from, until) = (
          Int.random(in: 0..<1440, using: &random), Int.random(in: 0..<1440, using: &random)
        )
        guard let hours = QuietHours(from: from, until: until) else { continue }
        let now = Timestamp(
          milliseconds: (Self.change + 60 * Int64.random(in: -1440...1440, using: &random)) * 1000)
        #expect(
          hours.end(at: now, in: zone) == Self.end(hours, at: now, in: zone),
          "\(QuietHours.text(from)) to \(QuietHours.text(until)) at \(zone.local(now).count)")
      }
    }
  }

  /// Spans are what one finds who looks at each minute.
  @Test(arguments: -11...12) func `Spans have each minute that is quiet`(east: Int64) throws {
    let offset = east * 3600
    let zones: [any Zone] = [
      FixedZone(secondsEast: offset),
      ChangingZone(before: offset, after: offset + 3600, change: Self.change),
    ]
    var random = SeededRandom(seed: UInt64(east + 50))
    for zone in zones {
      for _ in 0..<20 {
        let (from, until) = (
          Int.random(in: 0..<1440, using: &random), Int.random(in: 0..<1440, using: &random)
        )
        guard let hours = QuietHours(from: from, until: until) else { continue }
        let first = Timestamp(
          milliseconds: (Self.change + 60 * Int64.random(in: -1440...1440, using: &random)) * 1000)
        let last = first.adding(seconds: 60 * Int64.random(in: 0...1440, using: &random))
        let spans = hours.spans(from: first, through: last, in: zone)
        var moment = first
        while moment <= last {
          let found = spans.filter { $0.contains(moment) }.map(\.upperBound)
          #expect(
            found == [hours.end(at: moment, in: zone)].compactMap { $0 },
            "\(QuietHours.text(from)) to \(QuietHours.text(until)) at \(zone.local(moment).count)")
          moment = moment.adding(seconds: 60)
        }
      }
    }
  }

  private static let table: [(from: String, until: String, at: String, end: String?)] = [
    ("22:00", "08:00", "2026-09-21 21:59:59", nil),
    ("22:00", "08:00", "2026-09-21 22:00:00", "2026-09-22 08:00:00"),
    ("22:00", "08:00", "2026-09-21 23:59:59", "2026-09-22 08:00:00"),
    ("22:00", "08:00", "2026-09-22 00:00:00", "2026-09-22 08:00:00"),
    ("22:00", "08:00", "2026-09-22 07:59:59", "2026-09-22 08:00:00"),
    ("22:00", "08:00", "2026-09-22 08:00:00", nil),
    ("12:00", "14:30", "2026-09-21 12:00:00", "2026-09-21 14:30:00"),
    ("12:00", "14:30", "2026-09-21 14:30:00", nil),
    ("12:00", "14:30", "2026-09-21 11:59:59", nil),
    ("00:00", "23:59", "2026-09-21 00:00:00", "2026-09-21 23:59:00"),
    ("23:59", "00:00", "2026-09-21 23:59:30", "2026-09-22 00:00:00"),
  ]

  @Test(arguments: table)
  func `Hours may go over midnight`(line: (from: String, until: String, at: String, end: String?)) throws {
    let hours = try #require(
      QuietHours(from: QuietHours.minute(line.from) ?? -1, until: QuietHours.minute(line.until) ?? -1))
    let zone = FixedZone(secondsEast: 3600)
    let now = zone.moment(of: try #require(LocalTime(line.at)))
    #expect(hours.end(at: now, in: zone) == line.end.flatMap { LocalTime($0) }.map { zone.moment(of: $0) })
  }

  /// At 02:00 the clocks are set to 03:00, or to 01:00.
  @Test func `Clocks may be set over the end`() throws {
    let hours = try #require(QuietHours(from: 1380, until: 150))
    let forward = ChangingZone(before: 3600, after: 7200, change: Self.change)
    let change = Timestamp(milliseconds: Self.change * 1000)
    #expect(hours.end(at: change.adding(seconds: -600), in: forward) == change)
    let half = try #require(QuietHours(from: 1380, until: 90))
    let back = ChangingZone(before: 3600, after: 0, change: Self.change)
    let (first, second) = (change.adding(seconds: -1800), change.adding(seconds: 1800))
    #expect(half.end(at: change.adding(seconds: -2400), in: back) == first)
    #expect(half.end(at: first, in: back) == nil)
    #expect(half.end(at: change.adding(seconds: 600), in: back) == second, "it is 01:10 again")
  }

  @Test(arguments: ["", "8:00", "08:00:00", "24:00", "08:60", "0800", "08-00", " 8:00", "08:0x"])
  func `What is not a time of day is refused`(text: String) { #expect(QuietHours.minute(text) == nil) }

  @Test func `Times are written as they are read`() {
    for minute in [0, 9, 60, 599, 600, 1439] { #expect(QuietHours.minute(QuietHours.text(minute)) == minute) }
    #expect(QuietHours(from: 5, until: 5) == nil && QuietHours(from: -1, until: 5) == nil)
    #expect(QuietHours(from: 5, until: 1440) == nil)
  }
}
