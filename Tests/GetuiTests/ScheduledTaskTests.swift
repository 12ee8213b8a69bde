import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Pushes for later: made once at their time, shown, deleted and stopped.
@Suite(.timeLimit(.minutes(1))) struct ScheduledTaskTests {
  private static func body(
    _ world: GetuiWorld, in seconds: Int64, _ id: String = "request-0001", audience: String = #""all""#,
    more: String = ""
  ) -> String {
    let moment = world.clock.now().milliseconds + seconds * 1000
    return
      #"{"request_id":"\#(id)","group_name":"sale","settings":{"schedule_time":\#(moment)\#(more)},"audience":\#(audience),"push_message":{"transmission":"hi"}}"#
  }

  /// Schedules a push to everybody.
  private static func schedule(_ world: GetuiWorld, in seconds: Int64) async throws -> String {
    let answer = await world.ask("POST", "/push/all", body(world, in: seconds))
    return try #require(answer.json["data"]?["taskid"]?.string, "\(answer.message)")
  }

  private static func state(_ task: String, _ world: GetuiWorld) async -> JSONValue? {
    await world.ask("GET", "/task/schedule/\(task)").json["data"]?[task]
  }

  @Test func `A push for later is made once and told under its task`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let body = Self.body(world, in: 300)
    let first = await world.ask("POST", "/push/all", body)
    let task = try #require(first.json["data"]?["taskid"]?.string, "\(first.message)")
    #expect(GetuiTaskID(task)?.kind == .app)
    let (created, due) = (world.clock.now().milliseconds, world.clock.now().milliseconds + 300_000)
    var expected = JSONObject([
      "create_time": .string(String(created)), "push_time": .string(String(due)),
      "send_result": "do_not_send",
    ])
    expected.set("transmission_content", "hi")
    #expect(await Self.state(task, world) == .object(expected))
    await world.tick()
    #expect(world.pending(id).isEmpty)
    world.clock.advance(seconds: 300)
    // A repeated request gets its task also when the time has come.
    #expect(await world.ask("POST", "/push/all", body).body == first.body)
    await world.tick()
    await world.tick()
    #expect(world.pending(id).count == 1)
    // Receipts name the task too, not the push.
    let (push, app) = (try #require(world.pending(id).first), world.app.id)
    let name = try await world.store.change { transaction throws(StorageError) in
      try transaction.getui.name(ofTaskWith: push, app: app)
    }
    #expect(name?.text == task && name?.id != push)
    let done = await Self.state(task, world)
    #expect(done?["send_result"] == "send_success" && done?["status"] == "success")
    #expect(await world.ask("DELETE", "/task/schedule/\(task)").code == 22001)
    let token = await world.token()
    let report = await world.call("GET", "/report/push/task/\(task)", token: token, by: try world.restarted())
    #expect(report.json["data"]?[task]?["total"]?["msg_num"]?.int64 == 1)
    let group = await world.ask("GET", "/report/push/task_group/sale").json["data"]?["sale"]
    #expect(group?["total"]?["msg_num"]?.int64 == 1)
    #expect(await world.ask("DELETE", "/task/\(task)").code == 0)
    #expect(world.pending(id).isEmpty)
  }

  @Test func `A push that was made is told also when its schedule is gone`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let task = try await Self.schedule(world, in: 300)
    world.clock.advance(seconds: 300)
    await world.tick()
    #expect(world.pending(id).count == 1)
    let (app, number) = (world.app.id, try #require(GetuiTaskID(task)?.id))
    try await world.store.change { transaction throws(StorageError) in
      let uuid = try transaction.getui.timedTask(number, app: app)?.schedule?.uuid ?? ""
      _ = try transaction.schedules.delete(app: app, uuid: uuid)
    }
    #expect(await Self.state(task, world)?["send_result"] == "send_success")
    #expect(await world.ask("DELETE", "/task/schedule/\(task)").code == 22001)
  }

  @Test func `What JPush's API shows of a task it takes back as a change`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    // JPush's rules have no such tag.
    #expect(await world.ask("PUT", "/user/custom_tag/batch/a-b", #"{"cid":["\#(id.text)"]}"#).code == 0)
    let audience = #"{"fast_custom_tag":"a-b"}"#
    let answer = await world.ask(
      "POST", "/push/fast_custom_tag", Self.body(world, in: 300, audience: audience, more: #","speed":5"#))
    #expect(answer.code == 0, "\(answer.message)")
    let list = await Self.callJPush(world, "GET", "/v3/schedules").json["schedules"]
    let schedule = try #require(list?.array?.first?.object)
    let (uuid, push) = (schedule["schedule_id"]?.string ?? "", try #require(schedule["push"]))
    let change = JSONValue.object(JSONObject(["push": push]))
    let changed = await Self.callJPush(
      world, "PUT", "/v3/schedules/\(uuid)", String(decoding: JSONWriter.serialize(change), as: UTF8.self))
    #expect(changed.status == 200 && changed.json["push"] == push)
    world.clock.advance(seconds: 300)
    await world.tick()
    #expect(world.pending(id).count == 1)
  }

  /// Makes a request of JPush's API.
  private static func callJPush(
    _ world: GetuiWorld, _ method: String, _ target: String, _ body: String = ""
  ) async -> HTTPResponse {
    let name = "\(world.app.key.text):0123456789abcdef01234567"
    let headers: HTTPHeaders = ["authorization": "Basic " + Base64.encode(Array(name.utf8))]
    let request = HTTPRequest(method: method, target: target, headers: headers, body: Array(body.utf8))
    return await awaitCallback { done in
      world.api.gateway.handle(
        request, GatewayReply(requestID: "request-8", peer: nil) { done($0) })
    }
  }

  @Test(arguments: [300, 61, 60, 1] as [Int64])
  func `Until a minute before it is deleted, and stopped at any time`(seconds: Int64) async throws {
    for isStop in [false, true] {
      let world = try await GetuiWorld()
      let id = try await world.register()
      let task = try await Self.schedule(world, in: seconds)
      let path = isStop ? "/task/\(task)" : "/task/schedule/\(task)"
      let answer = await world.ask("DELETE", path)
      let isDeleted = isStop || seconds > 60
      #expect(answer.code == (isDeleted ? 0 : 22002), "\(path), \(seconds) s before")
      #expect(await Self.state(task, world)?["send_result"] == (isDeleted ? "has_delete" : "do_not_send"))
      if isDeleted { #expect(await world.ask("DELETE", "/task/schedule/\(task)").code == 22002) }
      world.clock.advance(seconds: seconds)
      await world.tick()
      #expect(world.pending(id).count == (isDeleted ? 0 : 1))
    }
  }

  @Test func `What cannot be made is told`() async throws {
    let world = try await GetuiWorld()
    let task = try await Self.schedule(world, in: 60)
    world.clock.advance(seconds: 60)
    await world.tick()
    let failed = await Self.state(task, world)
    #expect(failed?["send_result"] == "send_failed" && failed?["status"] == "failed")
  }

  @Test(
    arguments: [
      (0, "within the next 7 days"), (-60, "within the next 7 days"),
      (7 * 86_400 + 1, "within the next 7 days"),
    ] as [(Int64, String)])
  func `Times that are over or far away are refused`(seconds: Int64, expected: String) async throws {
    let world = try await GetuiWorld()
    let answer = await world.ask("POST", "/push/all", Self.body(world, in: seconds))
    #expect(answer.code == 20001 && answer.message.contains(expected))
    #expect(await world.ask("POST", "/push/all", Self.body(world, in: 7 * 86_400)).code == 0)
  }

  @Test func `A tag by Getui's rules and a speed hold when the time has come`() async throws {
    let world = try await GetuiWorld()
    let ids = [try await world.register(), try await world.register(), try await world.register()]
    let cids = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
    #expect(await world.ask("PUT", "/user/custom_tag/batch/a-b", #"{"cid":[\#(cids)]}"#).code == 0)
    let audience = #"{"tag":[{"key":"custom_tag","values":["a-b"]}]}"#
    let body = Self.body(world, in: 60, audience: audience, more: #","speed":1"#)
    let task = try #require(await world.ask("POST", "/push/tag", body).json["data"]?["taskid"]?.string)
    world.clock.advance(seconds: 60)
    await world.tick()
    let number = try #require(GetuiTaskID(task)?.id)
    let app = world.app.id
    let pushes = try await world.store.change { transaction throws(StorageError) in
      try transaction.getui.pushes(ofTask: number, app: app, limit: 10)
    }
    let push = try #require(pushes.first)
    let minutes = try await world.store.change { transaction throws(StorageError) in
      try transaction.pacedPushes.minutes(of: push)
    }
    #expect(minutes == 1)
    #expect(try await world.stored(push)?.targetCount == 3)
  }

  @Test func `Other tasks are none for later`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    for task in ["RASA_1", "RASL_1", "RASS_1", "x"] {
      for method in ["GET", "DELETE"] {
        #expect(await world.ask(method, "/task/schedule/\(task)").code == 20001, "\(method) \(task)")
      }
    }
    let task = try await Self.schedule(world, in: 300)
    let list = task.replacing("RASA", with: "RASL")
    let send = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(list)"}"#
    let unknown = "taskid is invalid: the app has no such task"
    #expect(await world.ask("POST", "/push/list/cid", send).message == unknown)
    #expect(await world.ask("DELETE", "/task/\(list)").message == unknown)
    #expect(await Self.state(task, world)?["send_result"] == "do_not_send")
  }

  /// Its time is a moment, whatever the server's clocks show.
  @Test func `Another zone does not move a push for later`() async throws {
    let world = try await GetuiWorld()
    _ = try await world.register()
    let task = try await Self.schedule(world, in: 300)
    let due = world.clock.now().adding(seconds: 300)
    let token = await world.token()
    let api = try world.restarted(zone: FixedZone(secondsEast: 3600))
    func state() async -> JSONValue? {
      await world.call("GET", "/task/schedule/\(task)", token: token, by: api).json["data"]?[task]
    }
    #expect(await state()?["push_time"]?.string == String(due.milliseconds))
    let list = await Self.callJPush(world, "GET", "/v3/schedules").json["schedules"]?.array
    let local = FixedZone(secondsEast: 3600).local(due).text
    #expect(list?.first?["trigger"]?["single"]?["time"]?.string == local)
    world.clock.advance(seconds: 299)
    for expected in ["do_not_send", "send_success"] {
      api.gateway.tick()
      while api.gateway.schedules.isBusy {
        await awaitCallback { done in api.router.registrations.afterChanges { done(()) } }
      }
      #expect(await state()?["send_result"]?.string == expected)
      world.clock.advance(seconds: 1)
    }
  }

  @Test func `A push for later comes at its moment when clocks show its time twice`() async throws {
    var routing = RouterOptions()
    routing.zone = AutumnZone()
    let world = try await GetuiWorld(routing: routing)
    let id = try await world.register()
    world.clock.advance(seconds: AutumnZone.change - 3600 - world.clock.now().seconds)
    // 02:30 for the second time.
    let task = try await Self.schedule(world, in: 5400)
    for (seconds, count) in [(1800, 0), (3599, 0), (1, 1)] as [(Int64, Int)] {
      world.clock.advance(seconds: seconds)
      await world.tick()
      #expect(world.pending(id).count == count)
    }
    #expect(await Self.state(task, world)?["send_result"] == "send_success")
  }

  /// It lives as long as its schedule, and a time that it was moved from is no outcome.
  @Test func `A push for later that JPush's API moves stays a task`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let task = try await Self.schedule(world, in: 300)
    let list = await Self.callJPush(world, "GET", "/v3/schedules").json["schedules"]
    let uuid = list?.array?.first?["schedule_id"]
    world.clock.advance(seconds: 300)
    let due = world.clock.now().adding(seconds: 60 * 86_400)
    let time = world.router.zone.local(due).text
    let answer = await Self.callJPush(
      world, "PUT", "/v3/schedules/\(uuid?.string ?? "")", #"{"trigger":{"single":{"time":"\#(time)"}}}"#)
    #expect(answer.status == 200, "\(answer.json)")
    let (app, number) = (world.app.id, try #require(GetuiTaskID(task)?.id))
    let row = try await world.store.change { transaction throws(StorageError) in
      try transaction.getui.task(number, app: app)
    }
    #expect(row?.expiresAt.seconds == due.seconds)
    let state = await Self.state(task, world)
    #expect(state?["send_result"] == "do_not_send" && state?["status"] == nil)
    world.clock.advance(seconds: 60 * 86_400)
    await world.tick()
    #expect(await Self.state(task, world)?["send_result"] == "send_success")
    #expect(world.pending(id).count == 1)
  }
}
