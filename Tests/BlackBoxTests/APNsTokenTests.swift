import BorealisBase
import BorealisProtocol
import Glibc
import Testing

/// Calls and Live Activities between real processes: devices tell tokens for them, and pushes go to those
/// tokens.
@Suite struct APNsTokenTests {
  private static let game = "game-7"

  private func token(_ digit: Character) -> String { String(repeating: digit, count: 64) }

  /// Tells one of a device's tokens, or takes it away.
  private func reportToken(
    _ kind: APNsTokenKind, named name: String = "", _ token: String?, of device: Int, in world: APNsWorld
  ) throws {
    let slot = try #require(APNsTokenSlot(kind, name: name))
    let bytes = try #require(Hex.decode(token ?? ""))
    let connection = try TestDevice.login(world.server.device, app: world.app.key, world.devices[device])
    try connection.send(
      .operation(
        sequence: 1, .setOtherToken(OtherToken(slot, DeviceToken(bytes.isEmpty ? .none : .production, bytes)))
      ))
    #expect(try connection.next() == .result(sequence: 1, code: .ok, payload: []))
  }

  private func post(_ members: JSONValue, to audience: JSONValue = "all", in world: APNsWorld) throws
    -> HTTPCall
  {
    let body = Self.joined(["platform": "all", "audience": audience], members)
    return try world.server.call("POST", "/v3/push", as: world.app, body: body)
  }

  /// Posts a push and waits for its end.
  private func push(_ members: JSONValue, to audience: JSONValue = "all", in world: APNsWorld) throws
    -> String
  {
    let call = try post(members, to: audience, in: world)
    let id = try #require(call.document?["msg_id"]?.string, "\(call.body)")
    try world.wait("the end of push \(id)") {
      let report = try report(on: id, in: world)
      return report["apns"]?["waiting"] == 0 && report["calls"]?["waiting"] ?? 0 == 0
    }
    return id
  }

  private func report(on push: String, in world: APNsWorld) throws -> JSONValue {
    try #require(try world.server.call("GET", "/v1/pushes/\(push)", as: world.app).document)
  }

  /// How its notification came to iPhones, as JPush's report says it.
  private func iosWays(of push: String, in world: APNsWorld) throws -> JSONValue? {
    let call = try world.server.call("GET", "/v3/messages/detail?msg_ids=\(push)", as: world.app)
    return call.document?.array?.first?["details"]?["notification"]?["sub_ios"]
  }

  /// What Apple got of a push, once it has written so many lines.
  private func entries(of push: String, _ count: Int, in world: APNsWorld) throws -> [APNsWorld.Entry] {
    try world.wait("the simulator's lines") { APNsWorld.entries(world.entries, of: push).count >= count }
    return APNsWorld.entries(world.entries, of: push)
  }

  private func activity(_ event: String, _ more: JSONValue = [:]) -> JSONValue {
    let ios = Self.joined(["event": .string(event), "content-state": ["score": "1:0"]], more)
    return ["live_activity": ["ios": ios]]
  }

  private static func joined(_ first: JSONValue, _ second: JSONValue) -> JSONValue {
    var object = first.object ?? JSONObject()
    for member in second.object?.members ?? [] { object.set(member.key, member.value) }
    return .object(object)
  }

  // MARK: Calls

  @Test func `A call goes to the tokens for calls, beside the notification`() throws {
    let world = try APNsWorld(devices: 2)
    try reportToken(.voip, token("c"), of: 0, in: world)
    let both: JSONValue = [
      "notification": ["ios": ["alert": "Anna calls"], "voip": ["caller": "Anna"]]
    ]
    let push = try push(both, in: world)
    let entries = try entries(of: push, 3, in: world)
    let calls = entries.filter { $0.json["headers"]?["apns-push-type"] == "voip" }
    #expect(calls.map(\.token) == [token("c")])
    let call = try #require(calls.first)
    #expect(call.json["headers"]?["apns-topic"] == "com.example.app.voip" && call.isAccepted)
    #expect(call.json["headers"]?["apns-priority"] == "10")
    #expect(call.json["headers"]?["apns-expiration"] == "0")
    #expect(call.json["payload"]?["caller"] == "Anna" && call.json["payload"]?["aps"] == nil)
    #expect(call.json["payload"]?["_j_msgid"]?.int64.map { "\($0)" } == push)
    #expect(
      Set(entries.filter { $0.text == "Anna calls" }.map(\.token))
        == [APNsWorld.token(0), APNsWorld.token(1)])
    let report = try report(on: push, in: world)
    #expect(report["apns"]?["targets"] == 2 && report["apns"]?["waiting"] == 0)
    #expect(report["apns"]?["results"] == ["delivered": 2])
    #expect(report["calls"] == ["targets": 1, "waiting": 0, "results": ["delivered": 1]])
    #expect(report["status"] == "delivered")
    #expect(report["apns"]?["sent"] == 2)
    let ways = try iosWays(of: push, in: world)
    #expect(ways?["apns"]?["target"] == 2 && ways?["apns"]?["sent"] == 2)
    #expect(ways?["voip"]?["target"] == 1 && ways?["voip"]?["sent"] == 1)
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `A call alone waits for Apple across the end of the server`(signal: Int32) throws {
    let world = try APNsWorld(devices: 2)
    try reportToken(.voip, token("c"), of: 1, in: world)
    try world.killSimulator()
    let call = try post(["notification": ["voip": ["caller": "Anna"]]], in: world)
    let push = try #require(call.document?["msg_id"]?.string, "\(call.body)")
    try world.restartServer(signal)
    let waiting = try report(on: push, in: world)
    #expect(waiting["calls"] == ["targets": 1, "waiting": 1, "results": [:]])
    #expect(waiting["connection"]?["targets"] == 0 && waiting["apns"]?["targets"] == 0)
    try world.startSimulator()
    try world.wait("the call") { try report(on: push, in: world)["calls"]?["waiting"] == 0 }
    #expect(try entries(of: push, 1, in: world).map(\.token) == [token("c")])
    // Reports book it to calls alone.
    #expect(try report(on: push, in: world)["apns"]?["sent"] == 0)
    let ways = try iosWays(of: push, in: world)
    #expect(ways?["apns"] == .null && ways?["voip"]?["target"] == 1 && ways?["voip"]?["sent"] == 1)
  }

  @Test func `A dead token for calls is retired, and the ordinary one stays`() throws {
    let world = try APNsWorld()
    try reportToken(.voip, token("c"), of: 0, in: world)
    try world.script(["action": "answer", "reason": "Unregistered", "token": .string(token("c"))])
    let both: JSONValue = ["notification": ["ios": ["alert": "x"], "voip": ["a": 1]]]
    let first = try push(both, in: world)
    let report = try report(on: first, in: world)
    #expect(
      report["apns"]?["results"] == ["delivered": 1] && report["calls"]?["results"] == ["Unregistered": 1])
    try world.wait("the token goes") {
      try world.metric("borealis_apns_tokens_retired_total").map { $0.hasPrefix("1") } ?? false
    }
    var again = ""
    try world.wait("no call any more") {
      again = try push(both, in: world)
      return try self.report(on: again, in: world)["calls"] == nil
    }
    #expect(try self.report(on: again, in: world)["apns"]?["results"] == ["delivered": 1])
  }

  // MARK: Live Activities

  @Test func `A Live Activity is started, changed and ended on those that have it`() throws {
    let world = try APNsWorld(devices: 3)
    try reportToken(.liveActivityStart, named: "Game", token("d"), of: 0, in: world)
    try reportToken(.liveActivityStart, named: "Order", token("e"), of: 1, in: world)
    let starts = try push(
      activity(
        "start", ["attributes-type": "Game", "attributes": ["id": 7], "alert": ["title": "It begins"]]),
      in: world)
    let start = try #require(try entries(of: starts, 1, in: world).first)
    #expect(start.token == token("d") && start.json["payload"]?["aps"]?["attributes-type"] == "Game")
    #expect(start.json["headers"]?["apns-topic"] == "com.example.app.push-type.liveactivity")
    #expect(start.json["headers"]?["apns-push-type"] == "liveactivity" && start.isAccepted)
    // The phones have started it, by push or by themselves, and tell its token.
    try reportToken(.liveActivity, named: Self.game, token("1"), of: 0, in: world)
    try reportToken(.liveActivity, named: Self.game, token("2"), of: 2, in: world)
    try reportToken(.liveActivity, named: "other", token("3"), of: 1, in: world)
    for event in ["update", "end"] {
      let change = try push(activity(event), to: ["live_activity_id": .string(Self.game)], in: world)
      let entries = try entries(of: change, 2, in: world)
      #expect(Set(entries.map(\.token)) == [token("1"), token("2")])
      for entry in entries {
        #expect(entry.isAccepted && entry.json["payload"]?["aps"]?["event"] == .string(event))
        #expect(entry.json["payload"]?["aps"]?["content-state"] == ["score": "1:0"])
      }
      #expect(try report(on: change, in: world)["targets"] == 2)
    }
    for device in [0, 2] { try reportToken(.liveActivity, named: Self.game, nil, of: device, in: world) }
    let nobody = try post(activity("update"), to: ["live_activity_id": .string(Self.game)], in: world)
    #expect(nobody.status == 400 && nobody.document?["error"]?["code"] == 1011, "\(nobody.body)")
  }
}
