import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// Getui's ways to push, to more devices than an app's server may reach without approval.
@Suite(.timeLimit(.minutes(1))) struct BrakeTests {
  private static func body(_ number: Int, _ rest: String, settings: String = "{}") -> String {
    #"{"request_id":"request-000\#(number)","settings":\#(settings),"push_message":{"transmission":"hi"}\#(rest)}"#
  }

  private func world(includesServers: Bool) async throws -> (world: GetuiWorld, devices: [RegistrationID]) {
    let world = try await GetuiWorld()
    var devices: [RegistrationID] = []
    for _ in 0..<3 {
      let id = try await world.register()
      devices.append(id)
      let number = try #require(world.app.directory.find(id))
      let change = DeviceChange(tags: .set(["news"]), alias: .set("anna"))
      _ = try await awaitCallback { done in
        world.router.registrations.change(change, of: number, in: world.app, reply: { done($0) })
      }.get()
    }
    let app = world.app
    let row = try await world.store.change { transaction throws(StorageError) in
      _ = try transaction.apps.setBrakes(
        app: app.id, BrakesRow(approvalAbove: 2, includesServers: includesServers))
      return try transaction.apps.find(key: app.key)
    }
    if let row { world.router.apps.learn([row]) }
    return (world, devices)
  }

  /// The code of each way to push, by its path.
  private func pushes(_ world: GetuiWorld, _ devices: [RegistrationID]) async throws -> [String: Int] {
    var codes: [String: Int] = [:]
    let tag = #","audience":{"tag":[{"key":"custom_tag","values":["news"],"opt_type":"or"}]}"#
    for (number, (path, rest)) in [
      ("/push/all", #","audience":"all""#), ("/push/tag", tag),
      ("/push/fast_custom_tag", #","audience":{"fast_custom_tag":"news"}"#),
      ("/push/single/alias", #","audience":{"alias":["anna"]}"#),
    ].enumerated() {
      codes[path] = await world.ask("POST", path, Self.body(number, rest)).code
    }
    let ids = devices.map { "\"\($0.text)\"" }.joined(separator: ",")
    for (number, (path, audience)) in [
      ("/push/list/cid", #"{"cid":[\#(ids)]}"#), ("/push/list/alias", #"{"alias":["anna"]}"#),
    ].enumerated() {
      let made = await world.ask("POST", "/push/list/message", Self.body(5 + number, ""))
      let task = try #require(made.json["data"]?["taskid"]?.string)
      codes[path] = await world.ask(
        "POST", path, #"{"taskid":"\#(task)","audience":\#(audience),"is_async":false}"#
      ).code
    }
    let moment = world.clock.now().milliseconds + 10_000
    let later = Self.body(8, #","audience":"all""#, settings: #"{"schedule_time":\#(moment)}"#)
    #expect(await world.ask("POST", "/push/all", later).code == 0)
    world.clock.advance(seconds: 10)
    await world.tick()
    return codes
  }

  @Test func `Without exemption every way is refused with 30009 and reaches nobody`() async throws {
    let (world, devices) = try await world(includesServers: true)
    for (path, code) in try await pushes(world, devices) { #expect(code == 30009, "\(path)") }
    #expect(devices.map { world.pending($0).count } == [0, 0, 0])
  }

  @Test func `Exempt app servers push as before`() async throws {
    let (world, devices) = try await world(includesServers: false)
    for (path, code) in try await pushes(world, devices) { #expect(code == 0, "\(path)") }
    #expect(devices.map { world.pending($0).count } == [7, 7, 7])
  }
}
