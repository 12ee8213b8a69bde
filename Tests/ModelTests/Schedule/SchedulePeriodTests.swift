import BorealisBase
import Model
import Testing

/// Periods against a calendar that is walked day by day and counts weeks and months as it goes.
@Suite struct SchedulePeriodTests {
  /// Numbers that are the same in every run.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private static func period(_ dice: inout Dice) -> SchedulePeriod {
    // From 2023 to 2032: with leap years, and without.
    let start = LocalTime(
      date: LocalDate(dayNumber: .random(in: 19_358...23_000, using: &dice)),
      secondOfDay: .random(in: 0..<86_400, using: &dice))
    let span = Int64.random(in: 0...366, using: &dice)
    let end = LocalTime(
      date: start.date.adding(days: span), secondOfDay: .random(in: 0..<86_400, using: &dice))
    let days: SchedulePeriod.Days =
      switch Int.random(in: 0..<3, using: &dice) {
      case 0: .day
      case 1: .week(Set((0..<3).map { _ in Int.random(in: 0...6, using: &dice) }))
      default: .month(Set((0..<4).map { _ in Int.random(in: 1...31, using: &dice) }))
      }
    // Often the time of the start or the end itself, where a step too many or too few shows.
    let times = [start.secondOfDay, end.secondOfDay, Int.random(in: 0..<86_400, using: &dice)]
    return SchedulePeriod(
      start: start, end: max(start, end), secondOfDay: times[Int.random(in: 0..<3, using: &dice)], days: days,
      frequency: .random(in: 1...6, using: &dice))
  }

  private static func occurrences(of period: SchedulePeriod) -> [LocalTime] {
    var found: [LocalTime] = []
    var (dayCount, weekCount, monthCount) = (0, 0, 0)
    var date = period.start.date
    while date <= period.end.date {
      let time = LocalTime(date: date, secondOfDay: period.secondOfDay)
      let isMeant =
        switch period.days {
        case .day: dayCount % period.frequency == 0
        case .week(let days): weekCount % period.frequency == 0 && days.contains(date.weekday)
        case .month(let days): monthCount % period.frequency == 0 && days.contains(date.day)
        }
      if isMeant, time >= period.start, time <= period.end { found.append(time) }
      date = date.adding(days: 1)
      dayCount += 1
      if date.weekday == 0 { weekCount += 1 }
      if date.day == 1 { monthCount += 1 }
    }
    return found
  }

  @Test func occurrencesAreThoseOfTheWalk() {
    var dice = Dice(state: 7)
    for _ in 0..<3000 {
      let period = Self.period(&dice)
      let expected = Self.occurrences(of: period)
      var found: [LocalTime] = []
      while let next = period.next(after: found.last), found.count < 400 { found.append(next) }
      #expect(found == expected, "\(period)")
      #expect(period.last == expected.last, "\(period)")
      let moment = LocalTime(
        date: period.start.date.adding(days: .random(in: -3...370, using: &dice)),
        secondOfDay: .random(in: 0..<86_400, using: &dice))
      #expect(period.next(after: moment) == expected.first { $0 > moment }, "\(period) after \(moment)")
    }
  }

  @Test(arguments: [
    // Every second week from the week of a Wednesday: its Monday is over, the week after is left out.
    ("2030-01-02 00:00:00", "week", 2, ["MON", "WED"], ["2030-01-02", "2030-01-14", "2030-01-16"]),
    // A day that a month does not have is left out.
    ("2030-01-31 00:00:00", "month", 1, ["31"], ["2030-01-31", "2030-03-31", "2030-05-31"]),
    ("2027-12-30 00:00:00", "month", 2, ["29"], ["2028-02-29", "2028-04-29", "2028-06-29"]),
    ("2030-01-01 08:00:01", "day", 3, [], ["2030-01-04", "2030-01-07", "2030-01-10"]),
    ("2030-01-01 08:00:00", "day", 3, [], ["2030-01-01", "2030-01-04", "2030-01-07"]),
  ])
  func daysInWords(start: String, unit: String, frequency: Int, points: [String], expected: [String]) throws {
    let trigger = try ScheduleRequestTests.trigger(
      start: start, end: start.replacing("2030", with: "2031").replacing("2027", with: "2028"), unit: unit,
      frequency: frequency, points: points)
    var found: [LocalTime] = []
    for _ in expected { found.append(try #require(trigger.next(after: found.last))) }
    #expect(found.map(\.text) == expected.map { "\($0) 08:00:00" })
  }
}

/// Triggers on clocks that are changed.
@Suite struct ScheduleZoneTests {
  /// Central Europe in 2027: forward on 28 March 01:00 UTC, back on 31 October 01:00 UTC.
  private struct Berlin: Zone {
    func offset(at second: Int64) -> Int64 { (1_806_195_600..<1_824_944_400).contains(second) ? 7200 : 3600 }
  }

  private static func daily(at time: String) throws -> ScheduleTrigger {
    try ScheduleRequestTests.trigger(
      start: "2027-03-01 00:00:00", end: "2027-12-30 23:59:59", time: time, unit: "day", frequency: 1,
      points: [])
  }

  /// Whatever the clocks do, each day has one occurrence, and each is later than the one before.
  @Test(arguments: ["02:30:00", "02:00:00", "03:00:00", "00:00:00", "23:59:59"])
  func eachDayHasOneMoment(time: String) throws {
    let trigger = try Self.daily(at: time)
    var moments: [Timestamp] = []
    var next = trigger.next(after: nil)
    while let local = next {
      moments.append(Berlin().moment(of: local))
      next = trigger.next(after: local)
    }
    #expect(moments.count == 305)
    #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 < $1 })
  }

  /// What is still to come is later than now, also while the clocks show an hour for the second time, and
  /// nothing that is to come is left out.
  @Test(arguments: ["02:30:00", "02:00:00", "03:00:00", "01:59:59"])
  func whatIsToComeIsLaterThanNow(time: String) throws {
    let trigger = try Self.daily(at: time)
    var moments: [Timestamp] = []
    var local = trigger.next(after: nil)
    while let found = local {
      moments.append(Berlin().moment(of: found))
      local = trigger.next(after: found)
    }
    for change in [Int64(1_806_195_600), 1_824_944_400] {
      for step in -300..<300 {
        let now = Timestamp(milliseconds: (change + Int64(step) * 307) * 1000)
        let next = trigger.next(after: now, in: Berlin()).map { Berlin().moment(of: $0) }
        #expect(next == moments.first { $0 > now })
      }
    }
  }

  @Test func aSingleTimeIsInTheNextYear() throws {
    let now = Berlin().moment(of: try #require(LocalTime("2027-03-01 12:00:00")))
    func outcome(_ text: String) throws -> String {
      let trigger = ScheduleTrigger.single(try #require(LocalTime(text)))
      do throws(APIError) { return try trigger.first(from: now, in: Berlin()).text } catch {
        return "\(error.code) \(error.message)"
      }
    }
    #expect(try outcome("2027-03-01 12:00:01") == "2027-03-01 12:00:01")
    #expect(try outcome("2028-03-01 12:00:00") == "2028-03-01 12:00:00")
    #expect(try outcome("2027-03-01 12:00:00") == "8100 trigger.single.time must be in the future")
    #expect(try outcome("2028-03-03 00:00:00") == "8100 trigger.single.time must be at most one year ahead")
  }
}
