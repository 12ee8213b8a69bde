import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

/// `notification_switch_filter`: pushes that leave out devices with notifications off.
@Suite struct NotificationFilterTests {
  private static let content = #""notification":{"alert":"x"},"options":{"notification_switch_filter":true}"#

  private static func report(
    _ facts: [DeviceFact: String], of id: RegistrationID, in world: GatewayWorld
  ) async throws {
    let (router, app) = (world.router, world.app)
    let number = try #require(app.directory.find(id))
    let result = await awaitCallback { router.facts.set(facts, of: number, in: app, reply: $0) }
    try result.get()
  }

  private static func ask(for facts: DeviceFactSet, in world: GatewayWorld) async throws {
    let (router, app) = (world.router, world.app)
    let result = await awaitCallback { router.apps.setFacts(facts, of: app, noting: .test, done: $0) }
    try result.get()
  }

  /// A few devices, and more than are kept as a list.
  @Test(arguments: [0, 90]) func `Devices with notifications off are left out`(others: Int) async throws {
    let world = try await GatewayWorld()
    try await Self.ask(
      for: [DeviceFactSet(.notificationPermission), DeviceFactSet(.optedOut)], in: world)
    let ids = try await world.registerMany(5)
    let more = try await world.registerMany(others)
    let facts: [[DeviceFact: String]] = [
      [.notificationPermission: "off"], [.notificationPermission: "on", .optedOut: "yes"],
      [.notificationPermission: "on", .optedOut: "no"], [.notificationPermission: "not_asked"], [:],
    ]
    for (id, facts) in zip(ids, facts) { try await Self.report(facts, of: id, in: world) }
    let sent = await world.push(Self.content)
    let push = try #require(sent.json?["msg_id"]?.string, "\(sent.outcome)")
    #expect(ids.map { world.pending($0).count } == [0, 0, 1, 1, 1])
    #expect(more.allSatisfy { world.pending($0).count == 1 })

    let status = await world.call("GET", "/v1/pushes/\(push)").json
    #expect(status?["targets"]?.int64 == Int64(3 + others) && status?["left_out"]?.int64 == 2)
    func cause(_ id: RegistrationID) async -> String? {
      let why = await world.call("GET", "/v1/pushes/\(push)/why?registration_id=\(id.text)").json
      return why?["steps"]?.array?.first { $0["step"] == "audience" }?["cause"]?.string
    }
    #expect(await cause(ids[0]) == "left_out")
    // What the device reports later changes nothing about that.
    try await Self.report([.notificationPermission: "on", .optedOut: "no"], of: ids[1], in: world)
    #expect(await cause(ids[1]) == "left_out")
    #expect(await cause(ids[3]) == nil)
  }

  @Test func `It needs the fact, and somebody who is left`() async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    let refused = await world.push(Self.content)
    #expect(refused.outcome == "403 2007")
    #expect(refused.json?["error"]?["message"]?.string?.contains("notification_switch_filter needs") == true)
    #expect(await world.push(#""notification":{"alert":"x"}"#).outcome == "200")
    try await Self.ask(for: DeviceFactSet(.notificationPermission), in: world)
    #expect(await world.push(Self.content).outcome == "200")
    try await Self.report([.notificationPermission: "off"], of: id, in: world)
    #expect(await world.push(Self.content).outcome == "400 1011")
    let body = #"{"platform":"all","audience":"all",\#(Self.content)}"#
    #expect(await world.call("POST", "/v3/push/validate", body).outcome == "400 1011")
  }
}
