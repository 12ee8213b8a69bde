import BorealisBase
import Model

/// Consecutive hours, days or months in the server's time zone, as in JPush's reports.
struct ReportPeriods: Sendable {
  /// JPush's units.
  enum Unit: String, Sendable {
    case hour = "HOUR"
    case day = "DAY"
    case month = "MONTH"
  }

  /// How far reports go back.
  static let days: Int64 = 60

  let unit: Unit
  /// As the caller wrote it.
  let start: String
  let duration: Int
  /// The first period: an hour or a day counted from 1970-01-01, or a month from the year 0.
  private let first: Int64
  /// The number of periods; HOUR ends with the day on which it begins.
  let count: Int

  /// Reads a query by JPush's rules.
  init(unit text: String, start: String, duration: Int, now: LocalTime) throws(APIError) {
    guard let unit = Unit(rawValue: text.uppercased()) else {
      throw .reportInvalid("time_unit must be HOUR, DAY or MONTH, not '\(text.prefix(40))'")
    }
    guard let first = Self.period(unit, start) else {
      let form = [Unit.hour: "yyyy-MM-dd HH", .day: "yyyy-MM-dd", .month: "yyyy-MM"][unit] ?? ""
      throw .reportStartMismatch.saying(
        "start does not fit time_unit: for \(unit.rawValue) it must be \(form), not '\(start.prefix(40))'")
    }
    let most = [Unit.hour: 24, .day: 60, .month: 2][unit] ?? 1
    guard (1...most).contains(duration) else {
      throw .reportInvalid("duration must be 1 to \(most) for time_unit \(unit.rawValue), not \(duration)")
    }
    (self.unit, self.start, self.duration, self.first) = (unit, start, duration, first)
    let today = now.date.dayNumber
    let present = unit == .month ? now.date.monthNumber : today
    guard (unit == .hour ? first.day : first) <= present else {
      throw .reportInvalid("start must not be in the future, as '\(start)' is")
    }
    switch unit {
    case .hour:
      guard first.day == today else {
        throw .reportInvalid("start must be today for time_unit HOUR, not '\(start)'")
      }
      count = min(duration, 24 - Int(first - today * 24))
    case .day:
      guard today - first < Self.days else {
        throw .reportTooOld.saying("The range goes beyond 60 days: start is '\(start)'")
      }
      count = duration
    case .month:
      guard now.date.monthNumber - first <= 2 else {
        throw .reportTooOld.saying("The range goes beyond 60 days: start is '\(start)'")
      }
      count = duration
    }
  }

  private static func period(_ unit: Unit, _ text: String) -> Int64? {
    switch unit {
    case .hour: hour(text)
    case .day: LocalTime(text + " 00:00:00")?.date.dayNumber
    case .month: LocalTime(text + "-01 00:00:00")?.date.monthNumber
    }
  }

  /// `yyyy-MM-dd HH`, as hours since 1970-01-01.
  static func hour(_ text: String) -> Int64? {
    LocalTime(text + ":00:00").map { $0.date.dayNumber * 24 + Int64($0.hour) }
  }

  /// `yyyy-MM-dd HH` of an hour.
  static func text(hour: Int64) -> String {
    let time = LocalTime(date: LocalDate(dayNumber: hour.day), secondOfDay: Int(hour - hour.day * 24) * 3600)
    return String(time.text.prefix(13))
  }

  /// The hours, for HOUR.
  var hours: Range<Int64> { first..<first + Int64(count) }

  /// The days of each period, for DAY and MONTH.
  var daysOfEach: [Range<Int64>] {
    (0..<Int64(count)).compactMap { index in
      if unit == .day { return first + index..<first + index + 1 }
      guard let start = Self.firstDay(ofMonth: first + index),
        let end = Self.firstDay(ofMonth: first + index + 1)
      else { return nil }
      return start.dayNumber..<end.dayNumber
    }
  }

  /// Nil outside the years of the calendar.
  private static func firstDay(ofMonth number: Int64) -> LocalDate? {
    LocalDate(year: Int(number / 12), month: Int(number % 12) + 1, day: 1)
  }

  /// The name of a period, in the form of `start`.
  func name(_ index: Int) -> String {
    switch unit {
    case .hour: Self.text(hour: first + Int64(index))
    case .day: LocalDate(dayNumber: first + Int64(index)).text
    case .month: String((Self.firstDay(ofMonth: first + Int64(index))?.text ?? "").prefix(7))
    }
  }
}

extension Int64 {
  /// The day of an hour since 1970-01-01.
  fileprivate var day: Int64 { self >= 0 ? self / 24 : (self - 23) / 24 }
}
