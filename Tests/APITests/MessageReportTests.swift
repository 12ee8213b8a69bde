import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import API

/// JPush's reports on pushes: shapes, spellings and nulls (JPush REST v3, report API).
@Suite struct MessageReportTests {
  private let world: GatewayWorld
  private let android: [RegistrationID]
  private let phone: RegistrationID

  init() async throws {
    world = try await GatewayWorld()
    android = try await world.registerMany(3)
    phone = try await world.register(platform: .ios)
  }

  private func send(_ members: String = #""notification":{"alert":"x"}"#) async throws -> String {
    try #require(await world.push(members).json?["msg_id"]?.string)
  }

  private func acknowledge(_ id: String, _ devices: RegistrationID...) throws {
    let id = try #require(MessageID(decimal: Array(id.utf8)))
    for device in devices {
      let number = try #require(world.app.directory.find(device))
      world.router.deliveries.acknowledge([id], by: number, in: world.app)
    }
  }

  private func note(_ id: String, tap: Bool, _ devices: RegistrationID...) throws {
    let id = try #require(MessageID(decimal: Array(id.utf8)))
    for device in devices {
      let number = try #require(world.app.directory.find(device))
      world.router.deliveries.note([(id, tap)], by: number, in: world.app)
    }
  }

  private func report(_ path: String, _ ids: String) async throws -> [JSONValue] {
    try await world.settle()
    let answer = await world.call("GET", "\(path)?msg_ids=\(ids)")
    #expect(answer.status == 200)
    return try #require(answer.json?.array)
  }

  @Test func received() async throws {
    let id = try await send()
    try acknowledge(id, android[0], android[1], phone)
    #expect(
      try await report("/v3/received", id) == [
        [
          "msg_id": .string(id), "android_received": 2, "ios_apns_sent": nil, "ios_apns_received": nil,
          "ios_msg_received": 1, "wp_mpns_sent": nil,
        ]
      ])
    let detail = try await report("/v3/received/detail", id)
    #expect(
      detail[0].object?.members.map(\.key) == [
        "msg_id", "jpush_received", "android_pns_sent", "android_pns_received", "ios_apns_sent",
        "ios_apns_received", "ios_msg_received", "live_acivity_sent", "live_acivity_received",
        "quickapp_jpush_received", "quickapp_pns_sent", "hmos_hmpns_sent", "hmos_hmpns_received",
        "hmos_msg_sent", "hmos_msg_received", "wp_mpns_sent",
      ])
    #expect(detail[0]["jpush_received"] == 2 && detail[0]["live_acivity_sent"] == .null)
  }

  /// One element an ID, in the order asked, blanks and empty items passed over; unknown ones are all null.
  @Test func idsAsTheVendorsTestsSendThem() async throws {
    let id = try await send()
    let all = try await report("/v3/received", "%20\(id)%2C%207%2C%2C")
    #expect(all.map { $0["msg_id"]?.string } == [id, "7"])
    #expect(all[0]["android_received"] == 0 && all[1]["android_received"] == .null)
    let tooMany = (1...101).map(String.init).joined(separator: ",")
    for bad in ["", "?msg_ids=", "?msg_ids=x", "?msg_ids=1,-2", "?msg_ids=\(tooMany)"] {
      #expect(await world.call("GET", "/v3/messages\(bad)").outcome == "400 3002", "\(bad)")
    }
    #expect(await world.call("GET", "/v3/received?msg_ids=1", authorization: nil).outcome == "401 3001")
  }

  @Test func messages() async throws {
    let id = try await send()
    try acknowledge(id, android[0], phone)
    try note(id, tap: true, android[0], phone)
    try note(id, tap: true, android[0])
    let found = try await report("/v3/messages", id)[0]
    #expect(
      found == [
        "msg_id": .string(id),
        "android": ["target": 3, "online_push": 1, "received": 1, "click": 1, "msg_click": nil],
        "ios": [
          "apns_target": nil, "apns_sent": nil, "apns_received": nil, "click": 1, "target": 1, "received": 1,
        ], "winphone": nil,
      ])
  }

  @Test func messagesInDetail() async throws {
    let id = try await send(#""notification":{"alert":"x"},"message":{"msg_content":"y"}"#)
    try acknowledge(id, android[0], android[1], phone)
    try note(id, tap: false, android[0], android[1])
    try note(id, tap: true, android[1])
    let found = try await report("/v3/messages/detail", id)[0]
    #expect(
      found.object?.members.map(\.key) == [
        "msg_id", "jpush", "android_pns", "ios", "quickapp_jpush", "quickapp_pns", "winphone", "details",
      ])
    #expect(
      found["jpush"] == [
        "target": 3, "online_push": nil, "sent": 2, "received": 2, "display": 2, "click": 1, "msg_click": nil,
      ])
    // JPush's Java client fails at null for these two, whatever is known.
    for element in [found, try await report("/v3/messages/detail", "7")[0]] {
      #expect(element["android_pns"]?["pns_target"] == .null && element["android_pns"]?["xm_detail"] == .null)
      #expect(element["details"]?.object?.members.count == 4)
    }
    let notification = found["details"]?["notification"]
    #expect(notification?["target"] == 4 && notification?["received"] == 3 && notification?["click"] == 1)
    #expect(
      notification?["sub_android"]?["jg_android"]
        == ["target": 3, "sent": 2, "received": 2, "display": 2, "click": 1])
    #expect(notification?["sub_android"]?["xiaomi"] == .null)
    #expect(notification?["sub_ios"]?["jg_ios"]?["received"] == 1)
    let message = found["details"]?["message"]
    #expect(message?["target"] == 4 && message?["received"] == 3 && message?["display"] == .null)
    #expect(found["details"]?["inapp"] == .null && found["details"]?["live_activity"] == .null)
  }

  /// 0 delivered, 1 not, 2 not of this app, 3 not a target; every ID that was asked is a key.
  @Test func statusOfDevices() async throws {
    let other = try await world.addApp()
    let outsider = try await world.register(in: other)
    let sent = await world.push(to: #"{"registration_id":["\#(android[0].text)","\#(android[1].text)"]}"#)
    let id = try #require(sent.json?["msg_id"]?.string)
    try acknowledge(id, android[0])
    try await world.settle()
    func ask(_ id: String, as app: App? = nil) async -> JSONValue? {
      let ids = [android[0], android[1], android[2], outsider].map { "\"\($0.text)\"" } + ["\"nonsense\""]
      let body = #"{"msg_id":\#(id),"registration_ids":[\#(ids.joined(separator: ","))],"data":"2026-01-31"}"#
      return await world.call("POST", "/v3/status/message", body, as: app).json
    }
    func expected(_ states: [Int64]) -> JSONValue {
      var object = JSONObject()
      for (device, status) in zip(
        [android[0], android[1], android[2], outsider].map(\.text) + ["nonsense"], states)
      {
        object.set(device, ["status": .number(JSONNumber(status))])
      }
      return .object(object)
    }
    #expect(await ask(id) == expected([0, 1, 3, 2, 2]))
    #expect(await ask("\"\(id)\"") == expected([0, 1, 3, 2, 2]), "a string will do")
    #expect(await ask(id, as: other) == expected([2, 2, 2, 3, 2]), "another app's push looks unknown")
    #expect(await ask("77") == expected([3, 3, 3, 2, 2]))
    for bad in [
      "", "x", "{}", #"{"msg_id":"x","registration_ids":["a"]}"#, #"{"msg_id":1,"registration_ids":[]}"#,
      #"{"msg_id":1,"registration_ids":[1]}"#, #"{"msg_id":1,"registration_ids":["a"],"date":"today"}"#,
    ] {
      #expect(await world.call("POST", "/v3/status/message", bad).outcome == "400 3002", "\(bad)")
    }
  }

  /// A device reports without a connection, for itself alone and only with its secret.
  @Test func receiptsWithoutConnection() async throws {
    let registered = try await awaitCallback { done in
      world.router.registrations.register(
        in: world.app, platform: .ios, fingerprint: [], tokens: [], appVersion: ""
      ) { done($0) }
    }.get()
    let id = try await send()
    let strange = try #require(
      await world.push(to: #"{"registration_id":["\#(phone.text)"]}"#).json?["msg_id"]?.string)
    func report(_ secret: String, _ ids: String, app: AppKey? = nil) async -> String {
      await world.call(
        "POST", "/v1/receipts",
        #"{"app_key":"\#((app ?? world.app.key).text)","registration_id":"\#(registered.id.text)","#
          + #""secret":"\#(secret)",\#(ids)}"#, authorization: nil
      ).outcome
    }
    let secret = Hex.encode(registered.secret)
    let said = #""shown":["\#(id)"],"tapped":[\#(id),\#(strange)]"#
    #expect(await report(secret, said) == "200")
    #expect(await report(String(repeating: "0", count: 32), said) == "401 1004")
    #expect(await report(secret, said, app: AppKey(high: 1, low: 1)) == "401 1004")
    for bad in [#""shown":[]"#, #""shown":["x"]"#, #""shown":7"#, #""tapped":[-1]"#] {
      #expect(await report(secret, bad) == "400 1003", "\(bad)")
    }
    #expect(await report("00", said) == "400 1003")
    try await world.settle()
    let json = await world.call("GET", "/v1/pushes/\(id)").json
    #expect(json?["shown"] == 1 && json?["tapped"] == 1)
    #expect(await world.call("GET", "/v1/pushes/\(strange)").json?["tapped"] == 0)
  }

  /// Whether a value is null, or an object without any other value.
  private static func saysNothing(_ value: JSONValue) -> Bool {
    value.isNull || value.object?.members.allSatisfy { saysNothing($0.value) } == true
  }

  /// Figures of one app say nothing of another's.
  @Test func tenants() async throws {
    let id = try await send()
    try acknowledge(id, android[0])
    try await world.settle()
    let other = try await world.addApp()
    for path in ["/v3/received", "/v3/received/detail", "/v3/messages", "/v3/messages/detail"] {
      let answer = await world.call("GET", "\(path)?msg_ids=\(id)", as: other).json
      let values = answer?.array?[0].object?.members.dropFirst().map(\.value) ?? []
      #expect(!values.isEmpty && values.allSatisfy(Self.saysNothing), "\(path)")
    }
  }

  /// The whole funnel, and the terms that add up to the targets.
  @Test func identity() async throws {
    let id = try await send()
    try acknowledge(id, android[0])
    try note(id, tap: true, android[0], android[0])
    try await world.settle()
    func counts() async -> [String: Int64] {
      let json = await world.call("GET", "/v1/pushes/\(id)").json
      let names = ["targets", "delivered", "expired", "recalled", "failed", "pending", "shown", "tapped"]
      return Dictionary(uniqueKeysWithValues: names.map { ($0, json?[$0]?.int64 ?? -1) })
    }
    let open: [String: Int64] = [
      "targets": 4, "delivered": 1, "expired": 0, "recalled": 0, "failed": 0, "pending": 3, "shown": 1,
      "tapped": 1,
    ]
    #expect(await counts() == open)
    #expect(await world.call("DELETE", "/v3/push/\(id)").status == 200)
    #expect(await counts() == open.merging(["recalled": 3, "pending": 0]) { $1 })
    world.router.tick()
    try await world.settle()
    #expect(world.router.audit.totals.unaccounted == 0)
  }
}
