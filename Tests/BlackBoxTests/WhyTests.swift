import BorealisBase
import BorealisProtocol
import Glibc
import Testing

/// Why pushes did not arrive, asked of a real server after real failures.
@Suite struct WhyTests {
  private static func why(_ push: String, _ device: String, in world: APNsWorld) throws -> JSONValue {
    let call = try world.server.call(
      "GET", "/v1/pushes/\(push)/why?registration_id=\(device)", as: world.app)
    return try #require(call.document, "\(call.body)")
  }

  private static func step(_ name: String, of answer: JSONValue) -> JSONValue? {
    answer["steps"]?.array?.first { $0["step"]?.string == name }
  }

  @Test func `Apple does not know the token, and says so for the device`() throws {
    let world = try APNsWorld(devices: 2)
    // A token that works shows that the credential is right.
    let good = try world.push(to: 1)
    #expect(try world.end(of: good) == .delivered)
    try world.script(["action": "answer", "reason": "BadDeviceToken"])
    let push = try world.push()
    #expect(try world.end(of: push).results == ["BadDeviceToken": 1])
    let answer = try Self.why(push, world.devices[0].id.text, in: world)
    #expect(answer["first_failure"] == "apple" && answer["conclusion"] == "failed")
    let step = try #require(Self.step("apple", of: answer))
    #expect(step["cause"] == "wrong_environment" && step["remedy"] == "match_environment")
    // With the environment, until the token is retired.
    #expect(step["detail"]?.string?.hasPrefix("BadDeviceToken") == true)
    #expect(Self.step("credential", of: answer)?["detail"] == "com.example.app")
    // A device is known by its token as well.
    let same = try Self.why(good, APNsWorld.token(1), in: world)
    #expect(same["registration_id"]?.string == world.devices[1].id.text)
  }

  @Test func `The app is gone from the device: the token is retired, and later pushes say that`() throws {
    let world = try APNsWorld()
    // Each time: a push that Apple takes after a refusal would show that the token is good.
    try world.script(["action": "answer", "reason": "Unregistered"])
    let push = try world.push()
    #expect(try world.end(of: push).results == ["Unregistered": 1])
    let device = world.devices[0].id.text
    #expect(Self.step("apple", of: try Self.why(push, device, in: world))?["cause"] == "token_gone")
    try world.wait("the token to be retired") {
      let next = try Self.why(try world.push(), device, in: world)
      return Self.step("token", of: next)?["cause"] == "token_retired"
    }
  }

  @Test func `Apple refuses the key: what waits says that the credential is stopped`() throws {
    let world = try APNsWorld()
    try world.script(["action": "answer", "reason": "InvalidProviderToken"])
    let push = try world.push()
    try world.wait("the pause") {
      let answer = try Self.why(push, world.devices[0].id.text, in: world)
      return answer["first_failure"] == "credential" && answer["conclusion"] == "waiting"
    }
    let answer = try Self.why(push, world.devices[0].id.text, in: world)
    #expect(Self.step("credential", of: answer)?["cause"] == "credential_stopped")
  }

  @Test func `Apple took it`() throws {
    let world = try APNsWorld()
    let push = try world.push()
    #expect(try world.end(of: push) == .delivered)
    let answer = try Self.why(push, world.devices[0].id.text, in: world)
    #expect(answer["conclusion"] == "handed_over" && answer["first_failure"]?.isNull == true)
    #expect(Self.step("shown", of: answer)?["cause"] == "not_reported")
  }
}
