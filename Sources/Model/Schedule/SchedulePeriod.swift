import BorealisBase

/// Days that repeat within a span of at most a year, and the time of day that counts on each of them.
package struct SchedulePeriod: Equatable, Sendable {
  /// Which days of a unit are meant.
  package enum Days: Equatable, Sendable {
    /// Every day.
    case day
    /// Days of the week, 0 for Monday to 6 for Sunday.
    case week(Set<Int>)
    /// Days of the month, 1 to 31; one that a month does not have is left out there.
    case month(Set<Int>)
  }

  /// The start, inclusive.
  package let start: LocalTime
  /// Nothing happens after it; it may itself be an occurrence.
  package let end: LocalTime
  /// The time of day, in seconds since midnight.
  package let secondOfDay: Int
  /// The days of a unit.
  package let days: Days
  /// Only every n-th unit counts, from the day, week (starting on Monday) or month of `start`.
  package let frequency: Int

  /// The longest span from `start` to `end`, in days.
  package static let longestSpan: Int64 = 366

  /// Describes days that passed the checks; a frequency below 1 is 1.
  package init(start: LocalTime, end: LocalTime, secondOfDay: Int, days: Days, frequency: Int) {
    self.start = start
    self.end = end
    self.secondOfDay = secondOfDay
    self.days = days
    self.frequency = max(1, frequency)
  }

  /// The first occurrence later than a time, or the first of all; nil if there is none.
  package func next(after time: LocalTime?) -> LocalTime? {
    var date = max(start.date, time?.date ?? start.date)
    while date <= end.date {
      if let found = occurrence(on: date), time.map({ found > $0 }) ?? true { return found }
      date = date.adding(days: 1)
    }
    return nil
  }

  /// The last occurrence; nil if there is none.
  package var last: LocalTime? {
    var date = end.date
    while date >= start.date {
      if let found = occurrence(on: date) { return found }
      date = date.adding(days: -1)
    }
    return nil
  }

  private func occurrence(on date: LocalDate) -> LocalTime? {
    let time = LocalTime(date: date, secondOfDay: secondOfDay)
    return isMeant(date) && time >= start && time <= end ? time : nil
  }

  private func isMeant(_ date: LocalDate) -> Bool {
    let units =
      switch days {
      case .day: date.dayNumber - start.date.dayNumber
      case .week: date.weekNumber - start.date.weekNumber
      case .month: date.monthNumber - start.date.monthNumber
      }
    guard units % Int64(frequency) == 0 else { return false }
    return switch days {
    case .day: true
    case .week(let weekdays): weekdays.contains(date.weekday)
    case .month(let monthDays): monthDays.contains(date.day)
    }
  }
}
