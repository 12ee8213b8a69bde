import BorealisBase
import Testing

/// Clocks that change at given moments.
struct StepZone: Zone {
  /// Seconds ahead of UTC before the first change.
  let first: Int64
  /// Moments in Unix seconds, ascending, and the offset from then on.
  let changes: [(at: Int64, offset: Int64)]

  func offset(at second: Int64) -> Int64 { changes.last { $0.at <= second }?.offset ?? first }

  /// Central Europe in 2027: forward on 28 March 01:00 UTC, back on 31 October 01:00 UTC.
  static let berlin = StepZone(
    first: 3600, changes: [(1_806_195_600, 7200), (1_824_944_400, 3600)])
  /// New York in 2027: forward on 14 March 07:00 UTC, back on 7 November 06:00 UTC.
  static let newYork = StepZone(
    first: -18_000, changes: [(1_805_007_600, -14_400), (1_825_567_200, -18_000)])
  /// Samoa left out 30 December 2011.
  static let samoa = StepZone(first: -36_000, changes: [(1_325_239_200, 50_400)])
}

@Suite struct LocalTimeTests {
  /// Days are compared with a calendar that is walked day by day, over four centuries and more.
  @Test func daysAreThoseOfAWalkedCalendar() {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var (year, month, day, weekday) = (1970, 1, 1, 3)
    var wrong = 0
    for number in 0..<170_000 {
      let date = LocalDate(dayNumber: Int64(number))
      let parts = (date.year, date.month, date.day) == (Int64(year), month, day)
      if !parts || date.weekday != weekday || LocalDate(year: year, month: month, day: day) != date {
        wrong += 1
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      day += 1
      weekday = (weekday + 1) % 7
      if day > lengths[month - 1] + (month == 2 && isLeap ? 1 : 0) { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect(wrong == 0)
  }

  @Test func daysBefore1970() throws {
    let last = LocalDate(dayNumber: -1)
    #expect(last.text == "1969-12-31" && last.weekday == 2)
    #expect(LocalDate(year: 1, month: 1, day: 1)?.text == "0001-01-01")
    #expect(LocalDate(dayNumber: .min) < LocalDate(dayNumber: .max))
  }

  @Test(arguments: ["2030-01-01 00:00:00", "2028-02-29 23:59:59", "9999-12-31 12:30:05"])
  func timesReadBackAsWritten(text: String) {
    #expect(LocalTime(text)?.text == text)
  }

  @Test(arguments: [
    "", "2030-01-01", "2030-01-01T00:00:00", "2030-1-01 00:00:00", "2030-01-01 0:00:00",
    "2030-01-01 24:00:00",
    "2030-01-01 00:60:00", "2030-01-01 23:59:60", "2027-02-29 00:00:00", "2030-04-31 00:00:00",
    "2030-00-01 00:00:00", "2030-13-01 00:00:00", "0000-01-01 00:00:00", " 2030-01-01 00:00:00",
    "2030-01-01 00:00:00 ", "2030-01-01  00:00:00", "+030-01-01 00:00:00", "２０30-01-01 00:00:00",
    "2030-01-01 00:00", "2030-01-01 00:00:00Z",
  ])
  func otherTextsAreNoTimes(text: String) {
    #expect(LocalTime(text) == nil)
  }
}

@Suite struct ZoneTests {
  static func utc(_ text: String) -> Timestamp? {
    LocalTime(text).map { FixedZone(secondsEast: 0).moment(of: $0) }
  }

  @Test(arguments: [
    ("2027-03-28 01:59:59", "2027-03-28 00:59:59"),
    // Not shown: the first moment after it.
    ("2027-03-28 02:00:00", "2027-03-28 01:00:00"), ("2027-03-28 02:30:00", "2027-03-28 01:00:00"),
    ("2027-03-28 03:00:00", "2027-03-28 01:00:00"), ("2027-03-28 03:00:01", "2027-03-28 01:00:01"),
    // Shown twice: the first.
    ("2027-10-31 02:00:00", "2027-10-31 00:00:00"), ("2027-10-31 02:59:59", "2027-10-31 00:59:59"),
    ("2027-10-31 03:00:00", "2027-10-31 02:00:00"), ("2027-10-31 01:59:59", "2027-10-30 23:59:59"),
  ])
  func momentsInBerlin(local: String, utc: String) throws {
    let time = try #require(LocalTime(local))
    #expect(StepZone.berlin.moment(of: time) == Self.utc(utc))
  }

  @Test(arguments: [
    ("2027-03-14 02:30:00", "2027-03-14 07:00:00"), ("2027-11-07 01:30:00", "2027-11-07 05:30:00"),
    ("2027-07-01 00:00:00", "2027-07-01 04:00:00"),
  ])
  func momentsInNewYork(local: String, utc: String) throws {
    let time = try #require(LocalTime(local))
    #expect(StepZone.newYork.moment(of: time) == Self.utc(utc))
  }

  @Test(arguments: [
    ("2011-12-29 23:59:59", "2011-12-30 09:59:59"), ("2011-12-30 00:00:00", "2011-12-30 10:00:00"),
    ("2011-12-30 12:00:00", "2011-12-30 10:00:00"), ("2011-12-31 00:00:00", "2011-12-30 10:00:00"),
  ])
  func aDayThatIsLeftOut(local: String, utc: String) throws {
    let time = try #require(LocalTime(local))
    #expect(StepZone.samoa.moment(of: time) == Self.utc(utc))
  }

  /// A moment's local time leads back to it, or to the earlier moment that showed the same.
  @Test(arguments: [StepZone.berlin, .newYork, .samoa])
  func momentsLeadBack(zone: StepZone) {
    for change in zone.changes {
      for step in -400..<400 {
        let moment = Timestamp(milliseconds: (change.at + Int64(step) * 613) * 1000)
        let back = zone.moment(of: zone.local(moment))
        #expect(back <= moment && zone.local(back) == zone.local(moment))
      }
    }
  }

  @Test(arguments: [
    "", "Nowhere/City", "/etc/passwd", "../zoneinfo/UTC", "Asia", "Asia/Shanghai\u{0}", "zone.tab",
  ])
  func whatIsNoZoneIsNotSet(name: String) {
    #expect(ProcessZone(settingTo: name) == nil)
  }
}
