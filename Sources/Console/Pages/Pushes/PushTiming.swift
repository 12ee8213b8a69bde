import BorealisBase
import Core
import HTTP
import Model

/// When a push of the form goes: at once, at a time, or again and again. Times are by the server's clock or
/// by those of devices, as in the schedule API.
struct PushTiming: Sendable, Equatable {
  enum Mode: String, CaseIterable, Sendable { case now, once, repeating }
  enum Unit: String, CaseIterable, Sendable { case day, week, month }

  var mode = Mode.now
  /// Whose clocks show the time.
  var clocks = ScheduleTrigger.Clocks.server
  /// A day and a time, as browsers write them (HTML, "local date and time").
  var at = ""
  var unit = Unit.day
  /// 0 for Monday to 6 for Sunday.
  var weekdays: Set<Int> = []
  /// Days of the month with commas between them.
  var monthDays = ""
  var time = ""
  /// The first and the last day; empty for today and for a year later.
  var from = ""
  var through = ""

  init() {}

  init(_ call: PageCall) {
    mode = Mode(rawValue: call.field("when")) ?? .now
    clocks = ScheduleTrigger.Clocks(rawValue: call.field("clocks")) ?? .server
    at = call.field("at")
    unit = Unit(rawValue: call.field("unit")) ?? .day
    weekdays = Set((0..<7).filter { call.form?["weekday_\($0)"] != nil })
    monthDays = call.field("month_days")
    time = call.field("time")
    from = call.field("from")
    through = call.field("through")
  }

  /// The form of a trigger; nil for one that the form has no fields for.
  init?(_ trigger: ScheduleTrigger) {
    clocks = trigger.clocks
    switch trigger.times {
    case .single(let time):
      mode = .once
      at = Self.minute(time.text).replacing(" ", with: "T")
    case .periodical(let period):
      mode = .repeating
      time = Self.minute(LocalTime.timeText(period.secondOfDay))
      from = period.start.date.text
      through = period.end.date.text
      switch period.days {
      case .day: unit = .day
      case .week(let days): (unit, weekdays) = (.week, days)
      case .month(let days):
        (unit, monthDays) = (.month, days.sorted().map(String.init).joined(separator: ", "))
      }
    }
    // What is left out here would be changed by saving the form.
    guard (try? self.trigger(today: LocalDate(dayNumber: 0))) == trigger else { return nil }
  }

  /// Without the seconds, unless they say something.
  private static func minute(_ text: String) -> String {
    text.hasSuffix(":00") ? String(text.dropLast(3)) : text
  }

  /// What is typed here, by the names of the fields.
  var fields: [(name: String, value: String)] {
    [("at", at), ("month_days", monthDays), ("time", time), ("from", from), ("through", through)]
  }

  // MARK: As a trigger

  /// The trigger that fires at these times; nil for a push that goes at once. Throws what is wrong with a
  /// field, also that no time is left.
  func trigger(at now: Timestamp, by clocks: ScheduleClocks) throws(FieldProblem) -> ScheduleTrigger? {
    guard let trigger = try trigger(today: clocks.server.local(now).date) else { return nil }
    let field = mode == .once ? "at" : "time"
    do throws(APIError) { _ = try clocks.first(of: trigger, from: now) } catch {
      throw FieldProblem(mode == .once ? Words.timeOver : Words.timesOver, at: field)
    }
    return trigger
  }

  /// The same without a look at the clock.
  func trigger(today: LocalDate) throws(FieldProblem) -> ScheduleTrigger? {
    switch mode {
    case .now: return nil
    case .once:
      let parts = at.split(separator: "T", maxSplits: 1).map { String($0) }
      guard parts.count == 2, let time = LocalTime("\(parts[0]) \(Self.whole(parts[1]))") else {
        throw FieldProblem(Words.timeMissing, at: "at")
      }
      return .single(time, by: clocks)
    case .repeating:
      guard let second = LocalTime.secondOfDay(Self.whole(time)) else {
        throw FieldProblem(Words.timeOfDayMissing, at: "time")
      }
      let start = try from.isEmpty ? today : day(from, at: "from")
      let end = try through.isEmpty ? start.adding(days: 365) : day(through, at: "through")
      guard start <= end, end <= start.adding(days: SchedulePeriod.longestSpan) else {
        throw FieldProblem(Words.daysInvalid, at: "through")
      }
      return .periodical(
        SchedulePeriod(
          start: LocalTime(date: start, secondOfDay: 0), end: LocalTime(date: end, secondOfDay: 86_399),
          secondOfDay: second, days: try days(), frequency: 1), by: clocks)
    }
  }

  private func day(_ text: String, at field: String) throws(FieldProblem) -> LocalDate {
    guard let time = LocalTime("\(text) 00:00:00") else { throw FieldProblem(Words.dayInvalid, at: field) }
    return time.date
  }

  private func days() throws(FieldProblem) -> SchedulePeriod.Days {
    switch unit {
    case .day: return .day
    case .week:
      guard !weekdays.isEmpty else { throw FieldProblem(Words.weekdayMissing, at: "weekday_0") }
      return .week(weekdays)
    case .month:
      let numbers = PushForm.list(monthDays).map { Int($0) }
      let known = numbers.compactMap { $0 }.filter { (1...31).contains($0) }
      guard !known.isEmpty, known.count == numbers.count else {
        throw FieldProblem(Words.monthDayInvalid, at: "month_days")
      }
      return .month(Set(known))
    }
  }

  /// Browsers leave out seconds that are 0.
  private static func whole(_ time: String) -> String { time.utf8.count == 5 ? "\(time):00" : time }
}

/// The fields of the form that say when a push goes.
enum PushTimingFields {
  /// `kept` is the mode that the schedule which is edited has: it keeps its kind.
  static func html(_ call: PageCall, _ timing: PushTiming, kept: PushTiming.Mode?) -> HTML {
    let zone = call(Words.serverTime.with(ZoneText.name(call.zone, at: call.now)))
    // Whoever has a choice reads it there.
    let hasChoice = call.app?.facts.contains(.timeZone) == true || timing.clocks == .device
    let hint = hasChoice ? nil : zone
    let modes = PushTiming.Mode.allCases.filter { kept == nil || kept == $0 }
    return """
      <fieldset data-when><legend>\(call(Words.sendingTime))</legend>
      \(modes, { Forms.box("radio", "when", value: $0.rawValue, call($0.phrase), isChosen: $0 == timing.mode) })
      \(if: hasChoice, clocks(call, timing, zone))
      <div data-shown-when="once">
      \(Forms.field(call(Words.atTime), "at", type: "datetime-local", value: timing.at, isRequired: false,
        hint: hint))
      </div>
      <div data-shown-when="repeating">
      <div class="halves">
      <div>\(Forms.choice(call(Words.repeats), "unit", PushTiming.Unit.allCases.map { ($0.rawValue, call($0.phrase)) }, chosen: timing.unit.rawValue))</div>
      <div>\(Forms.field(call(Words.timeOfDay), "time", type: "time", value: timing.time, isRequired: false,
        hint: hint))</div>
      </div>
      <div data-shown-unit="week">\(0..<7, { weekday($0, call, timing) })</div>
      <div data-shown-unit="month">
      \(Forms.field(call(Words.monthDays), "month_days", value: timing.monthDays, isRequired: false,
        hint: call(Words.monthDaysHint)))
      </div>
      <div class="halves">
      <div>\(Forms.field(call(Words.fromDay), "from", type: "date", value: timing.from, isRequired: false,
        hint: call(Words.fromToday)))</div>
      <div>\(Forms.field(call(Words.toDay), "through", type: "date", value: timing.through, isRequired: false,
        hint: call(Words.throughYear)))</div>
      </div>
      </div>
      </fieldset>
      """
  }

  /// Whose clocks show the times.
  private static func clocks(_ call: PageCall, _ timing: PushTiming, _ server: String) -> HTML {
    let choices = [(ScheduleTrigger.Clocks.server, server), (.device, call(Words.ownTime))]
    return """
      <div data-shown-when="once repeating">
      \(choices, { Forms.box("radio", "clocks", value: $0.0.rawValue, $0.1, isChosen: $0.0 == timing.clocks) })
      <p class="hint">\(call(Words.ownTimeHint))</p>
      </div>
      """
  }

  private static func weekday(_ number: Int, _ call: PageCall, _ timing: PushTiming) -> HTML {
    Forms.box(
      "checkbox", "weekday_\(number)", call(TriggerText.weekdays[number]),
      isChosen: timing.weekdays.contains(number))
  }
}

extension PushTiming.Mode {
  fileprivate var phrase: Phrase {
    switch self {
    case .now: Words.atOnce
    case .once: Words.atATime
    case .repeating: Words.againAndAgain
    }
  }
}

extension PushTiming.Unit {
  fileprivate var phrase: Phrase {
    switch self {
    case .day: Words.everyDay
    case .week: Words.everyWeek
    case .month: Words.everyMonth
    }
  }
}

/// A trigger in words.
enum TriggerText {
  static let weekdays = [
    Phrase("Mon", "周一"), Phrase("Tue", "周二"), Phrase("Wed", "周三"), Phrase("Thu", "周四"),
    Phrase("Fri", "周五"), Phrase("Sat", "周六"), Phrase("Sun", "周日"),
  ]

  static func phrase(_ trigger: ScheduleTrigger) -> Phrase {
    let times = times(trigger)
    return trigger.clocks == .device ? Words.inOwnTime.with(each: times) : times
  }

  private static func times(_ trigger: ScheduleTrigger) -> Phrase {
    switch trigger.times {
    case .single(let time): return Words.onceAt.with(time.text)
    case .periodical(let period):
      let days: Phrase
      switch (period.days, period.frequency) {
      case (.day, 1): days = Words.everyDay
      case (.week, 1): days = Words.everyWeek
      case (.month, 1): days = Words.everyMonth
      case (.day, let count): days = Words.everyDays.with("\(count)")
      case (.week, let count): days = Words.everyWeeks.with("\(count)")
      case (.month, let count): days = Words.everyMonths.with("\(count)")
      }
      let time = Phrase(verbatim: LocalTime.timeText(period.secondOfDay))
      let span = Words.fromThrough.with(period.start.date.text, period.end.date.text)
      guard let points = points(period.days) else { return Words.repeatsAt.with(each: days, time, span) }
      return Words.repeatsOn.with(each: days, points, time, span)
    }
  }

  /// The days of the week or the month; nil for every day.
  private static func points(_ days: SchedulePeriod.Days) -> Phrase? {
    switch days {
    case .day: return nil
    case .week(let days):
      let names = days.sorted().map { weekdays[$0] }
      return Phrase(
        names.map { $0[.english] }.joined(separator: ", "), names.map { $0[.chinese] }.joined(separator: "、"))
    case .month(let days):
      let numbers = days.sorted().map { String($0) }
      return Phrase(
        "day \(numbers.joined(separator: ", "))", "\(numbers.joined(separator: "、")) 日")
    }
  }
}
