import BorealisBase
import Core
import HTTP
import Model
import Testing

@testable import API

/// What JPush's own test suites assert of the live service, in one table.
@Suite struct VendorOutcomeTests {
  private static let punctuation = ##"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"##

  /// A push object without its braces, and the outcomes that are right.
  private static let table: [(name: String, members: String, outcomes: Set<String>)] = [
    ("no platform", #""audience":"all","notification":{"alert":"x"}"#, ["400 1002"]),
    ("no audience", #""platform":"all","notification":{"alert":"x"}"#, ["400 1002"]),
    ("no content", #""platform":"all","audience":"all""#, ["400 1002"]),
    ("no msg_content", #""platform":"all","audience":"all","message":{"title":"x"}"#, ["400 1002"]),
    (
      "platform is another text",
      #""platform":"all_platform","audience":"all","notification":{"alert":"x"}"#, ["400 1003"]
    ),
    (
      "unknown platform", #""platform":["android","symbian"],"audience":"all","notification":{"alert":"x"}"#,
      ["400 1003"]
    ),
    (
      "audience is another text", #""platform":"all","audience":"all_audience","notification":{"alert":"x"}"#,
      ["400 1003"]
    ),
    ("notification is a text", #""platform":"all","audience":"all","notification":"x""#, ["400 1003"]),
    ("android is a text", all(#""notification":{"android":"x"}"#), ["400 1003"]),
    ("ios is a text", all(#""notification":{"ios":"x"}"#), ["400 1003"]),
    ("hmos is a text", all(#""notification":{"hmos":"x"}"#), ["400 1003"]),
    (
      "builder_id is no number", all(#""notification":{"android":{"alert":"x","builder_id":"1"}}"#),
      ["400 1003"]
    ),
    ("android is empty", all(#""notification":{"android":{}}"#), ["400 1002", "400 1003"]),
    ("ios is empty", all(#""notification":{"ios":{}}"#), ["400 1002", "400 1003"]),
    (
      "android without alert", all(#""notification":{"android":{"builder_id":1}}"#), ["400 1002", "400 1003"]
    ),
    ("ios without alert", all(#""notification":{"ios":{"badge":1}}"#), ["400 1002", "400 1003"]),
    ("hmos is empty", all(#""notification":{"hmos":{}}"#), ["400 1002"]),
    ("hmos with a title only", all(#""notification":{"hmos":{"title":"x"}}"#), ["400 1003"]),
    (
      "too large",
      all("\"message\":{\"msg_content\":\"\(String(repeating: "x", count: 4096))\"}"), ["400 1005"]
    ),
    ("an empty message beside a notification", all(#""notification":{"alert":"x"},"message":{}"#), ["200"]),
    (
      "all punctuation in alert", all("\"notification\":{\"alert\":\"\(punctuation)\"}"), ["200"]
    ),
    ("all punctuation in msg_content", all("\"message\":{\"msg_content\":\"\(punctuation)\"}"), ["200"]),
    (
      "extras of all types",
      all(#""notification":{"android":{"alert":"x","extras":{"a":"b","c":5,"d":true,"e":1.5}}}"#), ["200"]
    ),
    (
      "extras of a message", all(#""message":{"msg_content":"x","extras":{"a":"b","c":5,"d":true}}"#),
      ["200"]
    ),
    (
      "android without its own alert",
      all(#""notification":{"alert":"x","android":{"builder_id":1,"extras":{"a":"b"}}}"#), ["200"]
    ),
    (
      "tags that no device shares",
      #""platform":"all","audience":{"tag_and":["a","b"]},"notification":{"alert":"x"}"#, ["400 1011"]
    ),
    (
      "a tag that one has", #""platform":"all","audience":{"tag_and":["a"]},"notification":{"alert":"x"}"#,
      ["200"]
    ),
    (
      "nobody's alias", #""platform":"all","audience":{"alias":["x"]},"notification":{"alert":"x"}"#,
      ["400 1011"]
    ),
    (
      "known and unknown alias, in this order",
      #""platform":"all","audience":{"alias":["anna","x"]},"notification":{"alert":"x"}"#, ["200"]
    ),
    (
      "a list of an iOS badge as clients write it",
      all(
        ##""notification":{"ios":{"alert":"x","badge":"+1","sound":"default","content-available":1,"##
          + ##""mutable-content":1,"extras":{"a":1}}},"options":{"apns_production":"false","sendno":5}"##),
      ["200"]
    ),
  ]

  private static func all(_ members: String) -> String { #""platform":"all","audience":"all",\#(members)"# }

  @Test(arguments: table.indices) func `Validation ends as in the vendor's suites`(index: Int) async throws {
    let (name, members, outcomes) = Self.table[index]
    let world = try await GatewayWorld()
    for (tag, device) in zip(["a", "b"], try await world.registerMany(2)) {
      let body = "{\"tags\":{\"add\":[\"\(tag)\"]},\"alias\":\"\(tag == "a" ? "anna" : "ben")\"}"
      _ = await world.call("POST", "/v3/devices/\(device.text)", body)
    }
    _ = try await world.register(platform: .ios)
    for path in ["/v3/push/validate", "/v3/push"] {
      let response = await world.call("POST", path, "{\(members)}")
      #expect(outcomes.contains(response.outcome), "\(name) at \(path): \(response.outcome)")
      guard response.status == 200 else { continue }
      #expect(response.messageID != nil && response.json?["sendno"]?.string != nil, "\(name)")
    }
  }

  @Test func `Wrong keys and wrong secrets look the same`() async throws {
    let world = try await GatewayWorld()
    let body = "{\(Self.all(#""notification":{"alert":"x"}"#))}"
    var answers: Set<[UInt8]> = []
    for (key, secret) in [
      (world.app.key.text, "0123456789abcdef01234568"), (world.app.key.text, ""),
      ("0123456789abcdef01234567", GatewayWorld.secret), ("short", GatewayWorld.secret), ("", ""),
    ] {
      let response = await world.call(
        "POST", "/v3/push", body, authorization: GatewayWorld.basic(key, secret))
      #expect(response.outcome == "401 1004")
      // Only the form of a key, which is no secret, may be named.
      if key.utf8.count == 24 { answers.insert(response.body) }
    }
    #expect(answers.count == 1)
  }
}
