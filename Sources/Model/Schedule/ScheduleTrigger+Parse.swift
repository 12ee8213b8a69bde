import BorealisBase

extension ScheduleTrigger {
  /// Reads the member `trigger`. Whether its times are still to come is not checked here.
  static func parse(_ trigger: Fields) throws(APIError) -> ScheduleTrigger {
    try trigger.allow(["single", "periodical"])
    switch (try trigger.fields("single"), try trigger.fields("periodical")) {
    case (let single?, nil):
      try single.allow(["time", zoneKey])
      return .single(try time(single, "time"), by: try clocks(single))
    case (nil, let periodical?):
      return .periodical(try SchedulePeriod.parse(periodical), by: try clocks(periodical))
    case (nil, nil): throw .scheduleInvalid("Missing parameter: trigger needs single or periodical")
    case (_?, _?): throw .scheduleInvalid("trigger must have one of single and periodical")
    }
  }

  /// The member that says whose clocks count, which JPush does not have.
  static let zoneKey = "zone"

  private static func clocks(_ fields: Fields) throws(APIError) -> Clocks {
    guard let text = try fields.string(zoneKey) else { return .server }
    guard let clocks = Clocks(rawValue: text) else {
      throw fields.invalid(zoneKey, "must be server or device")
    }
    return clocks
  }

  static func time(_ fields: Fields, _ key: String) throws(APIError) -> LocalTime {
    guard let text = try fields.string(key) else { throw fields.missing(key) }
    guard let time = LocalTime(text) else { throw fields.invalid(key, "must be YYYY-MM-DD HH:MM:SS") }
    return time
  }
}

extension SchedulePeriod {
  private static let keys: Set<String> = [
    "start", "end", "time", "time_unit", "frequency", "point", ScheduleTrigger.zoneKey,
  ]

  /// Reads the member `trigger.periodical`.
  static func parse(_ fields: Fields) throws(APIError) -> SchedulePeriod {
    try fields.allow(keys)
    let start = try ScheduleTrigger.time(fields, "start")
    let end = try ScheduleTrigger.time(fields, "end")
    guard start <= end else { throw fields.invalid("end", "must not be before start") }
    guard end.date <= start.date.adding(days: longestSpan) else {
      throw fields.invalid("end", "must be at most one year after start")
    }
    guard let text = try fields.string("time") else { throw fields.missing("time") }
    guard let second = LocalTime.secondOfDay(text) else { throw fields.invalid("time", "must be HH:MM:SS") }
    guard let frequency = try fields.integer("frequency", in: 1...100) else {
      throw fields.missing("frequency")
    }
    return SchedulePeriod(
      start: start, end: end, secondOfDay: second, days: try days(fields), frequency: Int(frequency))
  }

  private static func days(_ fields: Fields) throws(APIError) -> Days {
    guard let unit = try fields.string("time_unit") else { throw fields.missing("time_unit") }
    switch unit.lowercased() {
    case "day":
      guard fields["point"] == nil else { throw fields.invalid("point", "does not go with time_unit day") }
      return .day
    case "week":
      return .week(
        try points(fields, "one of MON, TUE, WED, THU, FRI, SAT, SUN") {
          ScheduleTrigger.weekdayNames.firstIndex(of: $0.uppercased())
        })
    case "month":
      return .month(
        try points(fields, "a day from 01 to 31") { text in
          guard text.utf8.count == 2, text.utf8.allSatisfy({ (48...57).contains($0) }), let day = Int(text),
            (1...31).contains(day)
          else { return nil }
          return day
        })
    default: throw fields.invalid("time_unit", "must be day, week or month")
    }
  }

  private static func points(
    _ fields: Fields, _ expected: String, _ read: (String) -> Int?
  ) throws(APIError) -> Set<Int> {
    guard let texts = try fields.texts("point", maximum: 31), !texts.isEmpty else {
      throw fields.missing("point")
    }
    var days: Set<Int> = []
    for text in texts {
      guard let day = read(text) else {
        throw fields.invalid("point", "has '\(text.prefix(40))'; each must be \(expected)")
      }
      days.insert(day)
    }
    return days
  }
}
