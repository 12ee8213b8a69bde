import BorealisBase
import Model
import Testing

/// The JSON form of conditions for devices.
@Suite struct DeviceConditionTests {
  private func parse(_ text: String) throws(APIError) -> DeviceCondition {
    guard let json = try? parseJSON(Array(text.utf8)) else { throw .invalidValue("not JSON") }
    return try DeviceCondition.parse(json)
  }

  @Test(arguments: [
    (#"{"all":[]}"#, DeviceCondition.all([])),
    (#"{"any":[{"tag":"a"},{"not":{"tag":"b"}}]}"#, .any([.tag("a"), .not(.tag("b"))])),
    (#"{"alias":true}"#, .hasAlias), (#"{"alias":false}"#, .not(.hasAlias)),
    (#"{"platform":"hmos"}"#, .platform(.hmos)),
    (#"{"fact":"model","known":true}"#, .known(.model)),
    (#"{"fact":"app_version","at_least":"2.10"}"#, .compare(.appVersion, .greaterOrEqual, "2.10")),
    (#"{"begins_with":"zh","fact":"language"}"#, .compare(.language, .beginsWith, "zh")),
    (#"{"last_seen":{"within_days":30}}"#, .lastSeen(TimeWindow(lastDays: 30))),
    (
      #"{"registered":{"since":"2026-01-31 09:00:00","before":"2026-02-01 00:00:00"}}"#,
      .registered(
        TimeWindow(since: LocalTime("2026-01-31 09:00:00"), before: LocalTime("2026-02-01 00:00:00")))
    ),
    (#"{"received":"7"}"#, .push(.received, MessageID(7))), (#"{"tapped":7}"#, .push(.tapped, MessageID(7))),
  ])
  func `Conditions are read, and written as they are read`(text: String, condition: DeviceCondition) throws {
    #expect(try parse(text) == condition)
    #expect(try DeviceCondition.parse(condition.json) == condition)
  }

  @Test(arguments: [
    ("[]", "condition must be a JSON object"), ("{}", "exactly one of all, any"),
    (#"{"tag":"a","alias":true}"#, "exactly one of all, any"),
    (#"{"all":[{"tag":"a"},{"tag":"b c"}]}"#, "condition.all[1].tag is invalid"),
    (#"{"all":{"tag":"a"}}"#, "condition.all must be a JSON array"),
    (#"{"not":{"not":{"platform":"windows"}}}"#, "condition.not.not.platform must be one of ios, android"),
    (#"{"alias":"maybe"}"#, "condition.alias must be true or false"),
    (#"{"fact":"colour","is":"red"}"#, "condition.fact must be one of language"),
    (#"{"fact":"model"}"#, "exactly one of is, less_than"),
    (#"{"fact":"model","is":"a","at_most":"b"}"#, "exactly one of is, less_than"),
    (#"{"fact":"model","is":""}"#, "condition.is must be a string of 1 to 64 bytes"),
    (#"{"fact":"opted_out","is":"maybe"}"#, "condition.is must be one of yes, no"),
    (#"{"last_seen":{}}"#, "must have within_days, since or before"),
    (#"{"last_seen":{"within_days":0}}"#, "must have within_days, since or before"),
    (#"{"last_seen":{"within_days":9999}}"#, "must be between 1 and 3650"),
    (#"{"registered":{"since":"2026-02-30 00:00:00"}}"#, "must be a time as"),
    (#"{"received":"x"}"#, "must be the msg_id of a push"),
    (#"{"received":-1}"#, "must be the msg_id of a push"),
    (#"{"clicked":"1"}"#, "condition.clicked is not supported"),
  ])
  func `What is wrong is named`(text: String, complaint: String) throws {
    let error = #expect(throws: APIError.self) { try parse(text) }
    #expect(error?.code == 1003)
    #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
  }

  @Test func `Conditions are bounded`() throws {
    func list(_ count: Int) -> String {
      #"{"all":[\#(Array(repeating: #"{"tag":"a"}"#, count: count).joined(separator: ","))]}"#
    }
    _ = try parse(list(99))
    #expect(throws: APIError.self) { try parse(list(100)) }
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"not":"#, count: depth - 1) + #"{"tag":"a"}"#
        + String(repeating: "}", count: depth - 1)
    }
    _ = try parse(nested(8))
    #expect(throws: APIError.self) { try parse(nested(9)) }
    func pushes(_ count: Int) -> String {
      #"{"any":[\#((0..<count).map { #"{"shown":"\#($0)"}"# }.joined(separator: ","))]}"#
    }
    _ = try parse(pushes(10))
    #expect(throws: APIError.self) { try parse(pushes(11)) }
  }

  @Test func `Windows of time are stretches of seconds`() throws {
    let (now, zone) = (Timestamp(milliseconds: 1_800_000_000_000), FixedZone(secondsEast: 3600))
    let since = try #require(LocalTime("2026-01-31 09:00:00"))
    let before = try #require(LocalTime("2026-02-01 00:00:00"))
    let start: Int64 = zone.moment(of: since).seconds
    func seconds(_ window: TimeWindow) -> Range<Int64> { window.seconds(at: now, in: zone) }
    #expect(seconds(TimeWindow(lastDays: 1)) == 1_800_000_000 - 86_400..<Int64.max)
    #expect(seconds(TimeWindow(since: since)) == start..<Int64.max)
    #expect(seconds(TimeWindow(before: before)) == 1..<start + 15 * 3600)
    // 0 is what is not known.
    #expect(!seconds(TimeWindow(before: before)).contains(0))
    #expect(seconds(TimeWindow(since: before, before: since)).isEmpty)
  }
}
