import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

/// `inapp_message`: pushes that the app shows in its own pages as well, in all the places that take a push.
@Suite struct InAppMessageTests {
  private static let content = #""notification":{"alert":"x"},"inapp_message":{"inapp_message":true}"#
  private let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private func number(_ device: RegistrationID) throws -> RegistrationNumber {
    try #require(world.app.directory.find(device))
  }

  /// What waits for a device over the direct connection.
  private func waiting(_ device: RegistrationID) async throws -> [JSONValue] {
    let (router, pending, number) = (world.router, world.pending(device), try number(device))
    let found = try await awaitCallback { router.deliveries.contents(of: pending, found: $0) }.get()
    return try found.map { id, push in
      try parseJSON(push.deviceJSON(.android, viaVendor: push.goesElsewhere(for: number)))
    }
  }

  private func report(_ facts: [DeviceFact: String], of device: RegistrationID) async throws {
    let (router, app, number) = (world.router, world.app, try number(device))
    try await awaitCallback { router.facts.set(facts, of: number, in: app, reply: $0) }.get()
  }

  /// Three devices that a channel would reach, and one that none does.
  @Test func `Who turned notifications off gets it past the channel, unless the push leaves them out`()
    async throws
  {
    let (router, app, folder) = (world.router, world.app, TemporaryFolder())
    let channel = FileChannel(router, world.store, path: folder.file("lines"), time: world.clock)
    router.add(channel)
    defer { router.unplug() }
    let facts: DeviceFactSet = [DeviceFactSet(.notificationPermission), DeviceFactSet(.optedOut)]
    try await awaitCallback { router.apps.setFacts(facts, of: app, noting: .test, done: $0) }.get()
    let devices = try await world.registerMany(4)
    for (word, device) in zip(["off", "out", "on"], devices) {
      let token = PushToken(TokenSlot(channel.info.id, kind: 1), .only, Array(word.utf8))
      let number = try number(device)
      try await awaitCallback {
        router.registrations.setTokens([token], of: number, in: app, reply: $0)
      }.get()
    }
    try await report([.notificationPermission: "off"], of: devices[0])
    try await report([.optedOut: "yes"], of: devices[1])
    let sent = await world.push(Self.content)
    #expect(sent.outcome == "200")
    #expect(devices.map { world.pending($0).count } == [1, 0, 0, 1])
    for device in [devices[0], devices[3]] {
      #expect(
        try await waiting(device) == [["notification": ["alert": "x"], "inapp_message": true]])
    }
    let filter = #","options":{"notification_switch_filter":true}"#
    #expect(await world.push(Self.content + filter).outcome == "200")
    #expect(devices.map { world.pending($0).count } == [1, 0, 0, 2])
    let forecast = await world.call(
      "POST", "/v1/push/forecast", #"{"platform":"all","audience":"all",\#(Self.content)}"#)
    func row(_ channel: String) -> JSONValue? {
      forecast.json?["rows"]?.array?.first { $0["channel"]?.string == channel }
    }
    let own = row("connection")
    #expect(own?["devices"] == 2 && own?["loud"] == 1 && own?["hidden"] == 1)
    #expect(row("file")?["devices"] == 2)
  }

  @Test func `Reports count it apart from the notification`() async throws {
    let android = try await world.registerMany(3)
    let phone = try await world.register(platform: .ios)
    let sent = await world.push(Self.content)
    let text = try #require(sent.json?["msg_id"]?.string)
    let id = try #require(MessageID(decimal: Array(text.utf8)))
    func say(_ kind: PushReceipt, _ devices: RegistrationID...) throws {
      for device in devices {
        world.router.deliveries.note([(id, kind)], by: try number(device), in: world.app)
      }
    }
    for device in [android[0], android[1], phone] {
      world.router.deliveries.acknowledge([id], by: try number(device), in: world.app)
    }
    try say(.shown, android[0])
    try say(.inAppShown, android[0], android[1])
    try say(.inAppTapped, android[1], phone)
    try await world.settle()
    let answer = await world.call("GET", "/v3/messages/detail?msg_ids=\(text)").json
    let details = answer?.array?[0]["details"]
    func five(_ numbers: [Int64], _ more: [String: JSONValue] = [:]) -> JSONValue {
      var object = JSONObject()
      for (name, number) in zip(["target", "sent", "received", "display", "click"], numbers) {
        object.set(name, .number(JSONNumber(number)))
      }
      return .object(object)
    }
    let inApp = details?["inapp"]
    for (name, number): (String, JSONValue) in [
      ("target", 4), ("sent", 3), ("received", 3), ("display", 3), ("click", 2),
    ] { #expect(inApp?[name] == number, "\(name)") }
    #expect(inApp?["sub_android"]?["jg_android"] == five([3, 2, 2, 2, 1]))
    #expect(inApp?["sub_android"]?["huawei"] == .null)
    #expect(inApp?["sub_ios"] == ["jg_ios": five([1, 1, 1, 1, 1]), "voip": nil, "apns": nil])
    #expect(inApp?["sub_quickapp"] == .null && inApp?["sub_hmos"] == .null)
    let notification = details?["notification"]
    #expect(notification?["received"] == 3 && notification?["display"] == 1 && notification?["click"] == 0)
    let status = await world.call("GET", "/v1/pushes/\(text)").json
    #expect(status?["inapp"] == ["targets": 4, "delivered": 3, "shown": 3, "tapped": 2])
    #expect(status?["shown"] == 1 && status?["tapped"] == 0)
    // A push without one has no such member.
    let plain = try #require(await world.push().json?["msg_id"]?.string)
    #expect(await world.call("GET", "/v1/pushes/\(plain)").json?["inapp"] == nil)
  }

  @Test func `It is checked without being sent, and fires with a schedule`() async throws {
    let device = try await world.register()
    let push = #"{"platform":"all","audience":"all",\#(Self.content)}"#
    #expect(await world.call("POST", "/v3/push/validate", push).outcome == "200")
    #expect(world.pending(device).isEmpty)
    _ = await world.makeSchedule(world.single(in: 10), push: push)
    world.clock.advance(seconds: 10)
    for _ in 0..<3 { await world.tick() }
    #expect(try await waiting(device).first?["inapp_message"] == true)
  }

  @Test func `The text of a template is in it`() async throws {
    let device = try await world.register()
    let made = await world.call("POST", "/v1/templates", #"{"name":"n","alert":"from the template"}"#)
    let template = try #require(made.json?["id"]?.string)
    let sent = await world.call(
      "POST", "/v3/push",
      #"{"platform":"all","audience":"all","template":{"id":"\#(template)"},"#
        + #""inapp_message":{"inapp_message":true}}"#)
    #expect(sent.outcome == "200")
    #expect(
      try await waiting(device)
        == [["notification": ["alert": "from the template"], "inapp_message": true]])
  }
}
