import BorealisBase
import Channels
import Core
import HTTP
import Model
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Storage

/// `GET /v1/pushes/{msg_id}/why`.
@Suite struct WhyAPITests {
  private static func alias(_ alias: String, of id: RegistrationID, in world: GatewayWorld) async {
    let answer = await world.call("POST", "/v3/devices/\(id.text)", #"{"alias":"\#(alias)"}"#)
    #expect(answer.status == 200)
  }

  @Test func `The answer names step, cause and remedy, in the language that is asked for`() async throws {
    let world = try await GatewayWorld()
    world.router.add(CredentialedChannel())
    let (anna, late) = (try await world.register(), try await world.register())
    await Self.alias("anna", of: anna, in: world)
    world.clock.advance(seconds: 5)
    let sent = await world.push(to: #"{"alias":["anna"]}"#)
    let id = try #require(sent.json?["msg_id"]?.string)
    world.clock.advance(seconds: 5)
    await Self.alias("anna", of: late, in: world)
    try await world.settle()

    let path = "/v1/pushes/\(id)/why?registration_id="
    let json = try #require(await world.call("GET", path + late.text).json)
    #expect(json["msg_id"]?.string == id && json["registration_id"]?.string == late.text)
    #expect(json["conclusion"]?.string == "failed" && json["first_failure"]?.string == "audience")
    let steps = json["steps"]?.array ?? []
    #expect(
      steps.compactMap { $0["step"]?.string } == [
        "accepted", "device", "platform", "audience", "sender", "release", "credential", "token", "apple",
        "connection", "lifetime", "permission", "shown", "callback",
      ])
    let step = try #require(steps.first { $0["step"] == "audience" })
    #expect(step["verdict"] == "failed" && step["cause"] == "alias_bound_later" && step["detail"] == "anna")
    #expect(step["remedy"] == "bind_first" && step["at"] == "2026-09-21T14:13:30.000Z")
    #expect(step["text"]?.string == WhyCause.aliasBoundLater.text.english)
    let chinese = try #require(await world.call("GET", path + late.text + "&lang=zh").json)
    #expect(chinese["text"]?.string == WhyConclusion.failed.text.chinese)

    let waiting = try #require(await world.call("GET", path + anna.text).json)
    #expect(waiting["conclusion"] == "waiting" && waiting["first_failure"]?.isNull == true)
  }

  @Test func `A device may be named by its alias, if that is its alone`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(2)
    let id = try #require(await world.push().json?["msg_id"]?.string)
    await Self.alias("anna", of: devices[0], in: world)
    let path = "/v1/pushes/\(id)/why?registration_id="
    #expect(await world.call("GET", path + "anna").json?["registration_id"]?.string == devices[0].text)
    await Self.alias("anna", of: devices[1], in: world)
    let several = await world.call("GET", path + "anna")
    #expect(several.outcome == "400 3002")
    let message = several.json?["error"]?["message"]?.string ?? ""
    #expect(devices.allSatisfy { message.contains($0.text) })
  }

  @Test func `Whoever is unknown is said to be; pushes of others are not there`() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    let id = try #require(await world.push().json?["msg_id"]?.string)
    let path = "/v1/pushes/\(id)/why?registration_id="
    let outsider = try #require(await world.call("GET", path + "0123456789abcdef012").json)
    #expect(outsider["first_failure"] == "device" && outsider["registration_id"] == "0123456789abcdef012")
    let other = try await world.addApp()
    #expect(await world.call("GET", path + "x", as: other).outcome == "400 3002")
    #expect(await world.call("GET", "/v1/pushes/1/why?registration_id=x").outcome == "400 3002")
    #expect(await world.call("GET", "/v1/pushes/x/why?registration_id=x").outcome == "400 3002")
    #expect(await world.call("GET", "/v1/pushes/\(id)/why").outcome == "400 3002")
    #expect(await world.call("GET", path + "x", authorization: nil).status == 401)
  }

  @Test func `What an app lacks for a channel is found, one thing after the other`() async throws {
    let world = try await GatewayWorld()
    let channel = CredentialedChannel()
    world.router.add(channel)
    let phone = try await world.register(platform: .ios)
    let id = try #require(await world.push().json?["msg_id"]?.string)
    try await world.settle()
    func first() async throws -> String {
      let json = await world.call("GET", "/v1/pushes/\(id)/why?registration_id=\(phone.text)").json
      let name = json?["first_failure"]?.string
      #expect(json?["conclusion"] == "waiting")
      let step = json?["steps"]?.array?.first { $0["step"]?.string == name }
      return "\(name ?? "-"): \(step?["cause"]?.string ?? "-")"
    }
    #expect(try await first() == "credential: no_credential")
    channel.status.withLock { $0 = .expired(world.clock.now().adding(seconds: -1)) }
    #expect(try await first() == "credential: credential_expired")
    channel.status.withLock { $0 = .ready(topic: "com.example.app") }
    #expect(try await first() == "token: no_token")
  }

  @Test func `A server that cannot be told is found behind all else`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let other = try await world.register()
    let callback = #""notification":{"alert":"x"},"callback":{"url":"https://app.example.com/events"}"#
    let id = try #require(await world.push(callback).json?["msg_id"]?.string)
    let number = try #require(world.app.directory.find(device))
    try await world.storeEvent("event-1")
    let app = world.app.id
    func fail(_ state: Int, _ error: StaticString) async throws {
      try await world.store.change { transaction throws(StorageError) in
        try transaction.database.run(
          "UPDATE callback_batch SET attempts = 3, error = ?, state = ? WHERE app_id = ?",
          .text("\(error)"), .integer(state), .app(app))
      }
    }
    func last(_ device: RegistrationID) async throws -> JSONValue? {
      try await world.settle()
      let json = await world.call("GET", "/v1/pushes/\(id)/why?registration_id=\(device.text)").json
      #expect((json?["first_failure"] == "callback") == (json?["steps"]?.array?.last?["verdict"] == "failed"))
      return json?["steps"]?.array?.last
    }
    // What goes wrong with telling of something else is not this push's trouble.
    try await fail(0, "refused")
    world.router.deliveries.acknowledge(
      [try #require(MessageID(decimal: Array(id.utf8)))], by: number, in: world.app)
    #expect(try await last(device)?["verdict"] == "ok")
    try await fail(0, "refused")
    let failing = try await last(device)
    #expect(failing?["cause"] == "callback_failing" && failing?["detail"] == "refused")
    #expect(try await last(other)?["verdict"] == "ok", "nor what is told of another device")
    try await fail(2, "HTTP 500")
    #expect(try await last(device)?["cause"] == "callback_given_up")
  }

  @Test func `Asking takes no pushes away`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let first = await world.push()
    let id = try #require(first.json?["msg_id"]?.string)
    for _ in 0..<5 {
      _ = await world.call("GET", "/v1/pushes/\(id)/why?registration_id=\(device.text)")
    }
    let left = [first, await world.push()].compactMap {
      $0.headers["x-rate-limit-remaining"].flatMap { Int($0) }
    }
    #expect(left.count == 2 && left[1] == left[0] - 1)
  }
}

/// Plays APNs: its credential stands as the test says.
private final class CredentialedChannel: ServiceChannel {
  let status = Mutex(WhyFacts.Credential.missing)
  let info = ChannelInfo.apns
  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] { [] }
  func deliver(_ push: ChannelPush) {}
  func slot(for content: PushContent) -> TokenSlot? { content.apnsSlot }
  func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential { status.withLock { $0 } }
}
