import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

/// `/v1/caps`: how many notifications a device gets in a day, and what the reports say of it.
@Suite struct CapAPITests {
  private static func set(_ body: String, in world: GatewayWorld) async -> String {
    let answer = await world.call("PUT", "/v1/caps", body)
    return answer.status == 200 ? String(decoding: answer.body, as: UTF8.self) : answer.outcome
  }

  @Test func `Devices that had as many are left out, and told so`() async throws {
    let world = try await GatewayWorld()
    let none = await world.call("GET", "/v1/caps")
    #expect(none.json == ["normal": 0, "marketing": 0])
    let ids = try await world.registerMany(2)
    #expect(await Self.set(#"{"normal":1,"marketing":0}"#, in: world) == #"{"normal":1,"marketing":0}"#)
    #expect(await world.call("GET", "/v1/caps").json == ["normal": 1, "marketing": 0])
    func body(_ audience: String, _ options: String = "{}") -> String {
      #"{"platform":"all","audience":\#(audience),"notification":{"alert":"x"},"options":\#(options)}"#
    }
    let first = body(#"{"registration_id":["\#(ids[0].text)"]}"#)
    #expect(await world.call("POST", "/v3/push", first).outcome == "200")
    let refused = await world.call("POST", "/v3/push", first)
    #expect(refused.outcome == "400 1011")
    #expect(
      refused.json?["error"]?["message"]?.string?.contains("1 notification of the class normal") == true)
    let rest = await world.call("POST", "/v3/push", body(#""all""#))
    let push = try #require(rest.json?["msg_id"]?.string)
    #expect(ids.map { world.pending($0).count } == [1, 1])
    let status = await world.call("GET", "/v1/pushes/\(push)").json
    #expect(status?["targets"] == 1 && status?["capped"] == 1)
    let why = await world.call("GET", "/v1/pushes/\(push)/why?registration_id=\(ids[0].text)").json
    #expect(why?["steps"]?.array?.first { $0["step"] == "audience" }?["cause"] == "capped")
    for options in [#"{"classification":0}"#, #"{"classification":1}"#] {
      #expect(await world.call("POST", "/v3/push", body(#""all""#, options)).outcome == "200")
    }
    #expect(ids.map { world.pending($0).count } == [3, 3])
  }

  @Test(arguments: [
    "[]", "{}", #"{"normal":1}"#, #"{"normal":-1,"marketing":0}"#, #"{"normal":101,"marketing":0}"#,
    #"{"normal":"1","marketing":0}"#, #"{"normal":1,"marketing":1,"urgent":1}"#,
    #"{"normal":1.5,"marketing":1}"#,
  ])
  func `What is no limit changes nothing`(body: String) async throws {
    let world = try await GatewayWorld()
    #expect(await Self.set(#"{"normal":7,"marketing":3}"#, in: world).hasPrefix("{"))
    #expect(["400 1002", "400 1003"].contains(await Self.set(body, in: world)))
    #expect(await world.call("GET", "/v1/caps").json == ["normal": 7, "marketing": 3])
  }
}
