import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

@Suite struct PushAPITests {
  /// Every code that the push API can give, with its status, in JPush's form; nothing of it reaches a device.
  @Test func errors() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let other = try await world.addApp()
    let foreignPush = MessageID(firstAt: world.clock.now()).text
    let large = String(repeating: "x", count: 4001)
    let cases: [(String, HTTPResponse)] = [
      ("405 1001", await world.call("GET", "/v3/push")),
      ("405 1001", await world.call("PUT", "/v3/push/validate", "{}")),
      ("400 1002", await world.call("POST", "/v3/push")),
      ("400 1002", await world.push("\"options\":{}")),
      ("400 1003", await world.call("POST", "/v3/push", "{")),
      ("400 1003", await world.call("POST", "/v3/push", "[]")),
      ("400 1003", await world.push(to: #""nobody""#)),
      ("400 1003", await world.push(#""message":{"msg_content":1}"#)),
      ("400 1003", await world.push(#""message":{"msg_content":"x"},"cid":"\#(other.key.text)-1""#)),
      ("400 1003", await world.push(#""message":{"msg_content":"x"},"cid":"\#(world.app.key.text)""#)),
      (
        "400 1003",
        await world.push(#""message":{"msg_content":"x"},"options":{"override_msg_id":\#(foreignPush)}"#)
      ),
      ("400 1005", await world.push(#""message":{"msg_content":"\#(large)"}"#)),
      (
        "400 1005",
        await world.push(#""message":{"msg_content":"\#(String(repeating: "x", count: 300_000))"}"#)
      ),
      ("400 1009", await world.push(#""notification":{"alert":"x"},"notificaton":{"alert":"y"}"#)),
      ("400 1011", await world.push(to: #"{"alias":["nobody"]}"#)),
      ("400 1003", await world.push(to: #"{"registration_id":["\#(device.text.dropLast())"]}"#)),
      ("400 1011", await world.push(to: #"{"registration_id":["0123456789abcdef012"]}"#)),
      ("403 2007", await world.push(#""notification":{"alert":"x"},"sms_message":{"a":1}"#)),
      ("400 1003", await world.call("GET", "/v3/push/cid?count=-1")),
      ("400 1003", await world.call("GET", "/v3/push/cid?count=1001")),
      ("400 1003", await world.call("GET", "/v3/push/cid?type=sms")),
      ("400 1003", await world.call("DELETE", "/v3/push/12x")),
      ("400 1003", await world.call("DELETE", "/v3/push/\(foreignPush)")),
      ("404 1003", await world.call("GET", "/v3/nothing")),
      ("400 1003", await world.call("GET", "/v3/%zz")),
    ]
    for (index, (expected, response)) in cases.enumerated() {
      #expect(response.outcome == expected, "case \(index)")
    }
    #expect(world.pending(device) == [])
  }

  /// What Apple would refuse is refused before it is stored, by both calls, and the message has the field and
  /// both sizes.
  @Test(arguments: [
    (#""ios":{"alert":"%"}"#, 2000, "notification.ios: 2012 bytes as JSON, at most 2000 are allowed"),
    (
      #""alert":"x","voip":{"a":"%"}"#, 5120,
      "notification.voip makes a payload of up to 5156 bytes for Apple, which accepts at most 5120"
    ),
    (
      #""ios":{"alert":"x","extras":{"aps":{"a":1}}}"#, 0,
      "notification.ios.extras.aps is reserved for the server"
    ),
  ])
  func notificationsThatAppleWouldRefuse(members: String, count: Int, message: String) async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let filled = members.replacing("%", with: String(repeating: "t", count: count))
    let body = #"{"platform":"all","audience":"all","notification":{\#(filled)}}"#
    for path in ["/v3/push", "/v3/push/validate"] {
      let response = await world.call("POST", path, body)
      let error = try parseJSON(response.body)["error"]
      #expect(response.status == 400 && error?["code"]?.int64 == (count == 0 ? 1003 : 1005))
      #expect(error?["message"]?.string == message)
    }
    #expect(world.pending(device) == [])
  }

  /// A wrong key and a wrong secret look the same; nothing is told of either.
  @Test func credentials() async throws {
    let world = try await GatewayWorld()
    let (key, secret) = (world.app.key.text, GatewayWorld.secret)
    let wrong: [String?] = [
      nil, "", "Bearer \(key)", GatewayWorld.basic(key, "wrong"), GatewayWorld.basic(key, ""),
      GatewayWorld.basic(key, secret + "0"), GatewayWorld.basic(String(key.reversed()), secret),
      GatewayWorld.basic("group-\(key)", secret), "Basic " + key, "Basic %%%%",
      "Basic " + Base64.encode(Array(key.utf8)), "Basic " + String(repeating: "A", count: 10_000),
    ]
    for header in wrong {
      let push = await world.call("POST", "/v3/push", "{}", authorization: header)
      #expect(push.outcome == "401 1004")
      let message = push.json?["error"]?["message"]?.string ?? ""
      #expect(!message.isEmpty && !message.contains(secret) && !message.contains(key))
      let isWellFormed = header.map { [wrong[3], wrong[5], wrong[6]].contains($0) } ?? false
      #expect((message == "The key is unknown or the secret is wrong") == isWellFormed || header == wrong[4])
      #expect(push.headers["x-rate-limit-quota"] == "6000000", "an untouched one, whoever asks")
      let device = await world.call("GET", "/v3/tags", authorization: header)
      #expect(device.outcome == (header == nil ? "401 7001" : "401 7004"))
    }
    let lower = GatewayWorld.basic(key, secret).replacing("Basic", with: "bAsIc")
    #expect(await world.call("GET", "/v3/tags", authorization: lower).status == 200)
  }

  /// A success holds both numbers as strings, and the push waits for its audience.
  @Test func success() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(2)
    let first = await world.push(#""notification":{"alert":"x"},"options":{"sendno":-7}"#)
    let id = try #require(first.messageID)
    #expect(first.status == 200 && first.headers["content-type"] == "application/json")
    #expect(first.body == Array(#"{"sendno":"-7","msg_id":"\#(id.text)"}"#.utf8))
    let second = await world.call(
      "POST", "/v3//push/", #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#)
    #expect(second.json?["sendno"]?.string == "0" && second.status == 200, "Ruby's path")
    #expect(
      devices.map { world.pending($0) } == [[id, try #require(second.messageID)], world.pending(devices[0])])
    let text = world.metrics.render()
    #expect(text.contains("borealis_pushes_accepted_total 2\n"))
  }

  /// Validation gives the answers of a push and does nothing.
  @Test func validation() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let pushed = try #require(await world.push().messageID)
    let message = #""message":{"msg_content":"x"}"#
    let cases = [
      ("200", message), ("400 1002", #""options":{}"#), ("400 1009", #""x":1,"# + message),
      ("400 1003", #""cid":"x","# + message),
      ("400 1003", #""options":{"override_msg_id":5},"# + message),
      ("200", #""options":{"override_msg_id":\#(pushed.text)},"# + message),
    ]
    for (expected, members) in cases {
      let body = #"{"platform":"all","audience":"all",\#(members)}"#
      #expect(await world.call("POST", "/v3/push/validate", body).outcome == expected, "\(members)")
    }
    let nobody = #"{"platform":"all","audience":{"tag":["x"]},\#(message)}"#
    #expect(await world.call("POST", "/v3/push/validate", nobody).outcome == "400 1011")
    #expect(world.pending(device) == [pushed])
  }

  /// Validation counts nothing, and says when the plan allows no more.
  @Test func `Validation knows how many pushes to everybody the day has left`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    try await world.setPlan(PlanRow(name: "small", broadcasts: 1))
    func body(to audience: String) -> String {
      #"{"platform":"all","audience":\#(audience),"message":{"msg_content":"x"}}"#
    }
    let (all, one) = (body(to: #""all""#), body(to: #"{"registration_id":["\#(device.text)"]}"#))
    for _ in 0..<2 { #expect(await world.call("POST", "/v3/push/validate", all).outcome == "200") }
    #expect(await world.call("POST", "/v3/push", all).outcome == "200")
    for path in ["/v3/push/validate", "/v3/push"] {
      #expect(await world.call("POST", path, all).outcome == "403 2008")
      #expect(await world.call("POST", path, one).outcome == "200")
    }
    world.clock.advance(seconds: 86_400)
    #expect(await world.call("POST", "/v3/push/validate", all).outcome == "200")
  }

  /// A body that is not what the header says would go to those whom its plain parts name.
  @Test(arguments: ["/v3/push", "/v3/push/validate", "/v3/push/file", "/v3/push/batch/regid/single"])
  func `An encrypted body is refused by its header`(path: String) async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let body = #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#
    let refused = await world.call("POST", path, body, headers: ["X-Encrypt-Type": "SM2"])
    #expect(refused.outcome == "400 1009")
    #expect(world.pending(device).isEmpty)
    guard path == "/v3/push" else { return }
    #expect(await world.call("POST", path, body, headers: ["X-Encrypt-Type": ""]).outcome == "200")
  }

  @Test func `A body that is nested too deep is told so`() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    func push(_ depth: Int) async -> HTTPResponse {
      let (open, close) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
      let message = #""message":{"msg_content":"x","extras":{"a":\#(open)\#(close)}}"#
      return await world.call(
        "POST", "/v3/push/validate", #"{"platform":"all","audience":"all",\#(message)}"#)
    }
    // The push, its message and the extras are three.
    #expect(await push(29).outcome == "200")
    let refused = await push(30)
    #expect(refused.outcome == "400 1003")
    let text = refused.json?["error"]?["message"]?.string ?? ""
    #expect(text.hasPrefix("The body is nested deeper than 32 levels (at byte "), "\(text)")
  }

  /// The names that are issued make a push safe to repeat, for the app that they were issued to.
  @Test func requestNames() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let one = try #require(await world.call("GET", "/v3/push/cid").json?["cidlist"]?.array)
    #expect(one.count == 1)
    let many = await world.call("GET", "/v3/push/cid?count=1000&type=schedule").json?["cidlist"]?.array
    let names = Set((many ?? []).compactMap(\.string))
    #expect(names.count == 1000)
    let shape = names.allSatisfy { name in
      let parts = name.split(separator: "-")
      return parts.map(\.count) == [24, 8, 4, 4, 4, 12] && parts[0] == world.app.key.text
    }
    #expect(shape)
    let cid = try #require(one[0].string)
    let first = await world.push(#""message":{"msg_content":"x"},"cid":"\#(cid)","options":{"sendno":3}"#)
    let again = await world.push(#""message":{"msg_content":"y"},"cid":"\#(cid)","options":{"sendno":4}"#)
    #expect(first.status == 200 && first.body == again.body)
    #expect(world.pending(device) == [try #require(first.messageID)])
  }

  /// A recall is answered with `{}`, also when nothing is left to recall; another app cannot recall.
  @Test func recall() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = try #require(await world.push().messageID)
    let other = try await world.addApp()
    #expect(await world.call("DELETE", "/v3/push/\(id.text)", as: other).outcome == "400 1003")
    #expect(world.pending(device) == [id])
    for _ in 0..<2 {
      let response = await world.call("DELETE", "/v3/push/\(id.text)")
      #expect(response.status == 200 && response.body == Array("{}".utf8))
    }
    #expect(world.pending(device) == [])
  }

  /// Every answer to an authenticated call tells the budget under both names; over it come 429 and 2002 until
  /// the minute is over. Apps and APIs have budgets of their own.
  @Test func rateLimits() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 3
    limits.deviceCallsPerMinute = 1
    let world = try await GatewayWorld(limits: limits)
    let other = try await world.addApp()
    func rateLimits(_ response: HTTPResponse) -> [String?] {
      ["quota", "limit", "remaining", "reset"].map { response.headers["x-rate-limit-\($0)"] }
    }
    let first = await world.call("POST", "/v3/push", "{")
    #expect(first.outcome == "400 1003" && rateLimits(first) == ["3", "3", "2", "60"])
    world.clock.advance(seconds: 20)
    #expect(rateLimits(await world.call("GET", "/v3/push/cid")) == ["3", "3", "1", "40"])
    #expect(rateLimits(await world.call("POST", "/v3/push/validate", "{}")) == ["3", "3", "0", "40"])
    let over = await world.call("GET", "/v3/push/cid")
    #expect(over.outcome == "429 2002" && rateLimits(over) == ["3", "3", "0", "40"])
    #expect(rateLimits(await world.call("GET", "/v3/push/cid", as: other)) == ["3", "3", "2", "60"])
    #expect(rateLimits(await world.call("GET", "/v3/tags")) == ["1", "1", "0", "60"])
    #expect(await world.call("GET", "/v3/tags").outcome == "429 2002")
    world.clock.advance(seconds: 39)
    #expect(await world.call("GET", "/v3/push/cid").outcome == "429 2002")
    world.clock.advance(seconds: 1)
    let next = await world.call("GET", "/v3/push/cid")
    #expect(next.status == 200 && rateLimits(next) == ["3", "3", "2", "60"])
    #expect(rateLimits(await world.call("GET", "/healthz")) == [nil, nil, nil, nil])
  }

  /// A disabled app is refused until it is enabled again.
  @Test func disabledApp() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    try await world.setDisabled(true)
    #expect(await world.push().outcome == "403 2003")
    #expect(await world.call("GET", "/v3/tags").outcome == "400 7008")
    #expect(await world.call("GET", "/v3/tags", authorization: "Basic x").outcome == "401 7004")
    try await world.setDisabled(false)
    #expect(await world.push().status == 200)
  }

  /// What a load balancer and a scraper ask needs no app.
  @Test func openRoutes() async throws {
    let world = try await GatewayWorld()
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
      let response = await world.call("GET", path, authorization: nil)
      #expect(response.status == 200 && !response.body.isEmpty, "\(path)")
    }
    let wrong = await world.call("POST", "/healthz", authorization: nil)
    #expect(wrong.outcome == "405 1001" && wrong.headers["allow"] == "GET, OPTIONS")
  }

  /// What the parser refuses is answered in JPush's form as well.
  @Test(arguments: HTTPFault.allCases) func refusals(fault: HTTPFault) {
    let response = Gateway.refusal(fault)
    #expect(response.status == fault.status)
    let expected =
      fault == .bodyTooLarge ? 1005 : [.timeout, .busy, .unanswered, .unserved].contains(fault) ? 1030 : 1003
    #expect(response.errorCode == expected)
    let asksToRepeat = String(decoding: response.body, as: UTF8.self).contains(
      "repeat a push with the same cid")
    #expect(asksToRepeat == (fault == .unanswered))
  }
}
