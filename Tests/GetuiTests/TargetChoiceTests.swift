import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Whom pushes mean: CIDs by their tags, platforms, and devices that were there lately.
@Suite(.timeLimit(.minutes(1))) struct TargetChoiceTests {
  /// A world with a device that has tags `a` and `b`.
  private static func world() async throws -> (GetuiWorld, RegistrationID) {
    let world = try await GetuiWorld()
    let id = try await world.register()
    for tag in ["a", "b"] {
      #expect(await world.ask("PUT", "/user/custom_tag/batch/\(tag)", #"{"cid":["\#(id.text)"]}"#).code == 0)
    }
    return (world, id)
  }

  @Test(arguments: [
    (#"["a","c"]"#, "0", true), (#"["c","d"]"#, "0", false), (#"["a","b"]"#, "1", true),
    (#"["a","c"]"#, "1", false), (#"["c","d"]"#, "2", true), (#"["a","c"]"#, "2", false),
    (#"["a","c"]"#, "\"1\"", false), (#"["a","c"]"#, "null", true),
  ])
  func `A CID is meant if its tags are as wanted`(tags: String, rule: String, isMeant: Bool) async throws {
    let (world, id) = try await Self.world()
    let choice = #"{"cid":"\#(id.text)","tag":\#(tags),"op_type":\#(rule)}"#
    let body =
      #"{"request_id":"request-0001","audience":{"cid_by_tag":[\#(choice)]},"push_message":{"transmission":"hi"}}"#
    let answer = await world.ask("POST", "/push/single/cid_by_tag", body)
    let status: JSONValue = isMeant ? "successed_offline" : "successed_ignore"
    let expected = JSONValue.object(JSONObject([id.text: status]))
    #expect(answer.json["data"]?.object?.members.first?.value == expected, "\(answer.message)")
    #expect(world.pending(id).count == (isMeant ? 1 : 0))
    #expect(await world.ask("POST", "/push/single/cid_by_tag", body).body == answer.body)

    let message = #"{"request_id":"request-0002","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message).json["data"]?["taskid"]?.string
    let task = try #require(stored)
    let list = #"{"audience":{"cid_by_tag":[\#(choice)]},"taskid":"\#(task)"}"#
    let sent = await world.ask("POST", "/push/list/cid_by_tag", list)
    #expect(sent.json["data"]?[task] == expected, "\(sent.message)")
    #expect(world.pending(id).count == (isMeant ? 2 : 0))
  }

  @Test(arguments: [true, false])
  func `What was done tells how a repeated request is answered`(isMeant: Bool) async throws {
    let (world, id) = try await Self.world()
    let choice = #"{"cid":"\#(id.text)","tag":["\#(isMeant ? "a" : "c")"]}"#
    let body =
      #"{"request_id":"request-0001","audience":{"cid_by_tag":[\#(choice)]},"push_message":{"transmission":"hi"}}"#
    let first = await world.ask("POST", "/push/single/cid_by_tag", body)
    let status = first.json["data"]?.object?.members.first?.value[id.text]?.string
    #expect(status == (isMeant ? "successed_offline" : "successed_ignore"), "\(first.message)")
    let (method, tag) = isMeant ? ("DELETE", "a") : ("PUT", "c")
    let cids = #"{"cid":["\#(id.text)"]}"#
    #expect(await world.ask(method, "/user/custom_tag/batch/\(tag)", cids).code == 0)
    #expect(await world.ask("POST", "/push/single/cid_by_tag", body).body == first.body)
    #expect(world.pending(id).count == (isMeant ? 1 : 0))
  }

  @Test(arguments: [true, false])
  func `A repeated revoke does what the first one did, whatever the tags are now`(isMeant: Bool) async throws
  {
    let (world, id) = try await Self.world()
    let message = #"{"request_id":"request-0001","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message).json["data"]?["taskid"]?.string
    let task = try #require(stored)
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
    #expect(await world.ask("POST", "/push/list/cid", list).code == 0)
    let choice = #"{"cid":"\#(id.text)","tag":["\#(isMeant ? "a" : "c")"]}"#
    let body =
      #"{"request_id":"request-0002","audience":{"cid_by_tag":[\#(choice)]},"push_message":{"revoke":{"old_task_id":"\#(task)"}}}"#
    let first = await world.ask("POST", "/push/single/cid_by_tag", body)
    let status = first.json["data"]?.object?.members.first?.value[id.text]?.string
    #expect(status == (isMeant ? "successed_offline" : "successed_ignore"), "\(first.message)")
    #expect(world.pending(id).count == (isMeant ? 0 : 1))
    let (method, tag) = isMeant ? ("DELETE", "a") : ("PUT", "c")
    let cids = #"{"cid":["\#(id.text)"]}"#
    #expect(await world.ask(method, "/user/custom_tag/batch/\(tag)", cids).code == 0)
    #expect(await world.ask("POST", "/push/single/cid_by_tag", body).body == first.body)
    #expect(world.pending(id).count == (isMeant ? 0 : 1))
  }

  @Test(arguments: ["or", "and", "not"])
  func `Pushes and counts have the same limit of tags`(type: String) async throws {
    let (world, _) = try await Self.world()
    for count in [100, 101] {
      let values = (1...count).map { "\"t\($0)\"" }.joined(separator: ",")
      let tag = #"{"tag":[{"key":"custom_tag","values":[\#(values)],"opt_type":"\#(type)"}]}"#
      let counted = await world.ask("POST", "/user/count", tag)
      let push =
        #"{"request_id":"request-0001","audience":\#(tag),"push_message":{"transmission":"hi"}}"#
      let pushed = await world.ask("POST", "/push/tag", push)
      if count == 100 {
        #expect(counted.json["data"]?["user_count"]?.int64 == (type == "not" ? 1 : 0))
        #expect(pushed.message.hasPrefix(type == "not" ? "success" : "target user is invalid"))
      } else {
        #expect(counted.message.hasPrefix("tag[0].values size over limit"))
        #expect(pushed.message.hasPrefix("audience.tag[0].values size over limit"))
      }
    }
  }

  @Test func `CIDs that nobody has are left out beside those that are not meant`() async throws {
    let (world, id) = try await Self.world()
    let message = #"{"request_id":"request-0002","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message).json["data"]?["taskid"]?.string
    let task = try #require(stored)
    let choices = #"{"cid":"\#(id.text)","tag":["c"]},{"cid":"nobody","tag":["a"]}"#
    let list = #"{"audience":{"cid_by_tag":[\#(choices)]},"taskid":"\#(task)"}"#
    let sent = await world.ask("POST", "/push/list/cid_by_tag", list)
    #expect(sent.json["data"]?[task] == .object(JSONObject([id.text: "successed_ignore"])), "\(sent.message)")
    let nobody = list.replacing(#"{"cid":"\#(id.text)","tag":["c"]},"#, with: "")
    #expect(await world.ask("POST", "/push/list/cid_by_tag", nobody).code == 20001)
  }

  @Test(arguments: [
    (#"[]"#, "audience.cid_by_tag can not be empty"),
    (#"[7]"#, "audience.cid_by_tag[0] type error"),
    (#"[{"cid":"x"}]"#, "audience.cid_by_tag[0].tag can not be empty"),
    (#"[{"cid":"x","tag":["a"],"op_type":3}]"#, "audience.cid_by_tag[0].op_type is invalid"),
    (#"[{"cid":"x","tag":["a"]}]"#, "target user is invalid"),
    (#"[{"cid":"x","tag":["a"]},{"cid":"y","tag":["a"]}]"#, "audience.cid_by_tag size over limit"),
  ])
  func `Choices that are none are refused`(choices: String, expected: String) async throws {
    let world = try await GetuiWorld()
    let body =
      #"{"request_id":"request-0001","audience":{"cid_by_tag":\#(choices)},"push_message":{"transmission":"hi"}}"#
    let answer = await world.ask("POST", "/push/single/cid_by_tag", body)
    #expect(answer.code == 20001 && answer.message.hasPrefix(expected), "\(answer.message)")
  }

  @Test(arguments: [
    (#"[{"key":"custom_tag","values":["a"]}]"#, 1), (#"[{"key":"custom_tag","values":["c"]}]"#, 0),
    (#"[{"key":"custom_tag","values":["a"],"opt_type":"not"}]"#, 2),
    (#"[{"key":"phone_type","values":["ios"]}]"#, 1),
    (#"[{"key":"phone_type","values":["android","ios"]}]"#, 2),
    (#"[{"key":"phone_type","values":["ios"],"opt_type":"not"}]"#, 2),
    (#"[{"key":"custom_tag","values":["a"]},{"key":"phone_type","values":["ios"]}]"#, 0),
  ])
  func `Devices are counted by the conditions of a push`(conditions: String, count: Int64) async throws {
    let (world, _) = try await Self.world()
    let phones = [try await world.register(platform: .ios), try await world.register(platform: .hmos)]
    for (method, path) in [("POST", "/user/count"), ("POST", "/user/count/"), ("GET", "/user/count")] {
      let answer = await world.ask(method, path, #"{"tag":\#(conditions)}"#)
      #expect(answer.json["data"] == ["user_count": .number(JSONNumber(count))], "\(answer.message)")
    }
    let body =
      #"{"request_id":"request-0001","audience":{"tag":\#(conditions)},"push_message":{"transmission":"hi"}}"#
    let answer = await world.ask("POST", "/push/tag", body)
    #expect(answer.code == (count == 0 ? 20001 : 0), "\(answer.message)")
    if count == 1, conditions.contains("ios") { #expect(world.pending(phones[0]).count == 1) }
  }

  @Test func `Conditions that nobody can know are refused`() async throws {
    let world = try await GetuiWorld()
    for (condition, expected) in [
      (#"{"key":"region","values":["11000000"]}"#, "permission required by tag[0].key"),
      (
        #"{"key":"phone_type","values":["miniProgram"]}"#,
        "tag[0].values is invalid: it must hold android, ios and harmony only, not 'miniProgram'"
      ),
      (#"{"key":"phone_type","values":["ios"],"opt_type":"x"}"#, "tag[0].opt_type is invalid"),
    ] {
      let answer = await world.ask("POST", "/user/count", #"{"tag":[\#(condition)]}"#)
      #expect(answer.code == 20001 && answer.message.hasPrefix(expected))
    }
  }

  @Test(arguments: [
    (#""active_days":3"#, [false, true]), (#""active_days":15"#, [true, true]),
    (#""activate_filter_day":5,"activate_filter_type":1"#, [false, true]),
    (#""activate_filter_day":5,"activate_filter_type":-1"#, [true, false]),
  ])
  func `Devices are left out by when they were last there`(settings: String, expected: [Bool]) async throws {
    let world = try await GetuiWorld()
    let early = try await world.register()
    world.clock.advance(seconds: 10 * 86_400)
    let late = try await world.register()
    let soon = world.clock.now().milliseconds + 60_000
    for (id, more) in [("request-0001", ""), ("request-0002", #","schedule_time":\#(soon)"#)] {
      let body =
        #"{"request_id":"\#(id)","settings":{\#(settings)\#(more)},"audience":"all","push_message":{"transmission":"hi"}}"#
      let answer = await world.ask("POST", "/push/all", body)
      #expect(answer.code == 0, "\(answer.message)")
    }
    #expect([early, late].map { world.pending($0).count == 1 } == expected)
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect([early, late].map { world.pending($0).count == 2 } == expected)
  }

  @Test func `Devices that show no notifications are left out`() async throws {
    let world = try await GetuiWorld()
    let (router, app) = (world.router, world.app)
    let (on, off) = (try await world.register(), try await world.register())
    func send(_ id: Int) async -> HTTPResponse {
      await world.ask(
        "POST", "/push/all",
        #"{"request_id":"request-000\#(id)","settings":{"filter_notify_off":true},"audience":"all","#
          + #""push_message":{"transmission":"hi"}}"#)
    }
    let refused = await send(1)
    #expect(refused.code == 20001 && refused.message.hasPrefix("settings.filter_notify_off needs the fact"))
    _ = await awaitCallback {
      router.apps.setFacts(DeviceFactSet(.notificationPermission), of: app, noting: .test, done: $0)
    }
    let number = try #require(app.directory.find(off))
    _ = await awaitCallback {
      router.facts.set([.notificationPermission: "off"], of: number, in: app, reply: $0)
    }
    #expect(await send(2).code == 0)
    #expect([on, off].map { world.pending($0).count } == [1, 0])
  }
}
