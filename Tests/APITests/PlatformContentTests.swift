import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// A push reaches only devices of platforms for which it has something, whichever way it comes.
@Suite(.timeLimit(.minutes(1))) struct PlatformContentTests {
  private static let content = #""platform":"all","notification":{"ios":{"alert":"i"}}"#

  private let world: GatewayWorld
  private let android: RegistrationID
  private let phone: RegistrationID

  init() async throws {
    world = try await GatewayWorld()
    android = try await world.register()
    phone = try await world.register(platform: .ios)
    for (device, alias) in [(android, "anna"), (phone, "ben")] {
      _ = await world.call(
        "POST", "/v3/devices/\(device.text)", #"{"alias":"\#(alias)","tags":{"add":["\#(alias)"]}}"#)
    }
  }

  private func post(_ path: String, to audience: String, _ more: String = "") async -> HTTPResponse {
    await world.call("POST", path, #"{\#(Self.content),"audience":\#(audience)\#(more)}"#)
  }

  @Test func `Devices without content are no targets, and no report counts them`() async throws {
    let id = try #require(await post("/v3/push", to: #""all""#).messageID)
    #expect(world.pending(android) == [] && world.pending(phone) == [id])
    let number = try #require(world.app.directory.find(phone))
    world.router.deliveries.acknowledge([id], by: number, in: world.app)
    try await world.settle()

    func get(_ path: String) async -> JSONValue? { await world.call("GET", path).json }
    let push = await get("/v1/pushes/\(id.text)")
    #expect(push?["targets"] == 1 && push?["delivered"] == 1 && push?["status"] == "delivered")
    #expect(push?["connection"]?["targets"] == 1)
    let received = await get("/v3/received?msg_ids=\(id.text)")?.array?.first
    #expect(received?["android_received"]?.int64 ?? 0 == 0 && received?["ios_msg_received"] == 1)
    let messages = await get("/v3/messages?msg_ids=\(id.text)")?.array?.first
    #expect(messages?["android"]?["target"]?.int64 ?? 0 == 0 && messages?["ios"]?["target"] == 1)
    let detail = await get("/v3/messages/detail?msg_ids=\(id.text)")?.array?.first
    #expect(detail?["jpush"]?["target"]?.int64 ?? 0 == 0)
    #expect(detail?["details"]?["notification"]?["target"] == 1)
    let status = await world.call(
      "POST", "/v3/status/message",
      #"{"msg_id":\#(id.text),"registration_ids":["\#(android.text)","\#(phone.text)"]}"#)
    #expect(status.json?[android.text]?["status"] == 3 && status.json?[phone.text]?["status"] == 0)
    let why = await get("/v1/pushes/\(id.text)/why?registration_id=\(android.text)")
    #expect(why?["first_failure"] == "platform")
    let step = why?["steps"]?.array?.first { $0["step"] == "platform" }
    #expect(step?["cause"] == "nothing_for_platform")
  }

  @Test(arguments: ["/v3/push", "/v3/push/validate"])
  func `A push to devices without content alone is one to nobody`(path: String) async throws {
    for audience in [
      #"{"registration_id":["\#(android.text)"]}"#, #"{"alias":["anna"]}"#, #"{"tag":["anna"]}"#,
      #"{"tag_not":["ben"]}"#,
    ] {
      #expect(await post(path, to: audience).outcome == "400 1011", "\(audience)")
    }
    #expect(await post(path, to: #"{"alias":["anna","ben"]}"#).status == 200)
    for options in [#""strategy":3"#, #""time_to_live":0"#, #""big_push_duration":10"#] {
      let more = #","options":{\#(options)}"#
      #expect(await post(path, to: #"{"alias":["anna"]}"#, more).outcome == "400 1011", "\(options)")
    }
    #expect(world.pending(android) == [])
  }

  @Test func `Batches, files and test pushes know no other targets`() async throws {
    let key = world.app.key.text
    func entry(_ number: Int, _ target: String) -> String {
      #""\#(key)-\#(number)":{"target":"\#(target)",\#(Self.content)}"#
    }
    let batch = await world.call(
      "POST", "/v3/push/batch/alias/single", #"{"pushlist":{\#(entry(1, "anna")),\#(entry(2, "ben"))}}"#)
    #expect(batch.json?["\(key)-1"]?["error"]?["code"] == 1011)
    #expect(batch.json?["\(key)-2"]?["msg_id"]?.string != nil)

    for (alias, expected) in [("anna", "400 1011"), ("anna\nben", "200")] {
      let file = await world.upload("alias", alias).json?["file_id"]?.string ?? "none"
      let pushed = await post("/v3/push/file", to: #"{"file":{"file_id":"\#(file)"}}"#)
      #expect(pushed.outcome == expected)
    }

    let test = #","options":{"test_model":true}"#
    for (device, expected) in [(android, "400 1011"), (phone, "200")] {
      let body = #"{"device_name":"Phone","registration_id":"\#(device.text)"}"#
      _ = await world.call("POST", "/v3/test/model/add", body)
      #expect(await post("/v3/push", to: #""all""#, test).outcome == expected)
    }
    #expect(world.pending(android) == [] && world.pending(phone).count == 3)
  }

  @Test func `An app of a group without such devices gets no push`() async throws {
    let second = try await world.addApp()
    _ = try await world.register(in: second)
    let group = try await world.makeGroup([world.app, second])
    let answer = await world.call(
      group, "POST", "/v3/grouppush", #"{\#(Self.content),"audience":"all"}"#)
    #expect(answer.json?[world.app.key.text]?["msg_id"]?.string != nil)
    #expect(answer.json?[second.key.text]?["error"]?["code"] == 1011)
    #expect(world.pending(android) == [] && world.pending(phone).count == 1)
  }

  @Test func `A schedule without such devices notes that nobody matched`() async throws {
    func schedule(_ audience: String) async -> String {
      await world.makeSchedule(
        world.single(in: 10), push: #"{\#(Self.content),"audience":\#(audience)}"#)
    }
    let (some, none) = (await schedule(#""all""#), await schedule(#"{"alias":["anna"]}"#))
    world.clock.advance(seconds: 10)
    await world.tick()
    #expect(await world.runs(of: some) == ["0"])
    #expect(await world.runs(of: none) == ["1011"])
    #expect(world.pending(android) == [] && world.pending(phone).count == 1)
  }

  @Test func `Devices without content cost no speed`() async throws {
    try await world.setPlan(PlanRow(name: "slow", speed: 2))
    #expect(await post("/v3/push", to: #""all""#).status == 200)
    // Whoever would have to wait is refused.
    world.router.endWaiting()
    #expect(await post("/v3/push", to: #""all""#).status == 200)
  }
}
