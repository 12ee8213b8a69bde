import BorealisBase
import Core
import HTTP
import Storage
import Testing

@testable import API

/// What the APIs say of a push that was recalled before its devices' words came: the same everywhere.
@Suite struct ReportTruthTests {
  private let world: GatewayWorld
  private let devices: [RegistrationID]

  init() async throws {
    world = try await GatewayWorld()
    devices = try await world.registerMany(3)
  }

  private func number(_ device: RegistrationID) throws -> RegistrationNumber {
    try #require(world.app.directory.find(device))
  }

  private func get(_ path: String) async throws -> JSONValue {
    try #require(await world.call("GET", path).json)
  }

  /// Two of three had it when it was recalled: one acknowledges it afterwards, one only says that it was
  /// shown.
  @Test func wordsAfterARecall() async throws {
    let text = try #require(await world.push().json?["msg_id"]?.string)
    let id = try #require(MessageID(decimal: Array(text.utf8)))
    #expect(await world.call("DELETE", "/v3/push/\(text)").status == 200)
    try await world.settle()
    #expect(try await get("/v1/pushes/\(text)")["recalled"] == 3)
    world.router.deliveries.acknowledge([id], by: try number(devices[0]), in: world.app)
    world.router.deliveries.note([(id, true)], by: try number(devices[1]), in: world.app)
    try await world.settle()

    let push = try await get("/v1/pushes/\(text)")
    #expect(push["status"] == "recalled" && push["targets"] == 3)
    #expect(push["delivered"] == 2 && push["recalled"] == 1 && push["pending"] == 0)
    #expect(push["shown"] == 1 && push["tapped"] == 1)
    #expect(push["connection"] == ["targets": 3, "waiting": 0, "delivered": 2, "shown": 1, "tapped": 1])
    #expect(push["apns"]?["sent"] == 0 && push["apns"]?["shown"] == 0 && push["apns"]?["received"] == 0)

    #expect(try await get("/v3/received?msg_ids=\(text)").array?[0]["android_received"] == 2)
    let messages = try await get("/v3/messages?msg_ids=\(text)").array?[0]["android"]
    #expect(messages?["target"] == 3 && messages?["online_push"] == 2 && messages?["received"] == 2)
    #expect(messages?["click"] == 1)
    let detail = try await get("/v3/messages/detail?msg_ids=\(text)").array?[0]["jpush"]
    #expect(detail?["sent"] == 2 && detail?["received"] == 2 && detail?["display"] == 1)

    let asked = devices.map { "\"\($0.text)\"" }.joined(separator: ",")
    let status = await world.call(
      "POST", "/v3/status/message", #"{"msg_id":\#(text),"registration_ids":[\#(asked)]}"#)
    #expect(devices.map { status.json?[$0.text]?["status"] } == [0, 0, 1])

    for (device, expected) in zip(devices, ["arrived", "arrived", "failed"]) {
      let why = try await get("/v1/pushes/\(text)/why?registration_id=\(device.text)")
      #expect(why["conclusion"]?.string == expected)
    }

    world.router.deliveries.note([(id, false)], by: try number(devices[2]), in: world.app)
    try await world.settle()
    let last = try await get("/v1/pushes/\(text)")
    #expect(last["status"] == "delivered" && last["delivered"] == 3 && last["recalled"] == 0)
  }
}
