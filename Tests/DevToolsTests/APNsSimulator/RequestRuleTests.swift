import BorealisBase
import Testing

@testable import DevTools

@Suite struct RequestRuleTests {
  @Test func everyReasonHasApplesStatus() {
    let table: [Int: [SimulatedReason]] = [
      403: [
        .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
        .missingProviderToken, .unrelatedKey, .badEnvironmentKey,
      ],
      404: [.badPath], 405: [.methodNotAllowed], 410: [.expiredToken, .unregistered], 413: [.payloadTooLarge],
      429: [.tooManyProviderTokenUpdates, .tooManyRequests], 500: [.internalServerError],
      503: [.serviceUnavailable, .shutdown],
    ]
    for reason in SimulatedReason.allCases {
      let status = table.first { $0.value.contains(reason) }?.key ?? 400
      #expect(Verdict(Refusal(reason)).status == status, "\(reason)")
    }
  }

  /// A field's value, nil without the field, and the reason that it is refused for.
  @Test(
    arguments: [
      (":path", nil, "BadPath"), (":path", "/", "BadPath"), (":path", "/3/device", "BadPath"),
      (":path", "/3/devices/0a", "BadPath"), (":path", "/4/broadcasts/apps/a", "BadPath"),
      (":path", "/3/device/0a/b", "BadPath"), (":path", "/3/device/0a?x=1", "BadPath"),
      (":path", "/3/device/", "MissingDeviceToken"), (":path", "/3/device/0a", "BadDeviceToken"),
      (":path", "/3/device/" + String(repeating: "0g", count: 32), "BadDeviceToken"),
      (":path", "/3/device/" + String(repeating: "0", count: 65), "BadDeviceToken"),
      (":path", "/3/device/" + String(repeating: "0", count: 66), "BadDeviceToken"),
      (":path", "/3/device/" + String(repeating: "0A", count: 32), ""),
      (":method", "GET", "MethodNotAllowed"), (":method", "post", "MethodNotAllowed"),
      ("authorization", nil, "MissingProviderToken"), ("authorization", "bearer ", "MissingProviderToken"),
      ("authorization", "basic abc", "MissingProviderToken"), ("authorization", "", "MissingProviderToken"),
      ("apns-id", nil, ""), ("apns-id", "5B2F6A52-6C58-4D0F-9C33-0A6F0A4F7C11", ""),
      ("apns-id", "", "BadMessageId"), ("apns-id", "5b2f6a526c584d0f9c330a6f0a4f7c11", "BadMessageId"),
      ("apns-id", "5b2f6a52-6c58-4d0f-9c33-0a6f0a4f7c1g", "BadMessageId"),
      ("apns-id", "5b2f6a5-26c58-4d0f-9c33-0a6f0a4f7c11", "BadMessageId"),
      ("content-encoding", "gzip", "BadRequestPayload"), ("content-encoding", "identity", ""),
      ("apns-priority", "10", ""), ("apns-priority", "5", ""), ("apns-priority", "1", ""),
      ("apns-priority", "0", "BadPriority"), ("apns-priority", "05", "BadPriority"),
      ("apns-priority", "high", "BadPriority"), ("apns-priority", "", "BadPriority"),
      ("apns-expiration", "0", ""), ("apns-expiration", "1800003600", ""),
      ("apns-expiration", "-1", "BadExpirationDate"), ("apns-expiration", "", "BadExpirationDate"),
      ("apns-expiration", "1e9", "BadExpirationDate"),
      ("apns-expiration", "9999999999999999999", "BadExpirationDate"),
      ("apns-collapse-id", String(repeating: "x", count: 64), ""),
      ("apns-collapse-id", String(repeating: "x", count: 65), "BadCollapseId"),
      ("apns-collapse-id", String(repeating: "é", count: 32), ""),
      ("apns-collapse-id", String(repeating: "é", count: 33), "BadCollapseId"),
      ("apns-push-type", "Alert", "InvalidPushType"), ("apns-push-type", "", "InvalidPushType"),
      ("apns-push-type", "push-to-talk", "InvalidPushType"), ("apns-push-type", nil, ""),
      ("apns-topic", nil, "MissingTopic"), ("apns-topic", "", "BadTopic"), ("apns-topic", "a b", "BadTopic"),
      ("apns-topic", "com.example.äpp", "BadTopic"),
      ("apns-topic", String(repeating: "a", count: 256), "BadTopic"),
      ("apns-topic", "com.example.app.voip", "InvalidPushType"),
    ] as [(String, String?, String)])
  func fieldsAreChecked(name: String, value: String?, reason: String) throws {
    var world = try RuleWorld()
    #expect(world.reason([name: value]) == reason)
  }

  /// Push type, what follows the bundle ID, priority, payload and the reason for a refusal.
  @Test(
    arguments: [
      ("alert", "", "5", ""), ("alert", ".voip", "10", "InvalidPushType"),
      ("background", "", "5", ""), ("background", "", "10", "BadPriority"),
      ("background", "", nil, "BadPriority"),
      ("background", "", "1", "BadPriority"), ("background", ".voip", "5", "InvalidPushType"),
      ("voip", ".voip", nil, ""), ("voip", "", nil, "InvalidPushType"),
      ("complication", ".complication", nil, ""), ("complication", ".voip", nil, "InvalidPushType"),
      ("fileprovider", ".pushkit.fileprovider", nil, ""), ("fileprovider", "", nil, "InvalidPushType"),
      ("location", ".location-query", nil, ""), ("location", "", nil, "InvalidPushType"),
      ("liveactivity", ".push-type.liveactivity", nil, ""), ("liveactivity", "", nil, "InvalidPushType"),
      ("pushtotalk", ".voip-ptt", nil, ""), ("pushtotalk", ".voip", nil, "InvalidPushType"),
      ("widgets", ".push-type.widgets", nil, ""), ("widgets", ".push-type.controls", nil, "InvalidPushType"),
      ("controls", ".push-type.controls", nil, ""), ("controls", "", nil, "InvalidPushType"),
      ("mdm", "", nil, "InvalidPushType"),
    ] as [(String, String, String?, String)])
  func pushTypesHaveTheirTopics(type: String, suffix: String, priority: String?, reason: String) throws {
    var world = try RuleWorld()
    let topic = "com.example.app" + suffix
    #expect(
      world.reason(["apns-push-type": type, "apns-topic": topic, "apns-priority": priority]) == reason)
  }

  @Test func managementHasItsOwnTopics() throws {
    var world = try RuleWorld()
    let fields = ["apns-push-type": "mdm", "apns-topic": "com.apple.mgmt.External.1"]
    #expect(world.reason(fields, body: #"{"mdm":"x"}"#) == "")
  }

  @Test(arguments: [
    ("alert", "", 4096, ""), ("alert", "", 4097, "PayloadTooLarge"), ("voip", ".voip", 5120, ""),
    ("voip", ".voip", 5121, "PayloadTooLarge"),
    ("liveactivity", ".push-type.liveactivity", 4097, "PayloadTooLarge"),
  ])
  func payloadsHaveALargestSize(type: String, suffix: String, size: Int, reason: String) throws {
    var world = try RuleWorld()
    let frame = #"{"aps":{"alert":""}}"#
    let body = #"{"aps":{"alert":""# + String(repeating: "x", count: size - frame.utf8.count) + #""}}"#
    #expect(body.utf8.count == size)
    let fields = ["apns-push-type": type, "apns-topic": "com.example.app" + suffix]
    #expect(world.reason(fields, body: body) == reason)
  }

  @Test(arguments: [
    ("", "PayloadEmpty"), ("x", "BadRequestPayload"), ("[]", "BadRequestPayload"), ("{}", ""),
    (#"{"aps":NaN}"#, "BadRequestPayload"), (#"{"aps":{}"#, "BadRequestPayload"), ("1", "BadRequestPayload"),
    (#"{"aps":{"badge":1}}  "#, ""),
  ])
  func payloadsAreJSONObjects(body: String, reason: String) throws {
    var world = try RuleWorld()
    #expect(world.reason(body: body) == reason)
  }

  @Test func payloadsAreUTF8() throws {
    var world = try RuleWorld()
    var request = world.request()
    request.body = Array(#"{"a":""#.utf8) + [0xff] + Array(#""}"#.utf8)
    #expect(world.judge(request).verdict.reason == "BadRequestPayload")
  }

  @Test func fieldsMayNotComeTwice() throws {
    var world = try RuleWorld()
    for name in ["apns-topic", "apns-priority", "authorization", "apns-something"] {
      var request = world.request(["apns-priority": "10"])
      for _ in 0..<2 { request.add(Array(name.utf8)[...], Array("10".utf8)[...]) }
      #expect(world.judge(request).verdict.reason == "DuplicateHeaders")
    }
    var request = world.request()
    for _ in 0..<2 { request.add(Array("accept".utf8)[...], Array("*/*".utf8)[...]) }
    #expect(world.judge(request).verdict == .accepted)
  }

  /// Each request has all the faults from one place in the order on; the first is answered.
  @Test func theFirstFaultIsAnswered() throws {
    let faults: [(change: [String: String?], reason: String)] = [
      ([":path": "/3/x"], "BadPath"), ([":method": "PUT"], "MethodNotAllowed"),
      (["authorization": nil], "MissingProviderToken"), (["apns-id": "x"], "BadMessageId"),
      (["apns-priority": "x"], "BadPriority"), (["apns-expiration": "x"], "BadExpirationDate"),
      (["apns-push-type": "x"], "InvalidPushType"), (["apns-topic": nil], "MissingTopic"),
      ([":path": "/3/device/0a"], "BadDeviceToken"),
    ]
    for start in faults.indices {
      var world = try RuleWorld()
      var changes: [String: String?] = [:]
      for fault in faults[start...].reversed() { changes.merge(fault.change) { $1 } }
      #expect(world.reason(changes, body: "") == faults[start].reason)
    }
  }

  @Test(
    arguments: [
      ("alert", "", #"{"aps":{"alert":"x"}}"#, nil), ("alert", "", #"{"aps":{"badge":0}}"#, nil),
      ("alert", "", #"{"aps":{"content-available":1}}"#, .alertContent), ("alert", "", "{}", .alertContent),
      ("background", "", #"{"aps":{"content-available":1}}"#, nil),
      ("background", "", #"{"aps":{"content-available":1,"sound":"x"}}"#, .backgroundContent),
      ("background", "", #"{"aps":{}}"#, .backgroundContent),
      ("background", "", #"{"aps":{"content-available":true}}"#, .flagIsNoNumber),
      ("alert", "", #"{"aps":{"alert":"x","mutable-content":true}}"#, .flagIsNoNumber),
      ("voip", ".voip", #"{"call":1}"#, nil),
      ("liveactivity", ".push-type.liveactivity", #"{"aps":{"timestamp":1,"event":"end"}}"#, nil),
      ("liveactivity", ".push-type.liveactivity", #"{"aps":{"event":"end"}}"#, .liveActivityContent),
      (
        "liveactivity", ".push-type.liveactivity", #"{"aps":{"timestamp":1,"event":"update"}}"#,
        .liveActivityContent
      ),
      (
        "liveactivity", ".push-type.liveactivity",
        #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, nil
      ),
      (
        "liveactivity", ".push-type.liveactivity",
        #"{"aps":{"timestamp":1,"event":"start","content-state":{}}}"#, .liveActivityContent
      ),
      (
        "liveactivity", ".push-type.liveactivity",
        #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"alert":{}}}"#,
        nil
      ),
    ] as [(String, String, String, Finding?)])
  func contentIsComparedWithTheType(
    type: String, suffix: String, body: String, finding: Finding?
  ) throws {
    var world = try RuleWorld()
    let request = world.request(
      ["apns-push-type": type, "apns-topic": "com.example.app" + suffix, "apns-priority": "5"], body: body)
    let outcome = world.judge(request)
    #expect(outcome.verdict == .accepted)
    #expect(outcome.findings == (finding.map { [$0] } ?? []))
    world.rules.refusesContent = true
    #expect(world.judge(request).verdict.reason == (finding == nil ? nil : "BadRequestPayload"))
  }

  @Test func fieldsThatShouldBeOtherwiseAreFound() throws {
    var world = try RuleWorld()
    #expect(world.judge(world.request(["apns-push-type": nil])).findings == [.missingPushType])
    #expect(world.judge(world.request(["apns-retry": "1"])).findings == [.unknownAPNSHeader])
  }

  @Test func tokensHaveStates() throws {
    var world = try RuleWorld()
    let token = try #require(SimulatedDeviceToken(RuleWorld.deviceToken.utf8))
    let topic = Array("com.example.app".utf8)[...]
    let states: [(SimulatedTokens.State?, Verdict)] = [
      (.registered(topics: nil), .accepted), (.registered(topics: [topic]), .accepted),
      (
        .registered(topics: [Array("com.example.app.voip".utf8)[...]]),
        Verdict(status: 400, reason: "DeviceTokenNotForTopic")
      ),
      (.foreign, Verdict(status: 400, reason: "BadDeviceToken")),
      (.unregistered(timestamp: 12), Verdict(status: 410, reason: "Unregistered", timestamp: 12)),
      (.expired(timestamp: 13), Verdict(status: 410, reason: "ExpiredToken", timestamp: 13)),
      (nil, .accepted),
    ]
    for (state, verdict) in states {
      world.rules.tokens.set(token, state)
      #expect(world.judge(world.request()).verdict == verdict)
    }
    world.rules.tokens.onlyRegistered = true
    #expect(world.reason() == "BadDeviceToken")
    world.rules.tokens.set(token, .registered(topics: nil))
    #expect(world.reason() == "")
  }

  @Test func longTokensMayBeAllowed() throws {
    var world = try RuleWorld()
    world.rules.acceptsAnyTokenLength = true
    for (count, reason) in [(80, ""), (100, ""), (31, "BadDeviceToken"), (101, "BadDeviceToken")] {
      #expect(world.reason([":path": "/3/device/" + String(repeating: "ab", count: count)]) == reason)
    }
  }

  @Test func answersSayWhatAppleSays() {
    #expect(Verdict.accepted.body == [])
    #expect(
      Verdict(Refusal(.unregistered, timestamp: 1_767_225_600_123)).body
        == Array(#"{"reason":"Unregistered","timestamp":1767225600123}"#.utf8))
    #expect(Verdict(Refusal(.badTopic)).body == Array(#"{"reason":"BadTopic"}"#.utf8))
  }
}
