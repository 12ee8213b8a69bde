import BorealisBase
import Glibc
import Testing

/// Apple refuses, between real processes: each answer has the consequence that it should have, and is
/// counted.
@Suite struct APNsAnswerTests {
  private func token(_ number: Int) -> JSONValue { .string(APNsWorld.token(number)) }

  private func refused(_ reason: String) -> APNsWorld.Status {
    APNsWorld.Status(waiting: 0, results: [reason: 1])
  }

  private func expectDelivered(_ pushes: [String], in world: APNsWorld) throws {
    for push in pushes { #expect(try world.end(of: push) == .delivered) }
    let counts = try world.acceptances(of: pushes)
    for push in pushes { #expect(counts[push] == 1) }
    try world.waitForRest()
  }

  /// The only credential, as `borealis app channel list` shows it.
  private func credential(_ world: APNsWorld) throws -> JSONValue {
    try #require(try world.credential(["list", world.app.key]).documents.first ?? nil)
  }

  /// `borealis app channel` with a command for the only credential.
  private func order(_ command: String, _ world: APNsWorld) throws {
    let id = try #require(try credential(world)["id"]?.int64)
    let ending = try world.credential([command, world.app.key, "\(id)"])
    #expect(ending.status == 0, "\(ending.errors)")
  }

  private func resume(_ world: APNsWorld) throws { try order("resume", world) }

  /// Waits until the database says that the credential is paused, and tells why.
  private func reasonOfPause(_ world: APNsWorld) throws -> String {
    try world.wait("a pause") { try credential(world)["state"]?.string == "paused" }
    return String(decoding: JSONWriter.serialize(try credential(world)), as: UTF8.self)
  }

  @Test func `Overload: all goes out when it is over, and nothing twice`() throws {
    let world = try APNsWorld(devices: 5)
    try world.script(["action": "answer", "reason": "ServiceUnavailable", "times": 30])
    let pushes = try world.push(count: 60)
    try world.wait("overload") { world.entries.contains { $0.reason == "ServiceUnavailable" } }
    // Whoever does not want to wait for the end of the rule has it end now.
    try world.endScript()
    try expectDelivered(pushes, in: world)
  }

  @Test func `A token that gets too much does not hold up the others`() throws {
    let world = try APNsWorld(devices: 5)
    try world.script(["action": "answer", "reason": "TooManyRequests", "token": token(0)])
    let busy = try world.push("busy", to: 0)
    try world.wait("the refusal") { world.entries.contains { $0.reason == "TooManyRequests" } }
    let others = try (1..<5).map { try world.push("other", to: $0) }
    try expectDelivered(others, in: world)
    #expect(try world.status(of: busy).waiting == 1)
    try world.endScript()
    try expectDelivered([busy], in: world)
  }

  @Test func `An expired provider token is renewed once for all who were refused`() throws {
    let world = try APNsWorld(devices: 5)
    try expectDelivered(try world.push(count: 5), in: world)
    try world.script(["action": "answer", "reason": "ExpiredProviderToken", "times": 1])
    try expectDelivered(try world.push(count: 40), in: world)
    #expect(try credential(world)["state"]?.string == "active")
    #expect(try world.order("GET", "/totals")["provider_tokens"]?.int64 == 2)
  }

  @Test func `An hour passes in seconds for Apple: the token is replaced`() throws {
    let world = try APNsWorld()
    try expectDelivered([try world.push()], in: world)
    // Six seconds are an hour now.
    try world.order("POST", "/policy", ["clock_factor": 600])
    try world.wait("the end of the token") {
      try expectDelivered([try world.push()], in: world)
      return world.entries.contains { $0.reason == "ExpiredProviderToken" }
    }
    #expect(try credential(world)["state"]?.string == "active")
  }

  @Test func `A wrong clock rests the sending, which goes on by itself`() throws {
    let world = try APNsWorld(devices: 5)
    try world.script(["action": "answer", "reason": "ExpiredProviderToken"])
    let pushes = try world.push(count: 10)
    try world.wait("the rest") { try world.service()["problem"]?.string?.contains("clock") == true }
    #expect(try credential(world)["state"]?.string == "active")
    for push in pushes { #expect(try world.status(of: push).waiting == 1) }
    try world.endScript()
    try expectDelivered(pushes, in: world)
    #expect(try world.service()["state"]?.string == "ready")
  }

  @Test(arguments: ["TopicDisallowed", "InvalidProviderToken"])
  func `A credential that does not fit is paused`(reason: String) throws {
    let world = try APNsWorld(devices: 5)
    try world.script(["action": "answer", "reason": .string(reason)])
    let pushes = try world.push(count: 10)
    #expect(try reasonOfPause(world).contains(reason))
    // Also after a restart.
    try world.restartServer()
    for push in pushes { #expect(try world.status(of: push).waiting == 1) }
    try world.endScript()
    try resume(world)
    try expectDelivered(pushes, in: world)
  }

  @Test func `What waits is sent with the credential that comes after the last was removed`() throws {
    let world = try APNsWorld(devices: 2)
    try world.script(["action": "answer", "reason": "TopicDisallowed"])
    let pushes = try world.push(count: 2)
    _ = try reasonOfPause(world)
    try order("remove", world)
    try world.wait("the removal") { try world.service()["state"]?.string != "stopped" }
    for push in pushes { #expect(try world.status(of: push).waiting == 1) }
    try world.endScript()
    try world.setKey()
    try expectDelivered(pushes, in: world)
  }

  @Test func `Without a credential, what has waited for the last one ends with a restart`() throws {
    let world = try APNsWorld(devices: 2)
    try world.script(["action": "answer", "reason": "TopicDisallowed"])
    let lost = try world.push("lost", to: 0)
    let saved = try world.push("saved", to: 1, options: ["strategy": 4])
    _ = try reasonOfPause(world)
    try order("remove", world)
    for push in [lost, saved] { #expect(try world.status(of: push).waiting == 1) }
    try world.restartServer()
    // That the direct connection has it is stored before Apple's part ends.
    for push in [lost, saved] {
      try world.wait("the end of \(push)") { try world.status(of: push) == refused("NoCredential") }
    }
    // The strategy that begins with Apple wants the direct connection then.
    let device = try TestDevice.login(world.server.device, app: world.app.key, world.devices[1])
    #expect(try device.arrival().id == saved)
  }

  @Test func `The end of a token counts only if it is newer than the registration`() throws {
    let world = try APNsWorld(devices: 2)
    let state: (Int, Int64) -> JSONValue = { number, timestamp in
      [
        "token": token(number), "state": "unregistered",
        "timestamp": .number(JSONNumber(timestamp)),
      ]
    }
    // Before the registration, and long after it.
    try world.order(
      "POST", "/tokens", ["tokens": [state(0, 1_577_836_800_000), state(1, 4_000_000_000_000)]])
    let kept = try world.push("kept", to: 0)
    let retired = try world.push("retired", to: 1)
    #expect(try world.end(of: kept) == refused("Unregistered"))
    #expect(try world.end(of: retired) == refused("Unregistered"))
    try world.wait("the end of the token") {
      try world.metric("borealis_apns_tokens_retired_total").map { $0.hasPrefix("1") } ?? false
    }
    try world.order("POST", "/tokens", ["tokens": [["token": token(0), "state": "registered"]]])
    try expectDelivered([try world.push("again", to: 0)], in: world)
    // The other one has the direct connection only.
    let own = try world.push("own", to: 1)
    #expect(try world.status(of: own) == APNsWorld.Status(waiting: 0, results: [:]))
    let device = try TestDevice.login(world.server.device, app: world.app.key, world.devices[1])
    #expect(try device.arrival().id == own)
  }

  @Test func `A token of the other service is moved there`() throws {
    let world = try APNsWorld(hasSandbox: true)
    try world.order("POST", "/tokens", ["tokens": [["token": token(0), "state": "foreign"]]])
    let first = try world.push("first")
    #expect(try world.end(of: first) == .delivered)
    // Both write after they have answered.
    try world.wait("the lines of both services") {
      APNsWorld.entries(world.entries, of: first).count == 1
        && APNsWorld.entries(world.sandboxEntries, of: first).count == 1
    }
    #expect(APNsWorld.entries(world.entries, of: first).map(\.reason) == ["BadDeviceToken"])
    #expect(APNsWorld.entries(world.sandboxEntries, of: first).map(\.isAccepted) == [true])
    try world.wait("the move") {
      let push = try world.push("next")
      _ = try world.end(of: push)
      return APNsWorld.entries(world.entries, of: push).isEmpty
    }
    try world.waitForRest()
  }

  @Test func `If Apple calls all tokens bad, nothing stops and no token is lost`() throws {
    let world = try APNsWorld(devices: 30)
    try world.script(["action": "answer", "reason": "BadDeviceToken"])
    var results: [String: Int64] = [:]
    for push in try world.push(count: 30) {
      results.merge(try world.end(of: push).results, uniquingKeysWith: +)
    }
    #expect(results == ["NotVerified": 30])
    try world.endScript()
    try world.waitForRest()
    try expectDelivered(try world.push(count: 30), in: world)
    #expect(try world.metric("borealis_apns_tokens_retired_total").map { $0.hasPrefix("0") } == true)
  }
}
