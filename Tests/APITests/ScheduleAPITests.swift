import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import API

@Suite struct ScheduleAPITests {
  @Test func aScheduleIsMadeShownListedAndDeleted() async throws {
    let world = try await GatewayWorld()
    let trigger = world.single(in: 60)
    let made = await world.call("POST", "/v3/schedules/", GatewayWorld.schedule(trigger))
    #expect(made.status == 200)
    #expect(made.json?.object?.members.map(\.key) == ["schedule_id", "name"])
    let id = try #require(made.json?["schedule_id"]?.string)
    #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    let expected = #"""
      {"schedule_id":"\#(id)","name":"n","enabled":true,"trigger":\#(trigger),"push":\#(GatewayWorld.schedulePush)}
      """#
    for path in ["/v3/schedules/\(id)", "/v3/push/schedules/\(id)", "/v3/schedules/\(id.uppercased())"] {
      #expect(await world.call("GET", path).body == Array(expected.utf8))
    }
    let list = await world.call("GET", "/v3/schedules/?page=1")
    #expect(
      String(decoding: list.body, as: UTF8.self)
        == #"{"total_count":1,"total_pages":1,"page":1,"schedules":[\#(expected)]}"#)
    #expect(
      await world.call("GET", "/v3/schedules/\(id)/msg_ids").body == Array(#"{"count":0,"msgids":[]}"#.utf8))
    #expect(await world.call("DELETE", "/v3/schedules/\(id)").body == Array("{}".utf8))
    for (method, path) in [("GET", ""), ("DELETE", ""), ("GET", "/msg_ids")] {
      #expect(await world.call(method, "/v3/schedules/\(id)\(path)").outcome == "404 8104")
    }
    #expect(await world.call("GET", "/v3/schedules").json?["total_count"] == 0)
  }

  @Test(arguments: [
    "GET /x", "DELETE /x", "PUT /x", "GET /x/msg_ids", "GET /0eac1b80-c2ac-4b69-948b-c65b34b96512",
  ])
  func whatIsNotThereIs8104(call: String) async throws {
    let world = try await GatewayWorld()
    let parts = call.split(separator: " ")
    let answer = await world.call(String(parts[0]), "/v3/schedules\(parts[1])", #"{"name":"m"}"#)
    #expect(answer.outcome == "404 8104")
  }

  @Test func faultsHaveTheCodesOfThisAPI() async throws {
    let world = try await GatewayWorld()
    let id = await world.makeSchedule(world.single(in: 60))
    let past = GatewayWorld.schedule(world.single(in: -1))
    #expect(await world.call("POST", "/v3/schedules", past).outcome == "400 8100")
    #expect(await world.call("POST", "/v3/schedules", "{").outcome == "400 8100")
    #expect(await world.call("POST", "/v3/schedules").outcome == "400 8100")
    #expect(await world.call("GET", "/v3/schedules?page=0").outcome == "400 8100")
    #expect(await world.call("GET", "/v3/schedules?page=x").outcome == "400 8100")
    #expect(await world.call("GET", "/v3/schedules", authorization: nil).outcome == "401 8101")
    let wrong = GatewayWorld.basic(world.app.key.text, "wrong")
    #expect(await world.call("GET", "/v3/schedules", authorization: wrong).outcome == "401 8101")
    #expect(await world.call("PUT", "/v3/schedules/\(id)", "{}").outcome == "400 8100")
    #expect(await world.call("PUT", "/v3/schedules/\(id)", #"{"name":"a b"}"#).outcome == "400 8100")
    let other = #"{"trigger":\#(world.daily(in: 60))}"#
    #expect(await world.call("PUT", "/v3/schedules/\(id)", other).outcome == "400 8100", "the kind stays")
    try await world.pragma("query_only = ON")
    #expect(await world.call("DELETE", "/v3/schedules/\(id)").outcome == "500 8200")
    try await world.pragma("query_only = OFF")
    world.closeStore()
    #expect(await world.call("GET", "/v3/schedules/\(id)").outcome == "500 8200")
  }

  @Test func sectionsAreChangedOneByOne() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.single(in: 60))
    let path = "/v3/schedules/\(id)"
    let named = await world.call("PUT", path, #"{"name":"m"}"#)
    #expect(named.json?["name"] == "m" && named.json?["enabled"] == true)
    let push = #"{"platform":"all","audience":{"alias":["anna"]},"message":{"msg_content":"y"}}"#
    #expect(
      await world.call("PUT", path, #"{"push":\#(push)}"#).json?["push"]?["audience"] == ["alias": ["anna"]])
    let later = await world.call("PUT", path, #"{"trigger":\#(world.single(in: 120))}"#)
    #expect(later.json?["trigger"]?["single"]?["time"]?.string == world.local(120))
    #expect(later.json?["name"] == "m" && later.json?["push"]?["audience"] == ["alias": ["anna"]])
    _ = await world.call("PUT", path, #"{"push":\#(GatewayWorld.schedulePush)}"#)
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(world.pending(device).isEmpty, "the time was moved")
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(world.pending(device).count == 1)
    #expect(await world.call("PUT", path, #"{"name":"k"}"#).outcome == "400 8100", "it is over")
    #expect(await world.call("GET", path).json?["name"] == "m")
    #expect(await world.call("GET", "/v3/schedules").json?["total_count"] == 0)
  }

  @Test func whatIsDisabledDoesNotFireAndIsNotMadeUpFor() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.daily(in: 60))
    let single = await world.makeSchedule(world.single(in: 90))
    for name in [id, single] {
      let off = await world.call("PUT", "/v3/schedules/\(name)", #"{"enabled":false}"#)
      #expect(off.json?["enabled"] == false)
    }
    #expect(await world.call("GET", "/v3/schedules").json?["total_count"] == 2)
    world.clock.advance(seconds: 100)
    await world.tick()
    #expect(await world.call("GET", "/v3/schedules").json?["total_count"] == 1, "the single one is over")
    #expect(await world.call("PUT", "/v3/schedules/\(single)", #"{"enabled":true}"#).outcome == "400 8100")
    #expect(await world.call("PUT", "/v3/schedules/\(id)", #"{"enabled":true}"#).status == 200)
    await world.tick()
    #expect(await world.runs(of: id).isEmpty && world.pending(device).isEmpty)
    world.clock.advance(seconds: 86_400)
    await world.tick()
    #expect(await world.runs(of: id) == ["0"] && world.pending(device).count == 1)
  }

  @Test func pagesHoldFifty() async throws {
    var options = RouterOptions()
    options.schedulesPerApp = 51
    let world = try await GatewayWorld(routing: options)
    var made: [String] = []
    for _ in 0..<51 { made.append(await world.makeSchedule(world.single(in: 60))) }
    #expect(await world.makeSchedule(world.single(in: 60)) == "400 8100", "the app has as many as it may")
    var listed: [String] = []
    for page in 1...3 {
      let answer = await world.call("GET", "/v3/schedules?page=\(page)")
      #expect(answer.json?["total_count"] == 51 && answer.json?["total_pages"] == 2)
      #expect(answer.json?["page"]?.int64 == Int64(page))
      let names = (answer.json?["schedules"]?.array ?? []).compactMap { $0["schedule_id"]?.string }
      #expect(names.count == [50, 1, 0][page - 1])
      listed += names
    }
    #expect(listed == made)
    #expect(await world.call("GET", "/v3/schedules?page=9223372036854775807").json?["schedules"] == [])
    // What is over counts no more.
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(await world.makeSchedule(world.single(in: 60)).count == 36)
  }

  @Test func aRepeatedRequestMakesOneSchedule() async throws {
    let world = try await GatewayWorld()
    let cid = try #require(
      await world.call("GET", "/v3/push/cid?type=schedule").json?["cidlist"]?.array?.first?.string)
    let body = GatewayWorld.schedule(world.single(in: 60), more: #","cid":"\#(cid)""#)
    let first = await world.call("POST", "/v3/schedules", body)
    let second = await world.call("POST", "/v3/schedules", body)
    #expect(first.status == 200 && first.body == second.body)
    #expect(await world.call("GET", "/v3/schedules").json?["total_count"] == 1)
    let foreign = GatewayWorld.schedule(world.single(in: 60), more: #","cid":"0123-1""#)
    #expect(await world.call("POST", "/v3/schedules", foreign).outcome == "400 8100")
    // Inside the push it means nothing, whatever it is.
    let push = GatewayWorld.schedulePush.dropLast() + #","cid":"not ours!"}"#
    #expect(await world.makeSchedule(world.single(in: 60), push: String(push)).count == 36)
  }

  @Test func thePlanHoldsForPushesOfSchedules() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    try await world.setPlan(PlanRow(name: "small", broadcasts: 1, maxTimeToLive: 3600))
    let long = String(GatewayWorld.schedulePush.dropLast() + #","options":{"time_to_live":3601}}"#)
    #expect(await world.makeSchedule(world.single(in: 60), push: long) == "400 8100")
    let push = String(GatewayWorld.schedulePush.dropLast() + #","options":{"time_to_live":3600}}"#)
    let ids = [
      // A day to live is more than the plan's, and nobody has asked for it.
      await world.makeSchedule(world.single(in: 60)),
      await world.makeSchedule(world.single(in: 61), push: push),
    ]
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await world.runs(of: ids[0]) == ["0"])
    #expect(await world.runs(of: ids[1]) == ["2008"], "one push to everybody is all that the plan gives")
    let late = await world.call("PUT", "/v3/schedules/\(ids[1])", #"{"push":\#(long)}"#)
    #expect(late.outcome == "400 8100")
  }

  @Test func appsDoNotSeeOneAnothersSchedules() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    let id = await world.makeSchedule(world.single(in: 60))
    for (method, path) in [("GET", ""), ("PUT", ""), ("DELETE", ""), ("GET", "/msg_ids")] {
      let answer = await world.call(method, "/v3/schedules/\(id)\(path)", #"{"name":"m"}"#, as: other)
      #expect(answer.outcome == "404 8104")
    }
    #expect(await world.call("GET", "/v3/schedules", as: other).json?["total_count"] == 0)
    let device = try await world.register()
    let outsider = try await world.register(in: other)
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(await world.runs(of: id) == ["0"])
    #expect(world.pending(device).count == 1)
    #expect(
      other.directory.find(outsider).map {
        other.directory.pending(for: $0, after: MessageID(0), at: 0, limit: 9).ids
      } == [])
  }
}
