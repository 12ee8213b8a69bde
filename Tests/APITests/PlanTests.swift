import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

@Suite struct PlanTests {
  @Test func `Nothing limits vendors that are not there`() async throws {
    let world = try await GatewayWorld()
    let json = try #require(await world.call("GET", "/v3/push/quota").json)
    #expect(json["code"] == 0)
    for vendor in ["xiaomi_quota", "oppo_quota", "vivo_quota"] {
      for kind in ["system", "operation"] {
        #expect(json["data"]?[vendor]?[kind]?["total"] == -1)
        #expect(json["data"]?[vendor]?[kind]?["used"] == -1)
        #expect(json["data"]?[vendor]?[kind]?.object?.count == 2)
      }
    }
  }

  // MARK: Push plans

  @Test func `Pushes are counted under the plan that they name`() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    func create(_ body: String) async -> String {
      await world.call("POST", "/v3/push_plan/create", body).outcome
    }
    #expect(await create(#"{"name":"spring","description":"sale"}"#) == "200")
    #expect(await create(#"{"name":"spring","description":"other"}"#) == "400 1003")
    #expect(await create(#"{"name":"summer"}"#) == "200")
    for (body, expected) in [
      ("{}", "400 1002"), (#"{"name":""}"#, "400 1002"), (#"{"name":5}"#, "400 1003"),
      (#"{"name":"a\nb"}"#, "400 1003"), ("[]", "400 1003"), (#"{"name":"x","description":[]}"#, "400 1003"),
      (#"{"name":"x","description":"a\u0000"}"#, "400 1003"),
      ("{\"name\":\"\(String(repeating: "a", count: 101))\"}", "400 1003"),
    ] {
      #expect(await create(body) == expected, "\(body)")
    }
    let options = #""notification":{"alert":"x"},"options":{"business_operation_code":"spring"}"#
    #expect(await world.push(options).messageID != nil)
    world.clock.advance(seconds: 60)
    #expect(await world.push(options).messageID != nil)
    let validated = await world.call(
      "POST", "/v3/push/validate", #"{"platform":"all","audience":"all",\#(options)}"#)
    #expect(validated.status == 200)
    #expect(await world.push(options, to: #"{"alias":["nobody"]}"#).outcome == "400 1011")
    let unknown = options.replacing("spring", with: "autumn")
    #expect(await world.push(unknown).outcome == "400 1003")
    let refused = await world.call(
      "POST", "/v3/push/validate", #"{"platform":"all","audience":"all",\#(unknown)}"#)
    #expect(refused.outcome == "400 1003")
    let update = await world.call(
      "PUT", "/v3/push_plan/update", #"{"name":"spring","description":"new"}"#)
    #expect(update.json?["code"] == 0)
    #expect(await world.call("PUT", "/v3/push_plan/update", #"{"name":"autumn"}"#).outcome == "400 1003")

    let list = try #require(await world.call("GET", "/v3/push_plan/list?info=spr").json?["data"])
    #expect(list["total"] == 1 && list["page"] == 1 && list["page_size"] == 50)
    let plan = try #require(list["detail"]?.array?.first)
    #expect(plan["name"] == "spring" && plan["description"] == "new" && plan["push_count"] == 2)
    #expect(plan["create_time"] == "2026-09-21 22:13:20" && plan["last_used_time"] == "2026-09-21 22:14:20")
    #expect(plan["send_source"] == 0)
    let all = await world.call("GET", "/v3/push_plan/list?page=2&page_size=1").json?["data"]
    #expect(all?["total"] == 2 && all?["detail"]?.array?.count == 1)
    let console = await world.call("GET", "/v3/push_plan/list?send_source=1").json?["data"]
    #expect(console?["total"] == 0)
    #expect(await world.call("GET", "/v3/push_plan/list?page=0").outcome == "400 1003")
    let other = try await world.addApp()
    let others = await world.call("GET", "/v3/push_plan/list", as: other).json?["data"]
    #expect(others?["total"] == 0)
  }

  // MARK: Devices for tests

  @Test func `A push for tests goes to the devices for tests of its audience`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(3)
    let push = #""notification":{"alert":"x"},"options":{"test_model":true}"#
    #expect(await world.push(push).outcome == "400 1011")
    for device in devices.prefix(2) {
      let body = #"{"device_name":"Phone","registration_id":"\#(device.text)"}"#
      #expect(await world.call("POST", "/v3/test/model/add", body).body == Array("{}".utf8))
      #expect(await world.call("POST", "/v3/test/model/add", body).outcome == "400 7002")
    }
    #expect(await world.push(push).messageID != nil)
    #expect(devices.map { world.pending($0).count } == [1, 1, 0])
    let named = #"{"registration_id":["\#(devices[1].text)","\#(devices[2].text)"]}"#
    #expect(await world.push(push, to: named).messageID != nil)
    #expect(devices.map { world.pending($0).count } == [1, 2, 0])
    let validated = await world.call(
      "POST", "/v3/push/validate",
      #"{"platform":"all","audience":{"registration_id":["\#(devices[2].text)"]},\#(push)}"#)
    #expect(validated.outcome == "400 1011")
    #expect(await world.push(push.replacing("true", with: "false")).messageID != nil)
    #expect(devices.map { world.pending($0).count } == [2, 3, 1])
  }

  @Test func `Devices for tests are listed, renamed and removed`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(2)
    for (name, device) in zip(["Anna's", "Ben's"], devices) {
      let body = #"{"device_name":"\#(name)","registration_id":"\#(device.text)"}"#
      #expect(await world.call("POST", "/v3/test/model/add", body).status == 200)
    }
    let renamed = #"{"device_name":"Cleo's","registration_id":"\#(devices[1].text)"}"#
    #expect(await world.call("PUT", "/v3/test/model/update", renamed).status == 200)
    let found = await world.call("GET", "/v3/test/model/list?device_name=Cleo").json
    #expect(found?["total"] == 1 && found?["page_size"] == 200)
    #expect(found?["detail"]?.array?.first?["registration_id"]?.string == devices[1].text)
    #expect(found?["detail"]?.array?.first?["create_time"] == "2026-09-21 22:13:20")
    for _ in 0..<2 {
      #expect(await world.call("DELETE", "/v3/test/model/delete/\(devices[1].text)").status == 200)
    }
    let rest = await world.call("GET", "/v3/test/model/list?registration_id=\(devices[0].text)").json
    #expect(rest?["total"] == 1)
    #expect(await world.call("GET", "/v3/test/model/list").json?["total"] == 1)
    for (body, method, path) in [
      (renamed, "PUT", "update"), (#"{"device_name":"x"}"#, "POST", "add"), ("{}", "POST", "add"),
      (#"{"device_name":"a\u0000","registration_id":"\#(devices[1].text)"}"#, "POST", "add"),
      (#"{"device_name":"","registration_id":"\#(devices[1].text)"}"#, "POST", "add"),
      (#"{"device_name":"x","registration_id":"0123456789abcdef012"}"#, "POST", "add"),
    ] {
      let response = await world.call(method, "/v3/test/model/\(path)", body)
      #expect(response.outcome == "400 7002", "\(body)")
    }
    let page = await world.call("GET", "/v3/test/model/list?page_size=0")
    #expect(page.outcome == "400 7002")
  }

  /// By the minute, with a clock of the test's own.
  @Test func `A push can be spread over minutes`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(60)
    let push = #""notification":{"alert":"x"},"options":{"big_push_duration":1}"#
    #expect(await world.push(push).messageID != nil)
    for second in 0...60 {
      world.router.tick()
      #expect(devices.count { world.pending($0).count == 1 } == min(second + 1, 60), "second \(second)")
      world.clock.advance(seconds: 1)
    }
  }
}
