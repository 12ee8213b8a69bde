import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

/// The mistakes that callers of JPush's API make: each answer says which field it is about, by which rule,
/// and what the value was, so that the call can be repaired from the answer alone.
@Suite(.timeLimit(.minutes(2))) struct MistakeTests {
  /// A call, its outcome, and what the message has to contain.
  typealias Mistake = (call: String, body: String, outcome: String, words: [String])

  private static func push(_ members: String, to audience: String = #""all""#) -> String {
    #"{"platform":"all","audience":\#(audience),\#(members)}"#
  }

  private static let text = #""notification":{"alert":"x"}"#

  private static func option(_ member: String) -> String { push("\(text),\"options\":{\(member)}") }

  private static let top: [Mistake] = [
    ("POST /v3/push", "", "400 1002", ["no body"]),
    ("POST /v3/push", "{", "400 1003", ["JSON"]),
    ("POST /v3/push", "[]", "400 1003", ["body must be a JSON object"]),
    (
      "POST /v3/push", #"{"audience":"all",\#(text)}"#, "400 1002",
      ["platform", "'all'", "ios, android, hmos"]
    ),
    (
      "POST /v3/push", #"{"platform":"android","audience":"all",\#(text)}"#, "400 1003",
      ["platform must be", "'android'"]
    ),
    (
      "POST /v3/push", #"{"platform":["andriod"],"audience":"all",\#(text)}"#, "400 1003",
      ["'andriod'", "ios, android"]
    ),
    (
      "POST /v3/push", #"{"platform":[1],"audience":"all",\#(text)}"#, "400 1003",
      ["platform holds 1", "strings"]
    ),
    (
      "POST /v3/push", #"{"platform":["winphone"],"audience":"all",\#(text)}"#, "400 1003",
      ["platform", "winphone"]
    ),
    ("POST /v3/push", #"{"platform":"all",\#(text)}"#, "400 1002", ["audience", "tag_and", "'all'"]),
    ("POST /v3/push", #"{"platform":"all","audience":"all"}"#, "400 1002", ["notification or message"]),
    (
      "POST /v3/push", push(#""notificaton":{"alert":"x"}"#), "400 1009",
      ["notificaton is not supported", "notification"]
    ),
    ("POST /v3/push", push(#""cid":"a b",\#(text)"#), "400 1003", ["cid must have 1 to 64", "'a b'"]),
    ("POST /v3/push", push(#""cid":"x-1",\#(text)"#), "400 1003", ["cid", "must begin with the app key"]),
    (
      "POST /v3/push", push(#""sms_message":{"temp_id":1},\#(text)"#), "403 2007",
      ["sms_message is not supported"]
    ),
    (
      "POST /v3/push", push(#""inapp_message":{"inapp_message":true},"message":{"msg_content":"x"}"#),
      "400 1002", ["inapp_message needs notification"]
    ),
    (
      "POST /v3/push", push(#""callback":{"url":"ftp://a"},\#(text)"#), "400 1003",
      ["callback.url must be an http", "'ftp://a'"]
    ),
    (
      "POST /v3/push", push(#""callback":{"type":16},\#(text)"#), "400 1003",
      ["callback.type", "between 1 and 15", "not 16"]
    ),
    (
      "POST /v3/push", push(#""notification_3rd":{"content":"c"},\#(text)"#), "400 1002",
      ["notification_3rd needs message"]
    ),
  ]

  private static let audiences: [Mistake] = [
    ("POST /v3/push", push(text, to: #""everyone""#), "400 1003", ["audience must be 'all'", "'everyone'"]),
    ("POST /v3/push", push(text, to: "{}"), "400 1002", ["audience", "registration_id"]),
    (
      "POST /v3/push", push(text, to: #"{"tag":"a"}"#), "400 1003",
      ["audience.tag must be a JSON array", "'a'"]
    ),
    ("POST /v3/push", push(text, to: #"{"tag":[1]}"#), "400 1003", ["audience.tag holds 1", "strings"]),
    ("POST /v3/push", push(text, to: #"{"tag":[""]}"#), "400 1003", ["audience.tag holds an empty string"]),
    (
      "POST /v3/push", push(text, to: #"{"alias":["a-b"]}"#), "400 1003",
      ["audience.alias", "'a-b'", "'-' (U+002D)", "letters"]
    ),
    (
      "POST /v3/push", push(text, to: #"{"tag":["\#(String(repeating: "a", count: 41))"]}"#), "400 1003",
      ["audience.tag", "41 characters; at most 32, or 40 bytes in UTF-8"]
    ),
    (
      "POST /v3/push",
      push(text, to: #"{"tag_not":[\#((0..<21).map { "\"t\($0)\"" }.joined(separator: ","))]}"#),
      "400 1003", ["audience.tag_not has 21 values", "at most 20"]
    ),
    (
      "POST /v3/push", push(text, to: #"{"registration_id":["abc"]}"#), "400 1003",
      ["audience.registration_id", "'abc'", "19"]
    ),
    (
      "POST /v3/push", push(text, to: #"{"abtest":["s"]}"#), "400 1003",
      ["audience.abtest holds 's'", "not the ID of an A/B test"]
    ),
    (
      "POST /v3/push", push(text, to: #"{"file":{"file_id":"f"}}"#), "400 1003",
      ["audience.file is not supported"]
    ),
    ("POST /v3/push/file", push(text), "400 1003", ["audience must name a file"]),
    (
      "POST /v3/push/file", push(text, to: #"{"file":{"file_id":"f"}}"#), "400 1003",
      ["audience.file.file_id is unknown"]
    ),
    (
      "POST /v3/push", push(text, to: #"{"alias":["nobody"]}"#), "400 1011",
      ["the app has 1 device, none of which matches", "alias: 0"]
    ),
    (
      "POST /v3/push", push(text, to: #"{"alias":["anna"],"tag":["x"]}"#), "400 1011", ["tag: 0", "alias: 1"]
    ),
    (
      "POST /v3/push", #"{"platform":["ios"],"audience":{"alias":["anna"]},\#(text)}"#, "400 1011",
      ["1 device would match", "not on ios"]
    ),
    (
      "POST /v3/push", push(#""notification":{"ios":{"alert":"x"}}"#), "400 1011",
      ["the app has 1 device, but not on ios"]
    ),
    ("POST /v3/push", option(#""test_model":true"#), "400 1011", ["no test device"]),
  ]

  private static let contents: [Mistake] = [
    (
      "POST /v3/push", push(#""notification":"x""#), "400 1003",
      ["notification must be a JSON object", "'x'"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":5}"#), "400 1003",
      ["notification.alert must be a string", "not 5"]
    ),
    (
      "POST /v3/push", push(#""notification":{"adnroid":{"alert":"x"}}"#), "400 1009",
      ["notification.adnroid", "android"]
    ),
    (
      "POST /v3/push", push(#""notification":{"android":{"title":"t"}}"#), "400 1002",
      ["notification.android.alert"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","android":{"priority":3}}"#), "400 1003",
      ["notification.android.priority", "between -2 and 2", "not 3"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","android":{"badge_add_num":"1"}}"#), "400 1003",
      ["notification.android.badge_add_num must be an integer", "'1'"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","android":{"show_begin_time":"now"}}"#), "400 1003",
      ["notification.android.show_begin_time", "yyyy-MM-dd HH:mm:ss", "'now'"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","ios":{"badge":"many"}}"#), "400 1003",
      ["notification.ios.badge must be an integer", "'many'"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","ios":{"interruption-level":"loud"}}"#), "400 1003",
      ["notification.ios.interruption-level", "time-sensitive", "'loud'"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","ios":{"content_available":1}}"#), "400 1009",
      ["notification.ios.content_available", "write content-available"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","ios":{"extras":{"aps":1}}}"#), "400 1003",
      ["notification.ios.extras.aps is reserved"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","hmos":{"alert":"y","push_type":3}}"#), "400 1003",
      ["notification.hmos.push_type must be one of", "not 3"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","hmos":{"alert":"y","push_type":2}}"#), "400 1002",
      ["notification.hmos.extra_data"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","quickapp":{"alert":"y","title":"t"}}"#),
      "400 1002",
      ["notification.quickapp.page"]
    ),
    ("POST /v3/push", push(#""message":{"title":"t"}"#), "400 1002", ["message.msg_content"]),
    (
      "POST /v3/push", push(#""message":{"msg_content":7}"#), "400 1003",
      ["message.msg_content must be a string", "7"]
    ),
    (
      "POST /v3/push", push(#""message":{"msg_content":"x","extras":"e"}"#), "400 1003",
      ["message.extras must be a JSON object"]
    ),
    (
      "POST /v3/push", push(#""message":{"msg_content":"\#(String(repeating: "m", count: 4000))"}"#),
      "400 1005",
      ["message", "4018 bytes", "at most 4000"]
    ),
    (
      "POST /v3/push", push(#""notification":{"alert":"x","ai_opportunity":true}"#), "403 2007",
      ["notification.ai_opportunity"]
    ),
    (
      "POST /v3/push", push(#""live_activity":{"ios":{"event":"begin"}}"#), "400 1003",
      ["live_activity.ios.event", "start", "'begin'"]
    ),
  ]

  private static let options: [Mistake] = [
    ("POST /v3/push", push("\(text),\"options\":7"), "400 1003", ["options must be a JSON object", "7"]),
    (
      "POST /v3/push", option(#""time_to_live":864001"#), "400 1003",
      ["options.time_to_live", "864000", "not 864001"]
    ),
    (
      "POST /v3/push", option(#""time_to_live":"1d""#), "400 1003",
      ["options.time_to_live must be an integer", "'1d'"]
    ),
    ("POST /v3/push", option(#""timeToLive":60"#), "400 1009", ["options.timeToLive", "write time_to_live"]),
    ("POST /v3/push", option(#""sendno":"a""#), "400 1003", ["options.sendno must be an integer", "'a'"]),
    (
      "POST /v3/push", option(#""override_msg_id":"x""#), "400 1003",
      ["options.override_msg_id must be", "'x'"]
    ),
    ("POST /v3/push", option(#""override_msg_id":77"#), "400 1003", ["options.override_msg_id is unknown"]),
    (
      "POST /v3/push", option(#""apns_production":"yes""#), "400 1003",
      ["options.apns_production must be true or false", "'yes'"]
    ),
    (
      "POST /v3/push", option(#""apns_collapse_id":"\#(String(repeating: "c", count: 65))""#), "400 1003",
      ["options.apns_collapse_id must have 1 to 64 bytes", "'cccc"]
    ),
    (
      "POST /v3/push", option(#""big_push_duration":1401"#), "400 1003",
      ["options.big_push_duration", "1400", "not 1401"]
    ),
    (
      "POST /v3/push", option(#""classification":2"#), "400 1003",
      ["options.classification", "between 0 and 1", "not 2"]
    ),
    ("POST /v3/push", option(#""active_push":true"#), "403 2007", ["options.active_push is not supported"]),
    ("POST /v3/push", option(#""target_event":["e"]"#), "403 2007", ["options.target_event"]),
    ("POST /v3/push", option(#""geofence":{"a":1}"#), "403 2007", ["options.geofence"]),
    (
      "POST /v3/push", option(#""business_operation_code":"b""#), "400 1003",
      ["options.business_operation_code is unknown"]
    ),
    (
      "POST /v3/push", option(#""strategy":5"#), "400 1003",
      ["options.strategy must be 1 to 4, or 6", "not 5"]
    ),
    (
      "POST /v3/push", option(#""third_party_channel":"x""#), "400 1003",
      ["options.third_party_channel must be a JSON object"]
    ),
    (
      "POST /v3/push", option(#""notification_3rd_ver":"v3""#), "400 1003",
      ["options.notification_3rd_ver must be v1 or v2", "'v3'"]
    ),
  ]

  private static let others: [Mistake] = [
    ("GET /v3/push", "", "405 1001", ["Only POST", "not GET"]),
    ("POST /v3/pushh", "{}", "404 1003", ["/v3/pushh"]),
    ("GET /v3/push/cid?count=0", "", "400 1003", ["count must be 1 to 1000", "'0'"]),
    ("GET /v3/push/cid?type=x", "", "400 1003", ["type must be push or schedule", "'x'"]),
    ("DELETE /v3/push/x", "", "400 1003", ["msg_id must be a number", "'x'"]),
    ("DELETE /v3/push/7", "", "400 1003", ["msg_id is unknown"]),
    ("GET /v3/devices/abc", "", "400 7002", ["registration_id 'abc'", "19 hexadecimal digits"]),
    (
      "GET /v3/devices/0000000000000000001", "", "400 7002",
      ["registration_id '0000000000000000001' is unknown"]
    ),
    ("POST /v3/devices/{rid}", #"{"alias":"a b"}"#, "400 7002", ["alias", "'a b'", "U+0020"]),
    ("POST /v3/devices/{rid}", #"{"tags":"x"}"#, "400 7002", ["tags must be a JSON object", "'x'"]),
    (
      "POST /v3/devices/{rid}", #"{"tags":{"add":["a b"]}}"#, "400 7002",
      ["tags.add", "'a b'", "U+0020", "blanks"]
    ),
    ("POST /v3/devices/{rid}", #"{"mobile":"abc"}"#, "400 7002", ["mobile must be", "'abc'"]),
    ("GET /v3/aliases/anna?platform=palm", "", "400 7002", ["platform", "'palm'", "android"]),
    ("GET /v3/aliases/a-b", "", "400 7002", ["alias", "'a-b'", "'-' (U+002D)"]),
    ("GET /v3/received", "", "400 3002", ["msg_ids"]),
    ("GET /v3/received?msg_ids=x", "", "400 3002", ["msg_ids must hold numbers", "'x'"]),
    (
      "GET /v3/users?time_unit=WEEK&start=2026-01-01&duration=1", "", "400 3002",
      ["time_unit", "DAY", "'WEEK'"]
    ),
    ("GET /v3/users?time_unit=DAY&start=2026&duration=1", "", "400 3004", ["start", "yyyy-MM-dd", "'2026'"]),
    (
      "GET /v3/users?time_unit=DAY&start=2026-09-20&duration=61", "", "400 3002",
      ["duration must be 1 to 60", "not 61"]
    ),
    ("GET /v3/schedules?page=x", "", "400 8100", ["page must be a number", "'x'"]),
    (
      "POST /v3/schedules", #"{"name":"n","enabled":"maybe"}"#, "400 8100",
      ["enabled must be true or false", "'maybe'"]
    ),
    ("POST /v3/schedules", #"{"name":"a b"}"#, "400 8100", ["name must hold letters", "'a b'"]),
    ("GET /v3/files/x", "", "400 1003", ["file_id is unknown"]),
  ]

  @Test func `An answer says which field, which rule and which value`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    _ = await world.call("POST", "/v3/devices/\(device.text)", #"{"alias":"anna","tags":{"add":["news"]}}"#)
    let mistakes = Self.top + Self.audiences + Self.contents + Self.options + Self.others
    #expect(mistakes.count >= 92)
    for mistake in mistakes {
      let parts = mistake.call.replacing("{rid}", with: device.text).split(separator: " ")
      let answer = await world.call(String(parts[0]), String(parts[1]), mistake.body)
      let message = answer.json?["error"]?["message"]?.string ?? ""
      let said = "\(mistake.call) \(mistake.body.prefix(200)): \(answer.outcome) \(message)"
      #expect(answer.outcome == mistake.outcome, "\(said)")
      for word in mistake.words { #expect(message.contains(word), "\(said), without \(word)") }
    }
  }

  @Test func `An answer to wrong credentials says what they lack`() async throws {
    let world = try await GatewayWorld()
    let (key, secret) = (world.app.key.text, GatewayWorld.secret)
    for (header, words) in [
      (nil, "Authorization header is missing"), ("Bearer x", "must be Basic"), ("Basic %%", "Base64"),
      (GatewayWorld.basic("abc", secret), "24 hexadecimal digits"),
      (GatewayWorld.basic("group-\(key)", secret), "not that of a group"),
      (GatewayWorld.basic(key, "wrong"), "key is unknown or the secret is wrong"),
    ] as [(String?, String)] {
      let answer = await world.call("POST", "/v3/push", "{}", authorization: header)
      #expect(answer.outcome == "401 1004")
      #expect(answer.json?["error"]?["message"]?.string?.contains(words) == true, "\(words)")
    }
    let group = await world.call("POST", "/v3/grouppush", "{}")
    #expect(group.json?["error"]?["message"]?.string?.contains("key of a group") == true)
  }
}
