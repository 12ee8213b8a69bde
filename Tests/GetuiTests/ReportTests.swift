import BorealisBase
import Core
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Reports in Getui's shapes, from what became of pushes.
@Suite(.timeLimit(.minutes(1))) struct GetuiReportTests {
  private func push(to ids: [RegistrationID], _ world: GetuiWorld) async throws -> MessageID {
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    let request = AcceptRequest(
      PushRequest(
        platforms: .all, audience: .filter(AudienceFilter(registrationIDs: ids.map(\.text))),
        content: content, options: PushOptions()))
    return try await awaitCallback { done in
      world.router.acceptance.accept(request, for: world.app) { done($0) }
    }.get().id
  }

  private func note(_ pushes: [MessageID], task: MessageID?, group: String, _ world: GetuiWorld) async throws
  {
    let app = world.app.id
    try await world.store.change { transaction throws(StorageError) in
      for push in pushes {
        try transaction.database.run(
          "INSERT INTO getui_push (push_id, app_id, task_id, group_name) VALUES (?, ?, ?, ?)", .message(push),
          .app(app), task.map { .message($0) } ?? .null, .text(group))
      }
    }
  }

  private func acknowledge(_ push: MessageID, _ id: RegistrationID, _ world: GetuiWorld) async throws {
    let number = try #require(world.app.directory.find(id))
    world.router.deliveries.acknowledge([push], by: number, in: world.app)
    world.router.deliveries.note([(id: push, isTap: true)], by: number, in: world.app)
    world.router.tick()
    for _ in 0..<5 { try await world.store.change(lowPriority: true) { _ throws(StorageError) in } }
  }

  @Test func `A task of several pushes is told as one, and losses by stage`() async throws {
    let world = try await GetuiWorld()
    let (one, two) = (try await world.register(), try await world.register())
    let (first, second) = (try await push(to: [one], world), try await push(to: [two], world))
    let task = MessageID(first.rawValue - 1)
    try await note([first, second], task: task, group: "sale", world)
    try await acknowledge(first, one, world)
    let name = GetuiTaskID(.list, task).text
    let report = await world.ask("GET", "/report/push/task/\(name),RASS_1,nonsense").json["data"]
    let steps: JSONValue = ["target_num": 1, "receive_num": 1, "display_num": 1, "click_num": 1]
    #expect(report?[name]?["gt"] == steps)
    #expect(report?[name]?["total"]?["msg_num"]?.int64 == 2)
    #expect(report?["RASS_1"] == nil && report?["nonsense"] == nil)
    let group = await world.ask("GET", "/report/push/task_group/sale").json["data"]
    #expect(group?["sale"] == report?[name])
    let single = GetuiTaskID(.single, second).text
    let detail = await world.ask("GET", "/report/push/task/\(single)/detail").json["data"]?[single]
    #expect(detail?["total"]?["receive_num"]?.int64 == 0 && detail?["failed_detail"]?["sf"] == [:])
    world.clock.advance(seconds: 86_401)
    let late = await world.ask("GET", "/report/push/task/\(single)/detail").json["data"]?[single]
    #expect(late?["failed_detail"]?["sf"] == ["gt": ["12": ["12999": 1, "total": 1]]])
    world.clock.advance(seconds: 90 * 86_400)
    #expect(await world.ask("GET", "/report/push/task/\(single)").json["data"] == [:])
    #expect(await world.ask("GET", "/report/push/task_group/sale").json["data"] == [:])
  }

  @Test func `Another app's tasks and groups are not told`() async throws {
    let world = try await GetuiWorld()
    let id = try await push(to: [try await world.register()], world)
    try await note([id], task: nil, group: "sale", world)
    let other = try await world.router.makeApp(in: world.store)
    try await world.setSecret(GetuiWorld.secret, of: other)
    let auth = await world.call("POST", "/auth", world.authBody(key: other.key.text), of: other)
    let token = try #require(auth.json["data"]?["token"]?.string)
    for path in ["/report/push/task/\(GetuiTaskID(.single, id).text)", "/report/push/task_group/sale"] {
      #expect(await world.call("GET", path, token: token, of: other).json["data"] == [:])
      #expect(await world.ask("GET", path).json["data"] != [:])
    }
  }

  @Test func `Another app's tasks are not shown, stopped, sent or recalled`() async throws {
    let world = try await GetuiWorld()
    let cid = try await world.register().text
    let other = try await world.router.makeApp(in: world.store)
    try await world.setSecret(GetuiWorld.secret, of: other)
    let theirs = try await world.router.newDevice(in: other, platform: .android).id.text
    let auth = await world.call("POST", "/auth", world.authBody(key: other.key.text), of: other)
    let token = try #require(auth.json["data"]?["token"]?.string)
    func body(_ id: String, _ audience: String, _ message: String, _ settings: String = "{}") -> String {
      #"{"request_id":"\#(id)","audience":\#(audience),"settings":\#(settings),"push_message":\#(message)}"#
    }
    let hi = #"{"transmission":"hi"}"#
    let soon = #"{"schedule_time":\#(world.clock.now().milliseconds + 600_000)}"#
    func task(_ path: String, _ body: String) async throws -> String {
      try #require(await world.ask("POST", path, body).json["data"]?["taskid"]?.string)
    }
    let all = try await task("/push/all", body("request-0001", #""all""#, hi))
    let timed = try await task("/push/all", body("request-0002", #""all""#, hi, soon))
    let stored = try await task("/push/list/message", body("request-0003", "null", hi))
    #expect(
      await world.call("PUT", "/user/custom_tag/batch/a", #"{"cid":["\#(theirs)"]}"#, token: token, of: other)
        .code == 0)
    let bind = #"{"data_list":[{"cid":"\#(theirs)","alias":"anna"}]}"#
    #expect(await world.call("POST", "/user/alias", bind, token: token, of: other).code == 0)
    func list(_ audience: String) -> String { #"{"audience":\#(audience),"taskid":"\#(stored)"}"# }
    var calls = [
      ("GET", "/task/schedule/\(timed)", ""), ("DELETE", "/task/schedule/\(timed)", ""),
      ("DELETE", "/task/\(stored)", ""), ("DELETE", "/task/\(timed)", ""), ("DELETE", "/task/\(all)", ""),
      ("GET", "/task/detail/\(cid)/\(all)", ""), ("GET", "/task/detail/\(theirs)/\(all)", ""),
      ("POST", "/push/list/cid", list(#"{"cid":["\#(theirs)"]}"#)),
      ("POST", "/push/list/alias", list(#"{"alias":["anna"]}"#)),
      ("POST", "/push/list/cid_by_tag", list(#"{"cid_by_tag":[{"cid":"\#(theirs)","tag":["a"]}]}"#)),
    ]
    for (index, name) in [all, timed, stored].enumerated() {
      let revoke = #"{"revoke":{"old_task_id":"\#(name)"}}"#
      calls.append(("POST", "/push/all", body("request-100\(index)", #""all""#, revoke)))
    }
    for (method, path, body) in calls {
      let answer = await world.call(method, path, body, token: token, of: other)
      #expect(answer.code == 20001, "\(method) \(path): \(answer.message)")
    }
    let state = await world.ask("GET", "/task/schedule/\(timed)").json["data"]?[timed]
    #expect(state?["send_result"] == "do_not_send")
    #expect(await world.ask("GET", "/task/detail/\(cid)/\(all)").code == 0)
    #expect(await world.ask("POST", "/push/list/cid", list(#"{"cid":["\#(cid)"]}"#)).code == 0)
  }

  @Test func `Days and hours are told of what was counted`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    try await acknowledge(try await push(to: [id], world), id, world)
    let date = world.router.zone.local(world.clock.now()).date
    for path in ["/report/push/date/", "/report/user/date/"] {
      for bad in [date.text, "2026-13-01", "x"] {
        #expect(await world.ask("GET", path + bad).code == 20001, "\(path)\(bad)")
      }
    }
    let (app, hour) = (world.app.id, date.dayNumber * 24 + 5)
    try await world.store.change { transaction throws(StorageError) in
      var row = StatisticsRow()
      (row.accepted[.apns], row.arrived[.apns]) = (3, 2)
      try transaction.statistics.add(app: app, hour: hour, row)
    }
    world.clock.advance(seconds: 86_400)
    world.router.finish()
    let day = await world.ask("GET", "/report/push/date/\(date.text)").json["data"]?[date.text]
    #expect(day?["gt"] == ["target_num": 1, "receive_num": 1])
    #expect(day?["ios"] == ["target_num": 3, "receive_num": 2])
    #expect(
      day?["total"] == ["target_num": 4, "receive_num": 3, "display_num": 1, "click_num": 1])
    let users = await world.ask("GET", "/report/user/date/\(date.text)").json["data"]?[date.text]
    #expect(users?["register_num"]?.int64 == 1 && users?["accumulative_num"] == nil)
    let quota = await world.ask("GET", "/report/push/count").json["data"]?["gt"]
    for kind in ["app", "app_with_tag", "list"] {
      #expect(quota?[kind] == ["total_num": -1, "remain_num": -1, "limit": false])
    }
    #expect(await world.ask("GET", "/report/online_user").json["data"]?["online_statics"]?.object != nil)
  }

  @Test func `The quota says when it is used up`() async throws {
    let world = try await GetuiWorld()
    _ = try await world.register()
    try await world.setPlan(PlanRow(name: "small", broadcasts: 1))
    let push = #"{"request_id":"request-0001","audience":"all","push_message":{"transmission":"hi"}}"#
    for used in [0, 1] {
      let quota = await world.ask("GET", "/report/push/count").json["data"]?["gt"]
      let left: JSONValue = [
        "total_num": 1, "remain_num": .number(JSONNumber(1 - used)), "push_num": .number(JSONNumber(used)),
        "limit": .bool(used == 1),
      ]
      #expect(quota?["app"] == left)
      #expect(quota?["app_with_tag"] == ["total_num": -1, "remain_num": -1, "limit": false])
      #expect(await world.ask("POST", "/push/all", push).code == 0)
    }
  }

  /// However many they are, and in whatever order tasks are named.
  @Test func `All pushes of a task are told`() async throws {
    let world = try await GetuiWorld()
    let (one, two) = (try await world.register(), try await world.register())
    var pushes: [MessageID] = []
    for index in 0..<2100 { pushes.append(try await push(to: [index == 50 ? two : one], world)) }
    let task = MessageID(pushes[0].rawValue - 1)
    try await note(pushes, task: task, group: "sale", world)
    let name = GetuiTaskID(.list, task).text
    let single = GetuiTaskID(.single, try await push(to: [two], world)).text
    for names in ["\(name),\(single)", "\(single),\(name)"] {
      let report = await world.ask("GET", "/report/push/task/\(names)").json["data"]
      #expect(report?[name]?["total"]?["msg_num"]?.int64 == 2100)
      #expect(report?[single]?["total"]?["msg_num"]?.int64 == 1)
    }
    let group = await world.ask("GET", "/report/push/task_group/sale").json["data"]?["sale"]
    #expect(group?["total"]?["msg_num"]?.int64 == 2100)
    let detail = await world.ask("GET", "/task/detail/\(two.text)/\(name)")
    #expect(detail.json["data"]?["detail"]?.array?.isEmpty == false, "\(detail.message)")
    let other = try await world.register()
    #expect(await world.ask("GET", "/task/detail/\(other.text)/\(name)").message.contains("audience"))
  }

  /// What is swept cannot be counted: nobody is told a part as if it was all.
  @Test func `Reports go back as far as pushes are kept`() async throws {
    var routing = RouterOptions()
    routing.retention = 3 * 86_400
    let world = try await GetuiWorld(routing: routing)
    let device = try await world.register()
    let first = try await push(to: [device], world)
    world.clock.advance(seconds: 2 * 86_400)
    let second = try await push(to: [device], world)
    try await note([first, second], task: MessageID(first.rawValue - 1), group: "sale", world)
    let name = GetuiTaskID(.list, MessageID(first.rawValue - 1)).text
    func report(_ path: String) async -> JSONValue? {
      await world.ask("GET", "/report/push/\(path)").json["data"]
    }
    #expect(await report("task/\(name)")?[name]?["total"]?["msg_num"]?.int64 == 2)
    #expect(await report("task_group/sale")?["sale"]?["total"]?["msg_num"]?.int64 == 2)
    world.clock.advance(seconds: 86_401)
    #expect(await report("task/\(name)") == [:])
    #expect(await report("task_group/sale")?["sale"]?["total"]?["msg_num"]?.int64 == 1)
    let date = world.router.zone.local(world.clock.now().adding(seconds: -3 * 86_400)).date
    let early = await world.ask("GET", "/report/push/task_group/sale?startDate=\(date.text)")
    let next = date.adding(days: 1).text
    #expect(early.code == 20001 && early.message.hasSuffix("since \(next)"), "\(early.message)")
    #expect(await report("task_group/sale?startDate=\(next)")?["sale"] != nil)
  }

  @Test func `An hour is told by its moment when clocks are changed`() async throws {
    var routing = RouterOptions()
    routing.zone = AutumnZone()
    let world = try await GetuiWorld(routing: routing)
    // 03:30 on the day on which clocks were set back at 03:00.
    world.clock.advance(seconds: AutumnZone.change + 5400 - world.clock.now().seconds)
    let local = world.router.zone.local(world.clock.now())
    let (app, hour) = (world.app.id, local.date.dayNumber * 24 + Int64(local.hour))
    try await world.store.change { transaction throws(StorageError) in
      var row = StatisticsRow()
      row.online = 5
      try transaction.statistics.add(app: app, hour: hour, row)
    }
    let online = await world.ask("GET", "/report/online_user").json["data"]?["online_statics"]
    #expect(online?.object?.members.map(\.key) == ["\((AutumnZone.change + 3600) * 1000)"])
  }
}

/// Berlin in 2026: clocks are set back on 25 October at 01:00 UTC.
struct AutumnZone: Zone {
  static let change: Int64 = 1_792_890_000
  func offset(at second: Int64) -> Int64 { second < Self.change ? 7200 : 3600 }
}
