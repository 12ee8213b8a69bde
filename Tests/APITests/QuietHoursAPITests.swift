import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

/// `/v1/quiet-hours`: when devices get no notifications, and what the reports say of it.
@Suite struct QuietHoursAPITests {
  private static let path = "/v1/quiet-hours"

  private static func body(_ options: String = "{}") -> String {
    #"{"platform":"all","audience":"all","notification":{"alert":"x"},"options":\#(options)}"#
  }

  /// Hours that it is in now, and that end in two hours, by the server's clocks.
  private static func now(_ world: GatewayWorld, _ action: String) -> String {
    let minute = world.router.zone.local(world.clock.now()).secondOfDay / 60
    let (from, until) = (QuietHours.text((minute + 1439) % 1440), QuietHours.text((minute + 120) % 1440))
    return #"{"from":"\#(from)","until":"\#(until)","action":"\#(action)"}"#
  }

  @Test func `They are set, shown and removed`() async throws {
    let world = try await GatewayWorld()
    let none: JSONValue = ["from": nil, "until": nil, "action": nil]
    #expect(await world.call("GET", Self.path).json == none)
    let set = await world.call("PUT", Self.path, #"{"from":"22:00","until":"08:00"}"#)
    let hours: JSONValue = ["from": "22:00", "until": "08:00", "action": "hold"]
    #expect(set.json == hours)
    #expect(await world.call("GET", Self.path).json == hours)
    #expect(await world.call("DELETE", Self.path).outcome == "200")
    #expect(await world.call("GET", Self.path).json == none)
  }

  @Test func `Reports name those who wait and those who get nothing`() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(2)
    #expect(await world.call("PUT", Self.path, Self.now(world, "hold")).status == 200)
    let push = try #require(await world.call("POST", "/v3/push", Self.body()).json?["msg_id"]?.string)
    #expect(ids.map { world.pending($0).count } == [0, 0])
    let status = await world.call("GET", "/v1/pushes/\(push)").json
    #expect(status?["targets"] == 2 && status?["pending"] == 2 && status?["held"] == 2)
    #expect(status?["held_until"]?.string != nil && status?["quiet_hours"] == nil)
    let why = await world.call("GET", "/v1/pushes/\(push)/why?registration_id=\(ids[0].text)").json
    #expect(why?["steps"]?.array?.first { $0["step"] == "release" }?["cause"] == "held")
    #expect(
      await world.call("POST", "/v3/push", Self.body(#"{"quiet_hours":"ignore"}"#)).outcome == "200")
    #expect(ids.map { world.pending($0).count } == [1, 1])
    #expect(await world.call("PUT", Self.path, Self.now(world, "drop")).status == 200)
    let refused = await world.call("POST", "/v3/push", Self.body())
    #expect(refused.outcome == "400 1011")
    #expect(refused.json?["error"]?["message"]?.string?.contains("quiet hours") == true)
    #expect(await world.call("POST", "/v3/push", Self.body(#"{"classification":1}"#)).outcome == "200")
    #expect(ids.map { world.pending($0).count } == [2, 2])
  }

  @Test(arguments: [
    "[]", "{}", #"{"from":"22:00"}"#, #"{"from":"22:00","until":"22:00"}"#, #"{"from":"22:00","until":8}"#,
    #"{"from":"22:00","until":"08:00","action":"wait"}"#, #"{"from":"22:00","until":"08:00","days":[1]}"#,
    #"{"from":"25:00","until":"08:00"}"#, #"{"from":"22:00","until":"08:00","action":1}"#,
  ])
  func `What is not a time changes nothing`(body: String) async throws {
    let world = try await GatewayWorld()
    #expect(await world.call("PUT", Self.path, #"{"from":"22:00","until":"08:00"}"#).status == 200)
    #expect(["400 1002", "400 1003"].contains(await world.call("PUT", Self.path, body).outcome))
    #expect(await world.call("GET", Self.path).json?["until"] == "08:00")
  }
}
