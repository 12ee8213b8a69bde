import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Synchronization
import Testing

@testable import API

/// Many single pushes in one request: each is accepted or refused by itself.
@Suite(.timeLimit(.minutes(1))) struct GetuiBatchTests {
  private static func message(_ id: String, _ name: String, by key: String = "cid") -> String {
    #"{"request_id":"\#(id)","audience":{"\#(key)":["\#(name)"]},"push_message":{"transmission":"hi"}}"#
  }

  private static func batch(_ messages: [String], isAsync: Bool = false) -> String {
    #"{"is_async":\#(isAsync),"msg_list":[\#(messages.joined(separator: ","))]}"#
  }

  private static func tasks(_ answer: HTTPResponse) -> [String: JSONValue] {
    let members = answer.json["data"]?.object?.members ?? []
    return Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
  }

  @Test func `What is wrong with one message stops no other, and each is done once`() async throws {
    let world = try await GetuiWorld()
    let ids = [try await world.register(), try await world.register()]
    let body = Self.batch([
      Self.message("request-0001", ids[0].text), Self.message("request-0002", "nobody"),
      #"{"request_id":"request-0003","audience":{"cid":["\#(ids[0].text)"]},"push_message":{}}"#, "7",
      Self.message("request-0001", ids[1].text), Self.message("request-0004", ids[1].text),
    ])
    let answer = await world.ask("POST", "/push/single/batch/cid", body)
    #expect(answer.code == 0, "\(answer.message)")
    let tasks = Self.tasks(answer)
    #expect(tasks.count == 6)
    for id in ids {
      let made = tasks.filter { $0.value == .object(JSONObject([id.text: "successed_offline"])) }
      #expect(made.count == 1 && made.keys.allSatisfy { GetuiTaskID($0)?.kind == .single })
      #expect(world.pending(id).count == 1)
    }
    #expect(tasks["request-0002"] == ["nobody": "20001: target user is invalid"])
    let choose = "20001: please choose one of notification and transmission and revoke"
    #expect(tasks["request-0003"] == .object(JSONObject([ids[0].text: .string(choose)])))
    #expect(
      tasks["msg_list[3]"] == ["msg_list[3]": "20001: msg_list[3] type error: it must be a JSON object"])
    let repeated = JSONObject([ids[1].text: "20001: request_id cannot be repeat."])
    #expect(tasks["msg_list[4]"] == .object(repeated))
    let gateway = world.api.gateway
    #expect(gateway.accepted.value == 2 && gateway.refused.value == 4)
    let token = await world.token()
    let again = await world.call(
      "POST", "/push/single/batch/cid", body, token: token, by: try world.restarted())
    #expect(again.body == answer.body)
    for id in ids { #expect(world.pending(id).count == 1) }
  }

  @Test func `Aliases get theirs, and nobody waits for what is asynchronous`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let bind = #"{"data_list":[{"cid":"\#(id.text)","alias":"anna"}]}"#
    #expect(await world.ask("POST", "/user/alias", bind).code == 0)
    let refused: JSONValue = [
      "otto": "20001: target user is invalid: the app has 1 device, none of which matches (alias: 0)"
    ]
    let messages = [
      Self.message("request-0001", "anna", by: "alias"), Self.message("request-0002", "otto", by: "alias"),
    ]
    let answer = await world.ask("POST", "/push/single/batch/alias", Self.batch(messages, isAsync: true))
    #expect(answer.code == 0)
    #expect(Self.tasks(answer)["request-0002"] == refused)
    #expect(world.pending(id).count == 1)
    let tasks = Self.tasks(await world.ask("POST", "/push/single/batch/alias", Self.batch(messages)))
    #expect(tasks["request-0002"] == refused)
    #expect(world.pending(id).count == 1)
  }

  @Test func `An app's batches are taken one after the other`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let ends = Mutex<[@Sendable () -> Void]>([])
    for _ in 0...Turns<AppID>.mostWaiting {
      #expect(world.api.gateway.batches.run(for: world.app.id) { done in ends.withLock { $0.append(done) } })
    }
    let body = Self.batch([Self.message("request-0001", id.text)])
    #expect(await world.ask("POST", "/push/single/batch/cid", body).code == 30019)
    #expect(world.pending(id).isEmpty)
    while let end = ends.withLock({ $0.popLast() }) { end() }
    // One that is not valid ends its turn too.
    for _ in 0..<2 { #expect(await world.ask("POST", "/push/single/batch/cid", "{}").code == 20001) }
    #expect(await world.ask("POST", "/push/single/batch/cid", body).code == 0)
    #expect(world.pending(id).count == 1)
  }

  @Test func `Every message counts as a call`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 2
    let world = try await GetuiWorld(limits: limits)
    let id = try await world.register()
    let messages = (1...4).map { Self.message("request-000\($0)", id.text) }
    let tasks = Self.tasks(await world.ask("POST", "/push/single/batch/cid", Self.batch(messages)))
    #expect(world.pending(id).count == 2)
    #expect(tasks["request-0003"]?[id.text]?.string?.hasPrefix("10005:") == true)
    #expect(await world.ask("POST", "/push/single/batch/cid", Self.batch(messages)).code == 10005)
  }

  @Test func `A batch that is repeated is complete in the end`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 3
    let world = try await GetuiWorld(limits: limits)
    let id = try await world.register()
    let messages = (1...5).map { Self.message("request-000\($0)", id.text) }
    for waiting in [3, 5, 5] {
      let tasks = Self.tasks(await world.ask("POST", "/push/single/batch/cid", Self.batch(messages)))
      #expect(tasks.keys.count { $0.hasPrefix("RASS") } == waiting && tasks.count == 5)
      #expect(world.pending(id).count == waiting)
      world.clock.advance(seconds: 62)
    }
  }

  @Test(arguments: [
    (#"{"msg_list":[]}"#, "msg_list can not be empty"), (#"{"is_async":true}"#, "msg_list can not be empty"),
    (#"{"msg_list":{"a":1}}"#, "msg_list type error"),
    (#"{"msg_list":[1],"x":1}"#, "x is invalid: it is not known"),
    (#"{"is_async":3,"msg_list":[1]}"#, "is_async type error"),
    (batch((0...200).map { message("request-\(1000 + $0)", "x") }), "msg_list size over limit"),
  ])
  func `A batch that is none is refused`(body: String, expected: String) async throws {
    let world = try await GetuiWorld()
    let answer = await world.ask("POST", "/push/single/batch/cid", body)
    #expect(answer.code == 20001 && answer.message.hasPrefix(expected))
  }
}
