import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

/// Facts of devices: `POST /v1/facts` and `/v1/facts/wanted`.
@Suite struct FactAPITests {
  private static func report(
    _ facts: String, _ device: (id: RegistrationID, secret: [UInt8]), in world: GatewayWorld
  ) async -> String {
    let answer = await world.call(
      "POST", "/v1/facts",
      #"{"app_key":"\#(world.app.key.text)","registration_id":"\#(device.id.text)","#
        + #""secret":"\#(Hex.encode(device.secret))","facts":\#(facts)}"#, authorization: nil)
    return "\(answer.outcome) \(answer.json?["wanted"]?.array?.compactMap(\.string) ?? [])"
  }

  @Test func `Facts are stored that the app asks for`() async throws {
    let world = try await GatewayWorld()
    let new = try await world.router.newDevice(in: world.app)
    let device = (id: new.id, secret: new.secret)
    #expect(await Self.report(#"{"model":"Pixel 8"}"#, device, in: world) == "200 []")
    #expect(world.app.directory.facts(of: new.number) == [:])

    let wish = #"{"wanted":["model","notification_permission"]}"#
    #expect(await world.call("PUT", "/v1/facts/wanted", wish).status == 200)
    let names = #"["model", "notification_permission"]"#
    #expect(
      await Self.report(
        #"{"model":"Pixel 8","language":"de","notification_permission":"on"}"#, device, in: world)
        == "200 \(names)")
    #expect(
      world.app.directory.facts(of: new.number) == [.model: "Pixel 8", .notificationPermission: "on"])
    #expect(world.app.directory.factCounts(.model) == ["Pixel 8": 1])
    let path = "/v3/devices/\(device.id.text)"
    #expect(
      await world.call("GET", path).json?["facts"] == nil, "answers on JPush's paths have its members only")
    let shown = await world.call("GET", path, headers: world.extensions)
    #expect(shown.json?["facts"] == ["model": "Pixel 8", "notification_permission": "on"])
    // Only what is new costs a write.
    let other = try await world.router.newDevice(in: world.app)
    #expect(await Self.report(#"{"model":""}"#, device, in: world) == "200 \(names)")
    #expect(world.app.directory.facts(of: new.number) == [.notificationPermission: "on"])
    #expect(await Self.report(#"{}"#, (other.id, other.secret), in: world) == "200 \(names)")

    let off = await world.call("PUT", "/v1/facts/wanted", #"{"wanted":[]}"#)
    #expect(off.json?["wanted"]?.array == [])
    #expect(world.app.directory.facts(of: new.number) == [:])
    let left = try await world.store.look { [app = world.app.id] transaction throws(StorageError) in
      try transaction.facts.values(app: app)
    }
    #expect(left == [])
    _ = await world.call("PUT", "/v1/facts/wanted", #"{"wanted":["notification_permission"]}"#)
    #expect(world.app.directory.facts(of: new.number) == [:], "what was erased does not return")
  }

  @Test(arguments: [
    #"{"shoe_size":"42"}"#, #"{"opted_out":"perhaps"}"#, #"{"model":7}"#, #"{"model":"a\nb"}"#,
  ])
  func `Malformed facts are refused`(facts: String) async throws {
    let world = try await GatewayWorld()
    let new = try await world.router.newDevice(in: world.app)
    _ = await world.call("PUT", "/v1/facts/wanted", #"{"wanted":["model","opted_out"]}"#)
    #expect(await Self.report(facts, (new.id, new.secret), in: world) == "400 1003 []")
    #expect(await Self.report("{}", (new.id, [UInt8](repeating: 1, count: 16)), in: world).hasPrefix("401"))
    #expect(world.app.directory.facts(of: new.number) == [:])
  }

  @Test(arguments: [#"{"wanted":["shoe_size"]}"#, #"{"wanted":"model"}"#, #"{"wanted":[],"x":1}"#, "[]"])
  func `Malformed wishes change nothing`(body: String) async throws {
    let world = try await GatewayWorld()
    _ = await world.call("PUT", "/v1/facts/wanted", #"{"wanted":["model"]}"#)
    #expect(await world.call("PUT", "/v1/facts/wanted", body).status == 400)
    #expect(world.app.facts == DeviceFactSet(.model))
  }
}
