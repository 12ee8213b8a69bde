import BorealisBase

/// When a schedule fires: once, or again and again (JPush REST v3, `trigger` of the schedule API).
/// Occurrences are times on clocks that people read, so that 8 o'clock stays 8 o'clock when the clocks are
/// changed.
package struct ScheduleTrigger: Equatable, Sendable {
  /// What the clocks show when it fires.
  package enum Times: Equatable, Sendable {
    /// Once.
    case single(LocalTime)
    /// On days that repeat.
    case periodical(SchedulePeriod)
  }

  /// Whose clocks count. The raw values are those of the member `zone`.
  package enum Clocks: String, CaseIterable, Sendable {
    /// Those of the server's zone: all devices at the same moment.
    case server
    /// Those of each device, in whatever zone it is: each device at a moment of its own.
    case device
  }

  /// What the clocks show when it fires.
  package let times: Times
  /// Whose clocks count.
  package let clocks: Clocks

  /// Once.
  package static func single(_ time: LocalTime, by clocks: Clocks = .server) -> ScheduleTrigger {
    ScheduleTrigger(times: .single(time), clocks: clocks)
  }

  /// On days that repeat.
  package static func periodical(_ period: SchedulePeriod, by clocks: Clocks = .server) -> ScheduleTrigger {
    ScheduleTrigger(times: .periodical(period), clocks: clocks)
  }

  /// The first occurrence later than a time, or the first of all; nil if there is none.
  package func next(after time: LocalTime?) -> LocalTime? {
    switch times {
    case .single(let only): time.map { only > $0 } ?? true ? only : nil
    case .periodical(let period): period.next(after: time)
    }
  }

  /// The first occurrence that is still to come at a moment, by the clocks of one zone; nil if there is none.
  package func next(after moment: Timestamp, in zone: any Zone) -> LocalTime? {
    var found = next(after: zone.local(moment))
    // When clocks are set back, a repeated local time is over already.
    while let time = found, zone.moment(of: time) <= moment { found = next(after: time) }
    return found
  }

  /// The last occurrence; nil if there is none at all.
  package var last: LocalTime? {
    switch times {
    case .single(let only): only
    case .periodical(let period): period.last
    }
  }

  /// The first occurrence of a trigger that is set now, by the clocks of one zone. Throws as `checked`.
  package func first(from now: Timestamp, in zone: any Zone) throws(APIError) -> LocalTime {
    try checked(next(after: now, in: zone), on: zone.local(now).date)
  }

  /// What was found as the first occurrence of a trigger that is set on a day. Throws 8100 if all have
  /// passed, or if a single one is more than a year away.
  package func checked(_ first: LocalTime?, on today: LocalDate) throws(APIError) -> LocalTime {
    guard let first else {
      switch times {
      case .single: throw .scheduleInvalid("trigger.single.time must be in the future")
      case .periodical: throw .scheduleInvalid("trigger.periodical has no time in the future before its end")
      }
    }
    if case .single = times, first.date > today.adding(days: SchedulePeriod.longestSpan) {
      throw .scheduleInvalid("trigger.single.time must be at most one year ahead")
    }
    return first
  }

  /// Whether two triggers are of the same kind; a schedule keeps its kind.
  package func isSameKind(as other: ScheduleTrigger) -> Bool {
    switch (times, other.times) {
    case (.single, .single), (.periodical, .periodical): true
    default: false
    }
  }
}

extension ScheduleTrigger {
  static let weekdayNames = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]

  /// The member `trigger` as the API shows it.
  package var json: JSONValue {
    var object = JSONObject()
    let name: String
    switch times {
    case .single(let time):
      name = "single"
      object.set("time", .string(time.text))
    case .periodical(let period):
      name = "periodical"
      object.set("start", .string(period.start.text))
      object.set("end", .string(period.end.text))
      object.set("time", .string(LocalTime.timeText(period.secondOfDay)))
      object.set("time_unit", .string(period.days.unit))
      object.set("frequency", .number(JSONNumber(period.frequency)))
      if let points = period.days.points { object.set("point", .array(points.map { .string($0) })) }
    }
    if clocks != .server { object.set(Self.zoneKey, .string(clocks.rawValue)) }
    var json = JSONObject()
    json.set(name, .object(object))
    return .object(json)
  }

  /// Reads what `json` has written; nil for anything that the API would refuse.
  package init?(stored bytes: [UInt8]) {
    guard let json = try? parseJSON(bytes), let object = json.object else { return nil }
    do throws(APIError) {
      self = try Self.parse(Fields(object, path: "trigger", faults: .schedule))
    } catch {
      return nil
    }
  }

  /// The bytes of `json`.
  package var stored: [UInt8] { JSONWriter.serialize(json) }
}

extension SchedulePeriod.Days {
  /// The member `time_unit`.
  var unit: String {
    switch self {
    case .day: "day"
    case .week: "week"
    case .month: "month"
    }
  }

  /// The member `point`, nil where it has no place.
  var points: [String]? {
    switch self {
    case .day: nil
    case .week(let days): days.sorted().map { ScheduleTrigger.weekdayNames[$0] }
    case .month(let days): days.sorted().map { $0 < 10 ? "0\($0)" : String($0) }
    }
  }
}
