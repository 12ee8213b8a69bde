import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

/// A/B tests: `/v1/abtests`, and pushes and schedules that name one.
@Suite(.timeLimit(.minutes(2))) struct ABTestAPITests {
  let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private static let contents = #""contents":[{"title":"T","alert":"a"},{"alert":"b"}]"#

  private static func body(
    _ name: String = "n", share: Int = 50, after: Int = 60, to audience: String = #""all""#, more: String = ""
  ) -> String {
    #"{"name":"\#(name)",\#(contents),"share":\#(share),"after":\#(after),"audience":\#(audience)\#(more)}"#
  }

  private func add(_ body: String = Self.body(), as app: App? = nil) async throws -> String {
    let answer = await world.call("POST", "/v1/abtests", body, as: app)
    return try #require(answer.json?["id"]?.string, "\(answer.outcome) \(message(answer))")
  }

  private func message(_ response: HTTPResponse) -> String {
    response.json?["error"]?["message"]?.string ?? ""
  }

  private func push(_ test: String, _ members: String = #""notification":{"alert":"-"}"#) async
    -> HTTPResponse
  {
    await world.push(members, to: #"{"abtest":["\#(test)"]}"#)
  }

  /// The latest run of a test.
  private func run(_ test: String) async -> JSONValue? {
    await world.call("GET", "/v1/abtests/\(test)/runs").json?["runs"]?.array?.first
  }

  /// What waits for a device.
  private func said(_ id: RegistrationID) async throws -> [JSONValue] {
    let (router, pending) = (world.router, world.pending(id))
    let found = try await awaitCallback { router.deliveries.contents(of: pending, found: $0) }.get()
    return try found.map { try parseJSON($0.1.deviceJSON(.android, viaVendor: false)) }
  }

  @Test func `Tests are kept under names that are unique in the app`() async throws {
    let id = try await add(Self.body("first", more: #","confidence":99"#))
    let second = try await add(Self.body("a second", to: #"{"tag":["x"],"tag_not":["y"]}"#))
    let taken = await world.call("POST", "/v1/abtests", Self.body("first"))
    #expect(taken.outcome == "400 1003" && message(taken).contains("used by another A/B test"))
    let shown = await world.call("GET", "/v1/abtests/\(id)").json
    #expect(shown?["name"] == "first" && shown?["share"] == 50 && shown?["after"] == 60)
    #expect(shown?["confidence"] == 99 && shown?["audience"] == "all")
    #expect(shown?["contents"] == [["title": "T", "alert": "a"], ["alert": "b"]])
    let listed = await world.call("GET", "/v1/abtests").json?["abtests"]?.array
    #expect(listed?.map { $0["id"]?.string } == [second, id])
    #expect(listed?.first?["audience"] == ["tag": ["x"], "tag_not": ["y"]])
    let changed = await world.call("PUT", "/v1/abtests/\(id)", Self.body("new", share: 7))
    #expect(changed.json?["name"] == "new" && changed.json?["confidence"] == nil)
    #expect(await world.call("GET", "/v1/abtests/\(id)/runs").json == ["runs": []])

    let other = try await world.addApp()
    for (method, path, body) in [
      ("GET", "", ""), ("PUT", "", Self.body("x")), ("DELETE", "", ""), ("GET", "/runs", ""),
      ("POST", "/stop", ""),
    ] {
      let answer = await world.call(method, "/v1/abtests/\(id)\(path)", body, as: other)
      #expect(
        answer.outcome == "400 1003" && message(answer).contains("has no A/B test"), "\(method) \(path)")
    }
    #expect(await world.call("GET", "/v1/abtests", as: other).json?["abtests"]?.array?.isEmpty == true)
    let foreign = await world.call(
      "POST", "/v3/push", #"{"platform":"all","audience":{"abtest":["\#(id)"]}}"#, as: other)
    #expect(foreign.outcome == "400 1003" && message(foreign).contains("no such A/B test"))
    #expect(await world.call("DELETE", "/v1/abtests/\(id)").outcome == "200")
    #expect(await world.call("DELETE", "/v1/abtests/\(id)").outcome == "400 1003")
  }

  @Test func `An app has a hundred tests at most`() async throws {
    for number in 0..<ABTests.most { _ = try await add(Self.body("\(number)")) }
    #expect(await world.call("POST", "/v1/abtests", Self.body("more")).outcome == "400 1012")
  }

  @Test func `The winner's text goes to the rest`() async throws {
    let devices = try await world.registerMany(8)
    let test = try await add()
    let checked = await world.call(
      "POST", "/v3/push/validate", #"{"platform":"all","audience":{"abtest":["\#(test)"]}}"#)
    #expect(checked.outcome == "200" && Array(checked.json?.object?.members.map(\.key) ?? []).count == 2)
    let answer = await push(test)
    let id = try #require(answer.json?["msg_id"]?.string, "\(message(answer))")
    let running = try #require(await run(test))
    #expect(running["state"] == "running" && running["rest"] == 4 && running["next_look_at"] != nil)
    let parts = try #require(running["contents"]?.array)
    #expect(parts.count == 2 && parts[0]["msg_id"]?.string == id && parts[1]["target"] == 2)
    // Each is a push with a report of its own.
    for part in parts {
      let report = await world.call("GET", "/v1/pushes/\(part["msg_id"]?.string ?? "")").json
      #expect(report?["msg_id"] == part["msg_id"], "\(String(describing: report))")
    }
    let second = try #require(parts[1]["msg_id"]?.string.flatMap { MessageID(decimal: Array($0.utf8)) })
    for device in devices where world.pending(device) == [second] {
      let number = try #require(world.app.directory.find(device))
      world.router.deliveries.acknowledge([second], by: number, in: world.app)
      world.router.deliveries.note([(second, true)], by: number, in: world.app)
    }
    try await world.settle()
    world.clock.advance(seconds: 60)
    await world.tick()
    let ended = try #require(await run(test))
    #expect(ended["state"] == "sent" && ended["winner"] == 2 && ended["ended_at"] != nil)
    #expect(ended["contents"]?.array?[1]["rate"] == .number(JSONNumber(text: "1.0") ?? JSONNumber(0)))
    #expect(ended["contents"]?.array?[1]["decided_on"] == ["delivered": 2, "tapped": 2])
    let winner = try #require(ended["winner_msg_id"]?.string)
    var texts: [String: Int] = [:]
    for device in devices {
      let said = try await said(device)
      #expect(said.count <= 1)
      texts[said.first?["notification"]?["alert"]?.string ?? "", default: 0] += 1
    }
    #expect(texts == ["a": 2, "b": 4, "": 2])
    #expect(try await said(devices[0]).first?["notification"]?["title"] != "-")
    // Who has another content asks why.
    let out = try #require(devices.first { world.pending($0).first?.text != winner })
    let why = await world.call("GET", "/v1/pushes/\(winner)/why?registration_id=\(out.text)").json
    #expect(why?["steps"]?.array?.first { $0["step"] == "audience" }?["cause"] == "not_in_abtest")
    #expect(await world.call("POST", "/v1/abtests/\(test)/stop").outcome == "400 1003")
    #expect(await world.call("DELETE", "/v1/abtests/\(test)").outcome == "200")
  }

  @Test func `A test that runs can be stopped, and not be deleted or sent again`() async throws {
    let devices = try await world.registerMany(8)
    let test = try await add()
    let cid = try #require(
      await world.call("GET", "/v3/push/cid").json?["cidlist"]?.array?.first?.string)
    let first = await push(test, #""cid":"\#(cid)""#)
    // A repeated request gets the first one's answer.
    let again = await push(test, #""cid":"\#(cid)""#)
    #expect(first.outcome == "200" && again.json?["msg_id"] == first.json?["msg_id"])
    let other = await push(test)
    #expect(other.outcome == "400 1003" && message(other).contains("runs"))
    let validated = await world.call(
      "POST", "/v3/push/validate", #"{"platform":"all","audience":{"abtest":["\#(test)"]}}"#)
    #expect(validated.outcome == "400 1003")
    let refused = await world.call("DELETE", "/v1/abtests/\(test)")
    #expect(refused.outcome == "400 1003" && message(refused).contains("in use by its run"))
    #expect(await world.call("POST", "/v1/abtests/\(test)/stop").outcome == "200")
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(await run(test)?["state"] == "stopped")
    #expect(devices.filter { world.pending($0).isEmpty }.count == 4)
  }

  @Test func `Schedules push to a test, and keep it from being deleted`() async throws {
    let devices = try await world.registerMany(4)
    let test = try await add()
    func push(_ test: String) -> String {
      #"{"platform":"all","audience":{"abtest":["\#(test)"]},"notification":{"alert":"-"}}"#
    }
    let trigger = world.single(in: 60)
    #expect(await world.makeSchedule(trigger, push: push("77")) == "400 8100")
    let schedule = await world.makeSchedule(trigger, push: push(test))
    let refused = await world.call("DELETE", "/v1/abtests/\(test)")
    #expect(refused.outcome == "400 1003" && message(refused).contains("in use by the schedule 'n'"))
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await world.runs(of: schedule) == ["0"])
    #expect(await run(test)?["state"] == "running")
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await run(test)?["state"] == "sent")
    #expect(devices.allSatisfy { world.pending($0).count == 1 })
    #expect(await world.call("DELETE", "/v1/abtests/\(test)").outcome == "200")
    #expect(await world.call("GET", "/v3/schedules/\(schedule)").outcome == "200")
  }

  @Test func `A segment that a test is for is not deleted`() async throws {
    let ids = try await world.registerMany(3)
    for id in ids.prefix(2) {
      _ = await world.call("POST", "/v3/devices/\(id.text)", #"{"tags":{"add":["news"]}}"#)
    }
    let none = await world.call("POST", "/v1/abtests", Self.body(to: #"{"segment":["9"]}"#))
    #expect(none.outcome == "400 1003" && message(none).contains("no segment 9"))
    let answer = await world.call("POST", "/v1/segments", #"{"name":"s","condition":{"tag":"news"}}"#)
    let segment = try #require(answer.json?["id"]?.string)
    let other = try await world.addApp()
    let foreign = await world.call(
      "POST", "/v1/abtests", Self.body(to: #"{"segment":["\#(segment)"]}"#), as: other)
    #expect(foreign.outcome == "400 1003" && message(foreign).contains("no segment"))
    let test = try await add(Self.body(share: 100, to: #"{"segment":["\#(segment)"]}"#))
    let refused = await world.call("DELETE", "/v1/segments/\(segment)")
    #expect(refused.outcome == "400 1003" && message(refused).contains("the A/B test 'n'"))
    #expect(await push(test).outcome == "200")
    #expect(ids.map { world.pending($0).count } == [1, 1, 0])
    _ = await world.call("PUT", "/v1/abtests/\(test)", Self.body())
    #expect(await world.call("DELETE", "/v1/segments/\(segment)").outcome == "200")
  }

  @Test func `Approval and the limit of broadcasts count the whole audience once`() async throws {
    _ = try await world.registerMany(10)
    let test = try await add(Self.body(share: 20))
    try await world.setBrakes(BrakesRow(approvalAbove: 5, includesServers: true), of: world.app)
    // Two devices take part, and ten are meant.
    #expect(await push(test).outcome == "403 2005")
    let checked = await world.call(
      "POST", "/v3/push/validate", #"{"platform":"all","audience":{"abtest":["\#(test)"]}}"#)
    #expect(checked.outcome == "403 2005")
    try await world.setBrakes(BrakesRow(), of: world.app)
    try await world.setPlan(PlanRow(name: "few", broadcasts: 1))
    #expect(await push(test).outcome == "200")
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(await run(test)?["state"] == "sent")
    #expect(await push(test).json?["error"]?["code"] == 2008)
  }

  @Test func `Batches and groups have no A/B tests`() async throws {
    _ = try await world.registerMany(4)
    let test = try await add()
    let group = try await world.makeGroup([world.app])
    let answer = await world.call(
      group, "POST", "/v3/grouppush",
      #"{"platform":"all","audience":{"abtest":["\#(test)"]},"notification":{"alert":"x"}}"#)
    #expect(answer.outcome == "400 1003", "\(message(answer))")
    let file = await world.call(
      "POST", "/v3/push/file", #"{"platform":"all","audience":{"abtest":["\#(test)"]}}"#)
    #expect(file.outcome == "400 1002" || file.outcome == "400 1003")
  }
}
