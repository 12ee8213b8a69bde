import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// What is kept of a push for those who look back at it.
@Suite struct SourceTests {
  /// The sources of an app's pushes, the oldest first.
  private static func sources(_ world: GatewayWorld) async throws -> [PushSource] {
    let app = world.app.id
    return try await world.store.look { transaction throws(StorageError) in
      var sources: [PushSource] = []
      for push in try transaction.pushes.history(of: app, limit: 100, looks: 100).pushes.reversed() {
        if let found = try transaction.pushes.source(of: push.id) { sources.append(found.source) }
      }
      return sources
    }
  }

  @Test func `Every way to make a push says who made it, and keeps the object`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let group = try await world.makeGroup([world.app])
    let message = #""message":{"msg_content":"y"}"#
    let plain = "{\"platform\":\"all\",\"audience\":\"all\",\(message)}"
    _ = await world.call("POST", "/v3/push", plain)
    _ = await world.call(
      "POST", "/v3/push/batch/regid/single",
      "{\"pushlist\":{\"\(world.app.key.text)-1\":{\"target\":\"\(device.text)\",\"platform\":\"all\",\(message)}}}"
    )
    _ = await world.call(group, "POST", "/v3/grouppush", plain)
    let schedule = await world.makeSchedule(world.single(in: 10), push: plain)
    world.clock.advance(seconds: 10)
    await world.tick()
    #expect(await world.runs(of: schedule) == ["0"])
    let sources = try await Self.sources(world)
    #expect(sources.map(\.sender) == [.api, .api, .group(1), .schedule(1)])
    let everybody: PushTraits = [.message, .everybody]
    #expect(
      sources.map(\.traits) == [everybody, [.message, .registrations, .batch], everybody, everybody])
    for (source, audience) in zip(
      sources, ["all", ["registration_id": [.string(device.text)]], "all", "all"] as [JSONValue])
    {
      let object = try parseJSON(try #require(source.object))
      #expect(object["audience"] == audience && object["message"]?["msg_content"] == "y")
    }
  }

  @Test(
    arguments: [
      (#"{"tag":["a"],"tag_not":["b"]}"#, #""notification":{"alert":"x"}"#, [.notification, .tags]),
      (#"{"alias":["a"],"tag_and":["b"]}"#, #""message":{"msg_content":"x"}"#, [.message, .tags, .aliases]),
      (
        #"{"registration_id":["nonsense","0123456789abcdef012"]}"#,
        #""notification":{"alert":"x"},"message":{"msg_content":"x"}"#,
        [.notification, .message, .registrations]
      ),
      (#""all""#, #""notification":{"ios":{"alert":"x"}}"#, [.notification, .everybody]),
    ] as [(String, String, PushTraits)])
  func `Traits follow from the object`(audience: String, content: String, traits: PushTraits) throws {
    let json = try parseJSON(Array("{\"platform\":\"all\",\"audience\":\(audience),\(content)}".utf8))
    #expect(try PushRequest.parse(json).traits == traits)
  }
}
