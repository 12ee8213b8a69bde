import BorealisBase
import Model
import Testing

@Suite struct ScheduleRequestTests {
  static let push = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
  static let single = #"{"single":{"time":"2030-01-01 08:00:00"}}"#

  /// A periodical trigger, as the API reads it.
  static func trigger(
    start: String, end: String, time: String = "08:00:00", unit: String, frequency: Int, points: [String]
  ) throws -> ScheduleTrigger {
    let points = points.map { "\"\($0)\"" }.joined(separator: ",")
    let json = """
      {"start":"\(start)","end":"\(end)","time":"\(time)","time_unit":"\(unit)","frequency":\(frequency),\
      "point":[\(points)]}
      """
    return try parse(trigger: #"{"periodical":\#(json)}"#).trigger
  }

  private static func parse(
    name: String = #""n""#, enabled: String = "true", trigger: String = single, push: String = push
  ) throws -> ScheduleRequest {
    try parse(#"{"name":\#(name),"enabled":\#(enabled),"trigger":\#(trigger),"push":\#(push)}"#)
  }

  private static func parse(_ text: String) throws -> ScheduleRequest {
    try ScheduleRequest.parse(try parseJSON(Array(text.utf8)))
  }

  /// The error's message; empty if there is none. Every error has the code 8100.
  private static func complaint(_ parse: () throws -> some Any) -> String {
    do {
      _ = try parse()
      return ""
    } catch let error as APIError {
      return error.code == 8100 && error.httpStatus == 400 ? error.message : "\(error)"
    } catch {
      return "\(error)"
    }
  }

  @Test func aScheduleIsReadAsWritten() throws {
    let request = try Self.parse(
      #"""
      {"cid":"c-1","name":"早报_1","enabled":true,"trigger":{"single":{"time":"2030-01-01 08:00:00"}},
       "push":{"cid":"not read at all","platform":"all","audience":"all","notification":{"alert":"x"},"message":{}}}
      """#)
    #expect(request.cid == "c-1" && request.name == "早报_1")
    #expect(request.trigger == .single(try #require(LocalTime("2030-01-01 08:00:00"))))
    #expect(request.push.request.cid == nil)
    let kept = String(decoding: request.push.json, as: UTF8.self)
    #expect(kept == #"{"platform":"all","audience":"all","notification":{"alert":"x"},"message":{}}"#)
    #expect(try ScheduledPush(stored: request.push.json, rules: PushRules()) == request.push)
  }

  @Test(arguments: [
    #"{"single":{"time":"2030-01-01 08:00:00"}}"#,
    #"{"periodical":{"start":"2030-01-01 00:00:00","end":"2030-06-30 23:59:59","time":"08:00:00","time_unit":"day","frequency":100}}"#,
    #"{"periodical":{"start":"2030-01-01 00:00:00","end":"2031-01-01 00:00:00","time":"08:00:00","time_unit":"week","frequency":2,"point":["MON","SUN"]}}"#,
    #"{"periodical":{"start":"2030-01-01 00:00:00","end":"2030-01-01 00:00:00","time":"08:00:00","time_unit":"month","frequency":1,"point":["01","31"]}}"#,
  ])
  func triggersAreShownAsWritten(text: String) throws {
    let trigger = try Self.parse(trigger: text).trigger
    #expect(String(decoding: trigger.stored, as: UTF8.self) == text)
    #expect(ScheduleTrigger(stored: trigger.stored) == trigger)
  }

  @Test func unitsAndDaysMayBeInAnyCase() throws {
    let upper = try Self.trigger(
      start: "2030-01-01 00:00:00", end: "2030-02-01 00:00:00", unit: "WEEK", frequency: 1,
      points: ["mon", "Fri"])
    let lower = try Self.trigger(
      start: "2030-01-01 00:00:00", end: "2030-02-01 00:00:00", unit: "week", frequency: 1,
      points: ["FRI", "MON"])
    #expect(upper == lower)
  }

  @Test(arguments: [
    ("[]", "The body must be a JSON object"), (#"{"name":5}"#, "name must be a string"),
    (#"{"nam":"x"}"#, "nam is not supported"), (#"{}"#, "Missing parameter: name"),
    (#"{"name":"n"}"#, "Missing parameter: enabled"),
    (#"{"name":"n","enabled":false}"#, "enabled must be true for a new schedule"),
    (#"{"name":"n","enabled":"yes"}"#, "enabled must be true or false"),
    (#"{"name":"n","enabled":true}"#, "Missing parameter: trigger"),
    (#"{"name":"n","enabled":true,"trigger":[]}"#, "Missing parameter: trigger"),
    (#"{"name":"n","enabled":true,"trigger":\#(single)}"#, "Missing parameter: push"),
    (#"{"name":"n","enabled":true,"trigger":\#(single),"push":"x"}"#, "push: push must be a JSON object"),
    (
      #"{"name":"n","enabled":true,"trigger":\#(single),"push":{"platform":"all","audience":"all"}}"#,
      "push: Missing parameter: notification or message"
    ),
    (
      #"{"name":"n","enabled":true,"trigger":\#(single),"push":{"platform":"all","audience":"all","notification":{"alert":5}}}"#,
      "push: notification.alert must be a string"
    ),
    (
      #"{"name":"n","enabled":true,"trigger":\#(single),"push":\#(push),"cid":"a\u0007b"}"#,
      "cid must have 1 to 64 bytes"
    ),
  ])
  func faultsAreNamed(text: String, complaint: String) {
    let found = Self.complaint { try Self.parse(text) }
    // The push API's own words are its own concern.
    #expect(
      Self.begins(found, complaint) || complaint.hasPrefix("push: ") && found.hasPrefix("push: "), "\(found)")
  }

  @Test(arguments: [
    ("", "name must have 1 to 255 bytes"), (String(repeating: "x", count: 255), ""),
    (String(repeating: "x", count: 256), "name must have 1 to 255 bytes"),
    (String(repeating: "早", count: 85), ""),
    ("a-b", "name must hold letters, digits, '_' and Chinese characters only"),
    ("a b", "name must hold letters, digits, '_' and Chinese characters only"),
    ("a@b", "name must hold letters, digits, '_' and Chinese characters only"),
    ("é", "name must hold letters, digits, '_' and Chinese characters only"), ("_A9早", ""),
  ])
  func names(name: String, complaint: String) {
    #expect(Self.begins(Self.complaint { try Self.parse(name: "\"\(name)\"") }, complaint))
  }

  @Test(arguments: [
    ("{}", "Missing parameter: trigger needs single or periodical"),
    (#"{"single":{}}"#, "Missing parameter: trigger.single.time"),
    (#"{"single":{"time":"2030-1-1 8:00:00"}}"#, "trigger.single.time must be YYYY-MM-DD HH:MM:SS"),
    (#"{"single":{"time":1893456000}}"#, "trigger.single.time must be a string"),
    (
      #"{"single":{"time":"2030-01-01 08:00:00","zone":"UTC"}}"#,
      "trigger.single.zone must be server or device"
    ),
    (#"{"single":{"time":"2030-01-01 08:00:00","area":"UTC"}}"#, "trigger.single.area is not supported"),
    (#"{"intelligent":{"a":1}}"#, "trigger.intelligent is not supported"),
    (
      #"{"single":{"time":"2030-01-01 08:00:00"},"periodical":{"start":"x"}}"#,
      "trigger must have one of single and periodical"
    ),
    (#"{"periodical":{"start":"2030-01-01 00:00:00"}}"#, "Missing parameter: trigger.periodical.end"),
  ])
  func faultsOfTriggersAreNamed(trigger: String, complaint: String) {
    #expect(Self.begins(Self.complaint { try Self.parse(trigger: trigger) }, complaint))
  }

  @Test(arguments: [
    ("start", #""2030-02-30 00:00:00""#, "trigger.periodical.start must be YYYY-MM-DD HH:MM:SS"),
    ("end", #""2029-12-31 23:59:59""#, "trigger.periodical.end must not be before start"),
    ("end", #""2031-01-03 00:00:00""#, "trigger.periodical.end must be at most one year after start"),
    ("end", #""2031-01-02 00:00:00""#, ""),
    ("time", #""8:00""#, "trigger.periodical.time must be HH:MM:SS"),
    ("time", #""24:00:00""#, "trigger.periodical.time must be HH:MM:SS"),
    ("time_unit", #""year""#, "trigger.periodical.time_unit must be day, week or month"),
    ("time_unit", #""day""#, "trigger.periodical.point does not go with time_unit day"),
    ("time_unit", #""month""#, "trigger.periodical.point has 'MON'; each must be a day from 01 to 31"),
    ("frequency", "0", "Missing parameter: trigger.periodical.frequency"),
    ("frequency", "101", "trigger.periodical.frequency must be between 1 and 100"),
    ("frequency", #""1""#, "trigger.periodical.frequency must be an integer"),
    ("frequency", "null", "Missing parameter: trigger.periodical.frequency"),
    ("point", "[]", "Missing parameter: trigger.periodical.point"),
    (
      "point", #"["MONDAY"]"#,
      "trigger.periodical.point has 'MONDAY'; each must be one of MON, TUE, WED, THU, FRI, SAT, SUN"
    ),
    ("point", #"["01"]"#, "trigger.periodical.point has '01'; each must be one of MON"),
    ("point", "[1]", "trigger.periodical.point holds 1; only strings are allowed"),
    ("points", #"["MON"]"#, "trigger.periodical.points is not supported"),
  ])
  func faultsOfPeriodsAreNamed(key: String, value: String, complaint: String) {
    var members = [
      "start": #""2030-01-01 00:00:00""#, "end": #""2030-06-30 23:59:59""#, "time": #""08:00:00""#,
      "time_unit": #""week""#, "frequency": "1", "point": #"["MON"]"#,
    ]
    members[key] = value
    let text = members.map { "\"\($0)\":\($1)" }.joined(separator: ",")
    let found = Self.complaint { try Self.parse(trigger: #"{"periodical":{\#(text)}}"#) }
    #expect(Self.begins(found, complaint), "\(found)")
  }

  /// Whether a complaint begins as expected, or there is none.
  private static func begins(_ found: String, _ expected: String) -> Bool {
    expected.isEmpty ? found.isEmpty : found.hasPrefix(expected)
  }

  @Test(arguments: ["1", "+1", "00", "32", "001", " 1", "١١"])
  func daysOfAMonthHaveTwoDigits(point: String) {
    let found = Self.complaint {
      try Self.trigger(
        start: "2030-01-01 00:00:00", end: "2030-02-01 00:00:00", unit: "month", frequency: 1, points: [point]
      )
    }
    #expect(found == "trigger.periodical.point has '\(point)'; each must be a day from 01 to 31")
  }

  @Test func anUpdateHasOneSectionAtLeast() throws {
    func update(_ text: String) throws -> ScheduleUpdate {
      try ScheduleUpdate.parse(try parseJSON(Array(text.utf8)))
    }
    #expect(Self.complaint { try update("{}") } == "Missing parameter: one of name, enabled, trigger, push")
    #expect(Self.complaint { try update(#"{"schedule_id":"x"}"#) }.hasPrefix("Missing parameter"))
    #expect(try update(#"{"enabled":false}"#) == ScheduleUpdate(isEnabled: false))
    #expect(try update(#"{"name":"m","trigger":\#(Self.single)}"#).trigger != nil)
    #expect(
      Self.complaint { try update(#"{"push":{"platform":"all"}}"#) }.hasPrefix("push: Missing parameter"))
  }
}
