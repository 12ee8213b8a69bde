import BorealisBase
import Core
import HTTP
import Model
import Testing

@testable import API

/// What answers on JPush's paths say beyond JPush: a header with ignored members, and members of our own for
/// those who ask.
@Suite(.timeLimit(.minutes(2))) struct ExtensionTests {
  private static let header = "x-borealis-ignored"
  private static let content = #""notification":{"alert":"x"},"options":{"new":1}"#

  private let world: GatewayWorld
  private let device: RegistrationID

  init() async throws {
    world = try await GatewayWorld()
    device = try await world.register()
  }

  @Test func `Every way to make a push names what is ignored`() async throws {
    let key = world.app.key.text
    let push = #"{"platform":"all","audience":"all",\#(Self.content)}"#
    let group = try await world.makeGroup([world.app])
    let entry = #"{"platform":"all","target":"\#(device.text)",\#(Self.content)}"#
    let time = #"{"single":{"time":"2026-12-01 00:00:00"}}"#
    let calls: [(HTTPResponse, String)] = [
      (await world.call("POST", "/v3/push", push), "options.new"),
      (await world.call("POST", "/v3/push/validate", push), "options.new"),
      (
        await world.call(
          "POST", "/v3/push/batch/regid/single",
          #"{"pushlist":{"\#(key)-1":\#(entry),"\#(key)-2":\#(entry)}}"#),
        "options.new"
      ),
      (await world.call(group, "POST", "/v3/grouppush", push), "options.new"),
      (
        await world.call(
          "POST", "/v3/schedules", #"{"name":"n","enabled":true,"trigger":\#(time),"push":\#(push)}"#),
        "push.options.new"
      ),
    ]
    for (answer, name) in calls {
      #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
      #expect(answer.headers[Self.header] == name)
    }
    let update = await world.call("POST", "/v3/devices/\(device.text)", #"{"alias":"a","nickname":"b"}"#)
    #expect(update.outcome == "200" && update.headers[Self.header] == "nickname")
    #expect(await world.push().headers[Self.header] == nil)
    #expect(await world.push(#""new":1,"# + Self.content).headers[Self.header] == nil)
  }

  @Test func `An answer to validate has members of its own only on request`() async throws {
    let push = #"{"platform":"all","audience":"all",\#(Self.content)}"#
    func members(_ headers: HTTPHeaders) async -> [String]? {
      await world.call("POST", "/v3/push/validate", push, headers: headers).json?.object?.members.map(\.key)
    }
    #expect(await members([:]) == ["sendno", "msg_id"])
    #expect(await members(world.extensions) == ["sendno", "msg_id", "channels", "ignored"])
    let answer = await world.call("POST", "/v3/push/validate", push, headers: world.extensions)
    #expect(answer.json?["ignored"] == ["options.new"])
  }
}
