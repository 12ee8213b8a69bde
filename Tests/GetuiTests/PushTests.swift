import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Pushes through Getui's API: who gets them, what is answered, and what is refused.
@Suite(.timeLimit(.minutes(1))) struct PushTests {
  private static func body(
    _ audience: String, _ id: String = "request-0001",
    _ rest: String = #","push_message":{"transmission":"hi"}"#
  ) -> String { #"{"request_id":"\#(id)","audience":\#(audience)\#(rest)}"# }

  /// What waits for a device.
  static func pending(_ id: RegistrationID, _ world: GetuiWorld) -> [MessageID] {
    guard let number = world.app.directory.find(id) else { return [] }
    return world.app.directory.pending(
      for: number, after: MessageID(0), at: UInt32(clamping: world.clock.now().seconds), limit: 100
    ).ids
  }

  /// Two hours are what a push lives that says nothing, and more than the plan allows.
  @Test func `A push without ttl keeps to the plan's, and a stored message that nobody could get is refused`()
    async throws
  {
    let world = try await GetuiWorld()
    let id = try await world.register()
    try await world.setPlan(PlanRow(name: "small", maxTimeToLive: 3600))
    func body(_ number: Int, _ settings: String = "", to audience: String = "") -> String {
      #"{"request_id":"request-000\#(number)",\#(audience)\#(settings)"push_message":{"transmission":"hi"}}"#
    }
    let (long, target) = (#""settings":{"ttl":3600001},"#, #""audience":{"cid":["\#(id.text)"]},"#)
    #expect(await world.ask("POST", "/push/single/cid", body(1, to: target)).code == 0)
    #expect(await world.ask("POST", "/push/single/cid", body(2, long, to: target)).code == 20001)
    #expect(await world.ask("POST", "/push/list/message", body(3, long)).code == 20001)
    let stored = await world.ask("POST", "/push/list/message", body(4))
    let task = try #require(stored.json["data"]?["taskid"]?.string)
    #expect(await world.ask("POST", "/push/list/cid", #"{\#(target)"taskid":"\#(task)"}"#).code == 0)
    #expect(world.pending(id).count == 2)
    for push in world.pending(id) {
      let row = try #require(try await world.stored(push))
      #expect(row.expiresAt.seconds - row.createdAt.seconds == 3600)
    }
  }

  /// What was stored says no more than the request did.
  @Test(arguments: [nil, 7_200_000] as [Int?])
  func `A message that was stored before the plan allowed less is sent if it has no ttl`(ttl: Int?)
    async throws
  {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let (soon, when) = (world.clock.now().milliseconds + 60_000, #""schedule_time""#)
    let (life, rest) = (ttl.map { #""ttl":\#($0)"# } ?? "", #""push_message":{"transmission":"hi"}"#)
    let message = #"{"request_id":"request-0001","settings":{\#(life)},\#(rest)}"#
    let stored = await world.ask("POST", "/push/list/message", message)
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    let settings = #"{\#(life.isEmpty ? "" : life + ",")\#(when):\#(soon)}"#
    let later = await world.ask(
      "POST", "/push/all",
      #"{"request_id":"request-0002","audience":"all","settings":\#(settings),\#(rest)}"#)
    let timed = try #require(later.json["data"]?["taskid"]?.string, "\(later.message)")
    try await world.setPlan(PlanRow(name: "small", maxTimeToLive: 3600))

    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
    let sent = await world.ask("POST", "/push/list/cid", list)
    #expect(sent.code == (ttl == nil ? 0 : 20001), "\(sent.message)")
    world.clock.advance(seconds: 60)
    await world.tick()
    let state = await world.ask("GET", "/task/schedule/\(timed)").json["data"]?[timed]?["send_result"]
    #expect(state?.string == (ttl == nil ? "send_success" : "send_failed"))
    #expect(world.pending(id).count == (ttl == nil ? 2 : 0))
    for push in world.pending(id) {
      let row = try #require(try await world.stored(push))
      #expect(row.expiresAt.seconds - row.createdAt.seconds == 3600)
    }
  }

  @Test func `A push to one CID is kept for it, and a repeated request is done once`() async throws {
    let world = try await GetuiWorld()
    let (id, other) = (try await world.register(), try await world.register())
    let body = Self.body(#"{"cid":["\#(id.text)"]}"#)
    let answer = await world.ask("POST", "/push/single/cid", body)
    #expect(answer.status == 200 && answer.code == 0, "\(answer.message)")
    let task = try #require(answer.json["data"]?.object?.members.first)
    let name = try #require(GetuiTaskID(task.key))
    #expect(name.kind == .single)
    let message = name.id
    #expect(task.value == .object(JSONObject([id.text: "successed_offline"])))
    #expect(Self.pending(id, world) == [message])
    #expect(Self.pending(other, world).isEmpty)
    let again = await world.ask("POST", "/push/single/cid", body)
    #expect(again.body == answer.body)
    #expect(Self.pending(id, world) == [message])
    // Requests of another app have names of their own.
    #expect(await world.ask("POST", "/push/all", Self.body("\"all\"", "request-0002")).code == 0)
    #expect(Self.pending(other, world).count == 1)
  }

  @Test func `A stored message goes to lists until it is stopped`() async throws {
    let world = try await GetuiWorld()
    let ids = [try await world.register(), try await world.register()]
    let message = #"{"request_id":"request-0003","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message)
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    #expect(await world.ask("POST", "/push/list/message", message).body == stored.body)
    for id in ids {
      let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)","is_async":false}"#
      let answer = await world.ask("POST", "/push/list/cid", list)
      #expect(answer.json["data"]?[task]?[id.text] == "successed_offline", "\(answer.message)")
      #expect(Self.pending(id, world).count == 1)
    }
    #expect(await world.ask("DELETE", "/task/\(task)").code == 0)
    for id in ids { #expect(Self.pending(id, world).isEmpty) }
    let list = #"{"audience":{"cid":["\#(ids[0].text)"]},"taskid":"\#(task)"}"#
    let refused = await world.ask("POST", "/push/list/cid", list)
    #expect(refused.status == 400 && refused.code == 22002)
    #expect(await world.ask("DELETE", "/task/RASL_1").code == 20001)
    #expect(await world.ask("DELETE", "/task/RASS_1").code == 20001)
  }

  /// Connections of a node that does not answer.
  private final class SilentNode: DeviceGateway {
    func send(_ message: HomeMessage, to loop: UInt16) {}
    func sendToAll(_ message: HomeMessage) {}
    func confirmRecall(_ id: MessageID, of app: AppID, done: @escaping @Sendable (Int) -> Void) { done(1) }
  }

  /// Where Getui's clients do not look: `data` they may read as the type of the call.
  @Test(arguments: [false, true])
  func `A task that a node has not confirmed to have stopped says so`(isSilent: Bool) async throws {
    let world = try await GetuiWorld()
    if isSilent { world.router.add(SilentNode()) }
    let id = try await world.register()
    let sent = await world.ask("POST", "/push/all", Self.body("\"all\"", "request-0001"))
    let task = try #require(sent.json["data"]?["taskid"]?.string)
    let answer = await world.call(
      "DELETE", "/task/\(task)", token: await world.token(), headers: ["X-Borealis-Extensions": "1"])
    let expected =
      isSilent ? #"{"code":0,"msg":"success","unconfirmed_nodes":1}"# : #"{"code":0,"msg":"success"}"#
    #expect(String(decoding: answer.body, as: UTF8.self) == expected)
    #expect(Self.pending(id, world).isEmpty)
  }

  @Test func `Aliases and tags that this API binds can be pushed to`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let alias = String(repeating: "推", count: 14)
    let cid = #"{"data_list":[{"cid":"\#(id.text)","alias":"\#(alias)"}]}"#
    #expect(await world.ask("POST", "/user/alias", cid).code == 0)
    #expect(await world.ask("PUT", "/user/custom_tag/batch/a-b", #"{"cid":["\#(id.text)"]}"#).code == 0)
    let toAlias = Self.body(#"{"alias":["\#(alias)"]}"#, "request-0011")
    #expect(await world.ask("POST", "/push/single/alias", toAlias).code == 0)
    let toTag = Self.body(
      #"{"tag":[{"key":"custom_tag","values":["a-b"],"opt_type":"or"}]}"#, "request-0012")
    #expect(await world.ask("POST", "/push/tag", toTag).code == 0)
    #expect(Self.pending(id, world).count == 2)
  }

  /// A body to a CID with something wrong in it.
  private static func wrong(_ message: String, _ settings: String = "{}") -> String {
    body(#"{"cid":["X"]}"#, "request-0001", #","push_message":\#(message),"settings":\#(settings)"#)
  }

  private static let transmission = #"{"transmission":"a"}"#

  private static func faults() -> [(body: String, expected: String)] {
    var faults: [(body: String, expected: String)] = []
    faults.append((#"{"request_id":"short"}"#, "request_id"))
    faults.append((#"{"request_id":"request-0001\u0000"}"#, "request_id"))
    faults.append((#"{"request_id":"request-0001"}"#, "push_message"))
    faults.append((wrong("{}"), "please choose one"))
    faults.append((wrong(#"{"transmission":"a","notification":{"title":"t"}}"#), "please choose one"))
    faults.append((wrong(#"{"revoke":{}}"#), "revoke"))
    faults.append((wrong(transmission, #"{"ttl":-2}"#), "settings.ttl"))
    faults.append((wrong(transmission, #"{"strategy":{"default":5}}"#), "settings.strategy.default"))
    faults.append((wrong(transmission), "target user is invalid"))
    faults.append((body(#"{"cid":[]}"#), "audience.cid"))
    faults.append((body(#"{"cid":["X","Y"]}"#), "audience.cid size over limit"))
    faults.append((body("{}"), "audience.cid"))
    faults.append((wrong(transmission, #"{"lst":5}"#), "permission required by settings.lst"))
    faults.append(
      (wrong(transmission, #"{"schedule_time":5}"#), "settings.schedule_time is invalid: it is for all"))
    for (settings, expected) in [
      (#"{"active_days":2}"#, "settings.active_days"),
      (#"{"activate_filter_day":5}"#, "activate_filter_type"),
      (#"{"activate_filter_type":1}"#, "activate_filter_day"),
      (#"{"activate_filter_day":5,"activate_filter_type":0}"#, "activate_filter_type"),
      (#"{"active_push_platform":[4]}"#, "active_push_platform"),
    ] { faults.append((wrong(transmission, settings), expected)) }
    for key in ["need_backup", "active_push"] {
      faults.append((wrong(transmission, #"{"\#(key)":true}"#), "permission required by settings.\(key)"))
    }
    return faults
  }

  @Test func `What is wrong is refused by name`() async throws {
    let world = try await GetuiWorld()
    let token = await world.token()
    for (body, expected) in Self.faults() {
      let answer = await world.call("POST", "/push/single/cid", body, token: token)
      #expect(answer.status == 400 && answer.code == 20001, "\(body)")
      #expect(answer.message.contains(expected), "\(body): \(answer.message)")
    }
  }

  @Test(arguments: [
    (#"{"tag":[{"key":"custom_tag","values":["a","b"]}]}"#, #"{"tag":["a","b"]}"#),
    (#"{"tag":[{"key":"phone_type","values":["ios"]}]}"#, #""all""#),
    (
      #"{"tag":[{"key":"custom_tag","values":["a","b"],"opt_type":"and"},{"key":"custom_tag","values":["c"],"opt_type":"not"}]}"#,
      #"{"tag_and":["a","b"],"tag_not":["c"]}"#
    ),
  ])
  func `Conditions on tags become an audience`(given: String, expected: String) throws {
    let fields = GetuiFields(try #require(try parseJSON(Array(#"{"audience":\#(given)}"#.utf8)).object))
    let object = try GetuiAPI.object(
      JSONObject(), to: PushTarget(audience: GetuiPushController.tags(fields).audience))
    #expect(String(decoding: object, as: UTF8.self) == #"{"audience":\#(expected)}"#)
  }

  @Test func `A push may have 100 conditions on tags`() throws {
    let conditions = (0..<100).map {
      #"{"key":"custom_tag","values":["t\#($0)"],"opt_type":"\#($0 % 2 == 0 ? "or" : "not")"}"#
    }
    let body = #"{"audience":{"tag":[\#(conditions.joined(separator: ","))]}}"#
    let fields = GetuiFields(try #require(try parseJSON(Array(body.utf8)).object))
    let filter = try GetuiPushController.tags(fields).audience.filter
    #expect(filter?.tagsAnd.count == 50 && filter?.tagsNot.count == 50)
  }

  @Test func `Calls need a token, before anything is said of their bodies`() async throws {
    let world = try await GetuiWorld()
    for route in GetuiAPI.routes where route.budget != .open {
      let path = route.pattern.dropFirst("/v2/{appId}".count).replacing("{", with: "").replacing(
        "}", with: "")
      for token in [nil, "x"] {
        let answer = await world.call(route.method, String(path), "[", token: token)
        #expect(answer.status == 401 && answer.code == 10001, "\(path)")
        #expect(answer.headers["www-authenticate"] == #"Token realm="Borealis""#)
      }
    }
  }
}
