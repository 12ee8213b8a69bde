import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Clocks that change once.
struct ChangingZone: Zone {
  let before, after, change: Int64
  func offset(at second: Int64) -> Int64 { second < change ? before : after }
}

/// When schedules fire that follow the clocks of devices.
@Suite struct ScheduleClocksTests {
  private static let utc = FixedZone(secondsEast: 0)

  private static func time(_ text: String) throws -> LocalTime { try #require(LocalTime(text)) }

  private static func daily(from start: String, days: Int64, at second: Int) throws -> ScheduleTrigger {
    let first = try time(start)
    return .periodical(
      SchedulePeriod(
        start: first, end: LocalTime(count: first.count + days * 86_400 + 86_399), secondOfDay: second,
        days: .day,
        frequency: 1), by: .device)
  }

  private static func all(_ trigger: ScheduleTrigger, _ clocks: ScheduleClocks, from now: Timestamp) throws
    -> [ScheduleRow.Occurrence]
  {
    var all: [ScheduleRow.Occurrence] = []
    var next: ScheduleRow.Occurrence? = try clocks.first(of: trigger, from: now)
    while let one = next {
      all.append(one)
      next = clocks.next(of: trigger, after: one)
    }
    return all
  }

  /// Whatever the zones, each moment of each time comes once and in order, and nothing else.
  @Test(arguments: 0..<20) func `Occurrences are the moments of all zones`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var zones: [String: any Zone] = [:]
    let now = Timestamp(milliseconds: 1_790_000_000_000)
    for number in 0..<Int.random(in: 0...24, using: &random) {
      let before = Int64.random(in: -48...56, using: &random) * 900
      zones["Z/\(number)"] = ChangingZone(
        before: before, after: before + ([0, 3600, -3600].randomElement(using: &random) ?? 0),
        change: now.seconds + Int64.random(in: 0...400_000, using: &random))
    }
    let clocks = ScheduleClocks(server: Self.utc, zones: TimeZones(zones))
    let trigger = try Self.daily(
      from: "2026-09-20 00:00:00", days: 5, at: Int.random(in: 0...86_399, using: &random))
    var expected: Set<[Int64]> = []
    var local = trigger.next(after: nil)
    while let time = local {
      for zone in zones.values + [Self.utc] {
        let moment = zone.moment(of: time)
        if moment > now { expected.insert([moment.milliseconds, time.count]) }
      }
      local = trigger.next(after: time)
    }
    let found = try Self.all(trigger, clocks, from: now)
    #expect(
      found.map { [$0.at.milliseconds, $0.local.count] }
        == expected.sorted { $0.lexicographicallyPrecedes($1) })
    let last = clocks.last(of: trigger, first: try #require(found.first))
    #expect(last.local == trigger.last && clocks.isLast(last))
    for one in found { #expect(clocks.isLast(one) == (one.at == clocks.moments(of: one.local).last)) }
  }

  /// In the far west it is still Monday when it is Tuesday in the far east.
  @Test func `Two days may take turns`() throws {
    let clocks = ScheduleClocks(
      server: Self.utc,
      zones: TimeZones(["E": FixedZone(secondsEast: 14 * 3600), "W": FixedZone(secondsEast: -12 * 3600)]))
    let trigger = try Self.daily(from: "2026-10-05 00:00:00", days: 1, at: 9 * 3600)
    let now = Timestamp(milliseconds: 1_790_000_000_000)
    let found = try Self.all(trigger, clocks, from: now).map { $0.local.date.day }
    #expect(found == [5, 5, 6, 5, 6, 6])
    let middle = Self.utc.moment(of: try Self.time("2026-10-05 20:00:00"))
    #expect(clocks.underWay(of: trigger, at: middle).map(\.date.day) == [5, 6])
    #expect(clocks.underWay(of: trigger, at: now) == [])
  }

  @Test func `A single time is over when it is over everywhere`() throws {
    let clocks = ScheduleClocks(
      server: Self.utc, zones: TimeZones(["W": FixedZone(secondsEast: -12 * 3600)]))
    let trigger = ScheduleTrigger.single(try Self.time("2026-10-05 09:00:00"), by: .device)
    func first(_ text: String) throws -> String {
      let now = Self.utc.moment(of: try Self.time(text))
      do throws(APIError) { return Self.utc.local(try clocks.first(of: trigger, from: now).at).text } catch {
        return "\(error.code) \(error.message)"
      }
    }
    #expect(try first("2026-10-05 08:59:59") == "2026-10-05 09:00:00")
    #expect(try first("2026-10-05 09:00:00") == "2026-10-05 21:00:00")
    #expect(try first("2026-10-05 21:00:00") == "8100 trigger.single.time must be in the future")
    #expect(try first("2025-10-03 00:00:00") == "8100 trigger.single.time must be at most one year ahead")
  }

  /// All zones of the earth: their number is bounded, and so are the moments of a time.
  @Test func `The system's zones are known by their names`() throws {
    let zones = TimeZones.system
    #expect((400...2000).contains(zones.count))
    for name in ["Asia/Shanghai", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+12", "Europe/Kyiv"] {
      #expect(zones[name] != nil, "\(name)")
    }
    for name in ["", "posix/UTC", "right/UTC", "zone.tab", "../zoneinfo/UTC", "asia/shanghai", "GMT+08:00"] {
      #expect(zones[name] == nil, "\(name)")
    }
    #expect(zones.all.count < zones.count, "a zone with several names is there once")
    let clocks = ScheduleClocks(server: FixedZone.china, zones: zones)
    let local = try Self.time("2026-12-01 09:00:00")
    let moments = clocks.moments(of: local)
    #expect((30...60).contains(moments.count))
    #expect(moments.first == FixedZone(secondsEast: 14 * 3600).moment(of: local))
    #expect(moments.last == FixedZone(secondsEast: -12 * 3600).moment(of: local))
  }
}
