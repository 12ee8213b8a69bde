import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

/// `POST /v1/push/forecast`.
@Suite struct ForecastAPITests {
  private static let path = "/v1/push/forecast"

  @Test func `A forecast tells numbers and causes, and changes nothing`() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(2)
    let all = #"{"platform":"all","audience":"all","notification":{"alert":"x"},"colour":1}"#
    #expect(await world.call("POST", Self.path, all).outcome == "400 1009", "as a push")
    let body = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
    let answer = await world.call("POST", Self.path, body)
    #expect(answer.outcome == "200")
    let row: JSONValue = [
      "channel": "connection", "when": "later", "devices": 2, "loud": 2, "silent": 0, "registered": 0,
      "hidden": 0, "waiting": 0, "reasons": [],
    ]
    #expect(
      answer.json == [
        "audience": 2, "reached": 2, "rows": [row], "nothing": [], "channels": [:], "ignored": [],
      ])
    #expect(ids.allSatisfy { world.pending($0).isEmpty })
    // Nobody is an answer here, not an error.
    let nobody = #"{"platform":"all","audience":{"tag":["x"]},"notification":{"alert":"x"}}"#
    #expect(await world.call("POST", Self.path, nobody).json?["audience"] == 0)
    let chinese = await world.call(
      "POST", Self.path + "?lang=zh",
      #"{"platform":"all","audience":"all","message":{"msg_content":"x"},"options":{"time_to_live":0}}"#)
    #expect(
      chinese.json?["nothing"] == [["cause": "online_only", "devices": 2, "text": "推送仅发送给当时在线的设备，此设备不在线。"]])
    let other = try await world.addApp()
    #expect(await world.call("POST", Self.path, body, as: other).json?["audience"] == 0)
    #expect(await world.call("POST", Self.path, "[]").outcome == "400 1003")
    #expect(await world.call("GET", Self.path).outcome == "405 1001")
  }

  @Test func `What is refused whoever it is for is refused here too`() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    let filtered = """
      {"platform":"all","audience":"all","notification":{"alert":"x"},"options":{"notification_switch_filter":true}}
      """
    for path in [Self.path, "/v3/push"] {
      #expect(await world.call("POST", path, filtered).outcome == "403 2007", "\(path)")
    }
  }
}
