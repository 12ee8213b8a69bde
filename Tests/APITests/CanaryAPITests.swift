import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

/// Canaries: `options.canary` of pushes and schedules, and `/v1/pushes/{msg_id}/canary`.
@Suite(.timeLimit(.minutes(2))) struct CanaryAPITests {
  let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private static let options = #""options":{"canary":{"share":50,"wait":60}}"#
  private static let members = #""notification":{"alert":"x"},\#(options)"#

  private func message(_ response: HTTPResponse) -> String {
    response.json?["error"]?["message"]?.string ?? ""
  }

  private func push() async throws -> MessageID {
    let answer = await world.push(Self.members)
    let text = try #require(answer.json?["msg_id"]?.string, "\(answer.outcome) \(message(answer))")
    return try #require(MessageID(decimal: Array(text.utf8)))
  }

  private func canary(_ id: MessageID) async -> JSONValue? {
    await world.call("GET", "/v1/pushes/\(id.text)/canary").json
  }

  private func acknowledge(_ id: MessageID, _ devices: [RegistrationID]) async throws {
    for device in devices where world.pending(device).contains(id) {
      let number = try #require(world.app.directory.find(device))
      world.router.deliveries.acknowledge([id], by: number, in: world.app)
    }
    try await world.settle()
  }

  @Test func `It goes to the rest after the wait, and says how it does`() async throws {
    let devices = try await world.registerMany(20)
    let id = try await push()
    let running = try #require(await canary(id))
    #expect(running["msg_id"]?.string == id.text && running["state"] == "waiting" && running["share"] == 50)
    #expect(running["wait"] == 60 && running["max_failures"] == 5 && running["target"] == 10)
    #expect(running["rest"] == 10 && running["next_look_at"] != nil && running["ended_at"] == nil)
    try await acknowledge(id, devices)
    #expect(await canary(id)?["succeeded"] == 10)
    world.clock.advance(seconds: 60)
    await world.tick()
    let ended = try #require(await canary(id))
    let rest = try #require(ended["rest_msg_id"]?.string)
    #expect(ended["state"] == "sent" && ended["ended_at"] != nil && ended["next_look_at"] == nil)
    #expect(ended["succeeded"] == 10 && ended["failed"] == 0)
    #expect(devices.filter { world.pending($0).first?.text == rest }.count == 10)
    #expect(await world.call("GET", "/v1/pushes/\(rest)/canary").json == ended)
    #expect(await world.call("POST", "/v1/pushes/\(id.text)/canary/stop").outcome == "400 1003")
    // The app server knows the first ID alone.
    #expect(await world.call("DELETE", "/v3/push/\(id.text)").outcome == "200")
    #expect(devices.allSatisfy { world.pending($0).isEmpty })
  }

  @Test func `It is released and stopped by hand`() async throws {
    let devices = try await world.registerMany(20)
    let id = try await push()
    let released = await world.call("POST", "/v1/pushes/\(id.text)/canary/release")
    #expect(released.outcome == "200" && released.json?["state"] == "released")
    #expect(devices.allSatisfy { world.pending($0).count == 1 })
    let again = await world.call("POST", "/v1/pushes/\(id.text)/canary/release")
    #expect(again.outcome == "400 1003" && message(again).contains("is over"))
    let second = try await push()
    let stopped = await world.call("POST", "/v1/pushes/\(second.text)/canary/stop")
    #expect(stopped.outcome == "200" && stopped.json?["state"] == "stopped")
    #expect(stopped.json?["succeeded"] == nil)
    world.clock.advance(seconds: 3600)
    await world.tick()
    #expect(devices.filter { world.pending($0).contains(second) }.count == 10)
  }

  @Test func `Others' pushes, and those without a canary, have none`() async throws {
    _ = try await world.registerMany(20)
    let (id, other) = (try await push(), try await world.addApp())
    let plain = try #require(await world.push().json?["msg_id"]?.string)
    for (method, path) in [("GET", ""), ("POST", "/release"), ("POST", "/stop")] {
      let foreign = await world.call(method, "/v1/pushes/\(id.text)/canary\(path)", as: other)
      #expect(foreign.outcome == "400 1003" && message(foreign).contains("unknown"), "\(method) \(path)")
      #expect(await world.call(method, "/v1/pushes/\(plain)/canary\(path)").outcome == "400 1003")
      #expect(await world.call(method, "/v1/pushes/x/canary\(path)").outcome == "400 1003")
    }
    #expect(await canary(id)?["state"] == "waiting")
  }

  @Test func `Validate says what a push would be refused for`() async throws {
    _ = try await world.registerMany(19)
    func validate(_ options: String, to audience: String = #""all""#) async -> HTTPResponse {
      await world.call(
        "POST", "/v3/push/validate",
        #"{"platform":"all","audience":\#(audience),"notification":{"alert":"x"},"options":\#(options)}"#)
    }
    #expect(await validate(#"{"canary":{"share":50}}"#).outcome == "200")
    let small = await validate(#"{"canary":{"share":49}}"#)
    #expect(
      small.outcome == "400 1003" && message(small).contains("at least 20 devices"), "\(message(small))")
    for options in [
      #"{"canary":{"share":51}}"#, #"{"canary":{"wait":7}}"#, #"{"canary":true}"#,
      #"{"canary":{"share":50},"big_push_duration":5}"#, #"{"canary":{"share":50},"override_msg_id":5}"#,
      #"{"canary":{"share":50},"test_model":true}"#, #"{"canary":{"share":50},"time_to_live":60}"#,
    ] {
      let answer = await validate(options)
      #expect(answer.outcome == "400 1003", "\(options) \(message(answer))")
    }
    #expect(await validate(#"{"canary":{"part":50}}"#).outcome == "400 1009")
    #expect(await validate(#"{"Canary":{"share":50}}"#).outcome == "400 1009")
  }

  @Test func `A repeated request has the first one's answer`() async throws {
    let devices = try await world.registerMany(20)
    let cid = try #require(await world.call("GET", "/v3/push/cid").json?["cidlist"]?.array?.first?.string)
    let first = await world.push(#""cid":"\#(cid)",\#(Self.members)"#)
    let again = await world.push(#""cid":"\#(cid)",\#(Self.members)"#)
    #expect(first.outcome == "200" && again.json?["msg_id"] == first.json?["msg_id"])
    #expect(devices.filter { world.pending($0).count == 1 }.count == 10)
  }

  @Test func `Schedules have canaries, but none zone by zone`() async throws {
    let devices = try await world.registerMany(20)
    let push = #"{"platform":"all","audience":"all",\#(Self.members)}"#
    let schedule = await world.makeSchedule(world.single(in: 60), push: push)
    world.clock.advance(seconds: 61)
    await world.tick()
    #expect(await world.runs(of: schedule) == ["0"])
    #expect(devices.filter { world.pending($0).count == 1 }.count == 10)
    let id = try #require(devices.compactMap { world.pending($0).first }.first)
    try await acknowledge(id, devices)
    world.clock.advance(seconds: 60)
    await world.tick()
    #expect(await canary(id)?["state"] == "sent")
    #expect(devices.filter { world.pending($0).count == 1 }.count == 10)
  }

  @Test func `Approval and the limit of broadcasts count the whole audience once`() async throws {
    let devices = try await world.registerMany(20)
    try await world.setBrakes(BrakesRow(approvalAbove: 15, includesServers: true), of: world.app)
    // Ten devices would get it, and twenty are meant.
    #expect(await world.push(Self.members).outcome == "403 2005")
    try await world.setBrakes(BrakesRow(), of: world.app)
    try await world.setPlan(PlanRow(name: "few", broadcasts: 1))
    let id = try await push()
    #expect(await world.call("POST", "/v1/pushes/\(id.text)/canary/release").json?["state"] == "released")
    #expect(devices.allSatisfy { world.pending($0).count == 1 })
    #expect(await world.push(Self.members).json?["error"]?["code"] == 2008)
  }

  @Test func `An A/B test and an app group have none`() async throws {
    let devices = try await world.registerMany(20)
    let test = await world.call(
      "POST", "/v1/abtests",
      #"{"name":"n","contents":[{"alert":"a"},{"alert":"b"}],"share":50,"after":60,"audience":"all"}"#)
    let number = try #require(test.json?["id"]?.string)
    let compared = await world.push(Self.members, to: #"{"abtest":["\#(number)"]}"#)
    #expect(compared.outcome == "400 1003" && message(compared).contains("options.canary"))
    let group = try await world.makeGroup([world.app])
    let grouped = await world.call(
      group, "POST", "/v3/grouppush", #"{"platform":"all","audience":"all",\#(Self.members)}"#)
    #expect(String(decoding: grouped.body, as: UTF8.self).contains("app groups"), "\(grouped.outcome)")
    #expect(devices.allSatisfy { world.pending($0).isEmpty })
  }
}
