/// A day of the proleptic Gregorian calendar. Days can be counted, compared and split into year, month and
/// day without a zone.
public struct LocalDate: Hashable, Comparable, Sendable {
  /// Days since 1970-01-01; negative before.
  public let dayNumber: Int64
  /// The year, such as 2030.
  public let year: Int64
  /// 1 for January to 12.
  public let month: Int
  /// 1 to 31.
  public let day: Int

  /// The day with a number. Beyond a million years on either side of 1970 it is the outermost day.
  public init(dayNumber: Int64) {
    let number = min(max(dayNumber, -365_000_000), 365_000_000)
    self.dayNumber = number
    // Years are counted from March here, so that the day that comes and goes is the last of its year
    // (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5) + 1
    month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// A day of the years 1 to 9999; nil if the calendar has no such day.
  public init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
    let years = Int64(month <= 2 ? year - 1 : year)
    let era = years / 400
    let yearOfEra = years - era * 400
    let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    self.init(dayNumber: era * 146_097 + dayOfEra - 719_468)
    // The 31st of a short month is a day of the next.
    guard self.day == day else { return nil }
  }

  /// 0 for Monday to 6 for Sunday.
  public var weekday: Int {
    // 1970-01-01 was a Thursday.
    let days = (dayNumber + 3) % 7
    return Int(days < 0 ? days + 7 : days)
  }

  /// Consecutive numbers for consecutive weeks, whose first day is Monday.
  public var weekNumber: Int64 { (dayNumber - Int64(weekday) + 3) / 7 }

  /// Months since the year 0: consecutive numbers for consecutive months.
  public var monthNumber: Int64 { year * 12 + Int64(month) - 1 }

  /// A later day, or with a negative number an earlier one.
  public func adding(days: Int64) -> LocalDate { LocalDate(dayNumber: dayNumber.addingCapped(days)) }

  /// `YYYY-MM-DD`.
  public var text: String { "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))" }

  /// A number with leading zeros.
  static func digits(_ value: some BinaryInteger, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }

  /// The earlier day first.
  public static func < (left: Self, right: Self) -> Bool { left.dayNumber < right.dayNumber }
}

/// A time of day on some day, as people write it: without a zone. A `Zone` says which moment it is.
public struct LocalTime: Hashable, Comparable, Sendable {
  /// The day.
  public let date: LocalDate
  /// Seconds since the start of a day without changes of the clock: 0 to 86399.
  public let secondOfDay: Int

  /// Puts a day and a time together; seconds outside a day are brought into it.
  public init(date: LocalDate, secondOfDay: Int) {
    self.date = date
    self.secondOfDay = min(max(secondOfDay, 0), 86_399)
  }

  /// The time this many seconds after 1970-01-01 00:00:00, without changes of the clock.
  public init(count: Int64) {
    let day = count >= 0 ? count / 86_400 : (count - 86_399) / 86_400
    date = LocalDate(dayNumber: day)
    secondOfDay = Int(count - day * 86_400)
  }

  /// Seconds after 1970-01-01 00:00:00, without changes of the clock.
  public var count: Int64 { date.dayNumber * 86_400 + Int64(secondOfDay) }

  /// Reads `YYYY-MM-DD HH:MM:SS`, complete and with leading zeros; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let second = Self.secondOfDay(String(parts[1])) else { return nil }
    let days = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard days.count == 3, let year = Self.number(days[0], 4), let month = Self.number(days[1], 2),
      let day = Self.number(days[2], 2), let date = LocalDate(year: year, month: month, day: day)
    else { return nil }
    self.init(date: date, secondOfDay: second)
  }

  /// Reads `HH:MM:SS` as seconds since midnight; nil for anything else, leap seconds included.
  public static func secondOfDay(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = number(parts[0], 2), let minute = number(parts[1], 2),
      let second = number(parts[2], 2), hour < 24, minute < 60, second < 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private static func number(_ text: Substring, _ digits: Int) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(text)
  }

  /// `HH:MM:SS` of seconds since midnight.
  public static func timeText(_ secondOfDay: Int) -> String {
    let parts = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60]
    return parts.map { LocalDate.digits($0, 2) }.joined(separator: ":")
  }

  /// `YYYY-MM-DD HH:MM:SS`.
  public var text: String { "\(date.text) \(Self.timeText(secondOfDay))" }

  /// The hour, 0 to 23.
  public var hour: Int { secondOfDay / 3600 }

  /// The earlier one first.
  public static func < (left: Self, right: Self) -> Bool {
    (left.date, left.secondOfDay) < (right.date, right.secondOfDay)
  }
}

extension Int64 {
  fileprivate func addingCapped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
