import BorealisBase
import BorealisProtocol
import Dispatch
import Glibc
import PushTesting
import Synchronization
import Testing

/// What may happen once only: a call rings, a Live Activity starts, a number is taken for the icon.
@Suite struct APNsOnceTests {
  private func reportToken(_ kind: APNsTokenKind, _ token: String, in world: APNsWorld) throws {
    let slot = try #require(APNsTokenSlot(kind, name: kind.isNamed ? "game" : ""))
    let bytes = DeviceToken(.production, try #require(Hex.decode(token)))
    let connection = try TestDevice.login(world.server.device, app: world.app.key, world.devices[0])
    try connection.send(.operation(sequence: 1, .setOtherToken(OtherToken(slot, bytes))))
    #expect(try connection.next() == .result(sequence: 1, code: .ok, payload: []))
  }

  private func post(_ body: JSONValue, in world: APNsWorld) throws -> String {
    let call = try world.server.call("POST", "/v3/push", as: world.app, body: body)
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  private func report(on push: String, in world: APNsWorld) throws -> JSONValue {
    try #require(try world.server.call("GET", "/v1/pushes/\(push)", as: world.app).document)
  }

  private static func body(_ kind: APNsTokenKind, options: JSONValue = [:]) -> JSONValue {
    let start: JSONValue = [
      "event": "start", "attributes-type": "game", "attributes": [:], "content-state": ["a": 1],
      "alert": ["title": "x"],
    ]
    return kind == .voip
      ? [
        "platform": "all", "audience": "all", "notification": ["voip": ["caller": "Anna"]],
        "options": options,
      ]
      : ["platform": "all", "audience": "all", "live_activity": ["ios": start], "options": options]
  }

  // MARK: Calls and starts

  /// The connection breaks after the request was written, or the stream is reset: it may have rung.
  @Test(arguments: [APNsTokenKind.voip, .liveActivityStart], ["cut", "reset"])
  func `A lost answer is not made up for`(kind: APNsTokenKind, action: String) throws {
    let world = try APNsWorld()
    try reportToken(kind, String(repeating: "c", count: 64), in: world)
    try world.script(["action": .string(action), "code": 2, "accepted": true, "times": 1])
    let push = try post(Self.body(kind), in: world)
    let way = kind == .voip ? "calls" : "apns"
    try world.wait("the end") { try report(on: push, in: world)[way]?["waiting"] == 0 }
    #expect(try report(on: push, in: world)[way]?["results"] == ["NoAnswer": 1])
    // Something that comes after it shows that nothing else is to come.
    #expect(try world.end(of: try world.push()) == .delivered)
    try world.waitForRest()
    #expect(APNsWorld.entries(world.entries, of: push).count == 1)
  }

  /// The server is killed while Apple has the request: after the restart nobody knows, so nothing is sent.
  @Test func `A call that Apple may have is not sent again after a crash`() throws {
    let world = try APNsWorld()
    try reportToken(.voip, String(repeating: "c", count: 64), in: world)
    try world.script(["action": "silence", "accepted": true])
    let push = try post(Self.body(.voip), in: world)
    try world.wait("the request") { APNsWorld.entries(world.entries, of: push).count == 1 }
    try world.restartServer(SIGKILL)
    try world.endScript()
    try world.wait("the end") { try report(on: push, in: world)["calls"]?["waiting"] == 0 }
    #expect(try report(on: push, in: world)["calls"]?["results"] == ["NoAnswer": 1])
    #expect(APNsWorld.entries(world.entries, of: push).count == 1)
  }

  @Test func `What Apple has refused to process is sent again`() throws {
    let world = try APNsWorld()
    try reportToken(.voip, String(repeating: "c", count: 64), in: world)
    try world.script(["action": "reset", "code": 7, "times": 2])
    let push = try post(Self.body(.voip), in: world)
    try world.wait("the end") { try report(on: push, in: world)["calls"]?["waiting"] == 0 }
    #expect(try report(on: push, in: world)["calls"]?["results"] == ["delivered": 1])
  }

  // MARK: Numbers for the icon

  private static let badge: JSONValue = ["ios": ["alert": "x", "badge": "+1"]]

  /// The numbers that the simulator has taken, in the order of the pushes.
  private func badges(of pushes: [String], token: String, in world: APNsWorld) throws -> [Int64] {
    for push in pushes {
      try world.wait("push \(push)") { try world.status(of: push).waiting == 0 }
    }
    return try pushes.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count }.map { push in
      var found: Int64?
      try world.wait("the line of \(push)") {
        found =
          APNsWorld.entries(world.entries, of: push)
          .first { $0.isAccepted && $0.token == token }?.json["payload"]?["aps"]?["badge"]?.int64
        return found != nil
      }
      return found ?? -1
    }
  }

  /// Posts so many pushes at once over as many connections.
  private func postAtOnce(_ count: Int, audience: JSONValue, in world: APNsWorld) throws -> [String] {
    let found = Mutex<[String]>([])
    let (server, app) = (world.server, world.app)
    DispatchQueue.concurrentPerform(iterations: count) { _ in
      let call = try? server.call(
        "POST", "/v3/push", as: app,
        body: ["platform": ["ios"], "audience": audience, "notification": Self.badge])
      guard let id = call?.document?["msg_id"]?.string else { return }
      found.withLock { $0.append(id) }
    }
    let pushes = found.withLock { $0 }
    try #require(pushes.count == count)
    return pushes
  }

  @Test(arguments: [false, true])
  func `As many pushes at once show as many numbers, ascending`(toAll: Bool) throws {
    let world = try APNsWorld(devices: toAll ? 70 : 1)
    let id = JSONValue.string(world.devices[0].id.text)
    let pushes = try postAtOnce(40, audience: toAll ? "all" : ["registration_id": [id]], in: world)
    #expect(try badges(of: pushes, token: APNsWorld.token(0), in: world) == Array(1...40))
  }

  /// Numbers are taken once: the push that is sent again after a crash shows the number that it had.
  @Test func `A restart takes no number twice`() throws {
    let world = try APNsWorld()
    let id = JSONValue.string(world.devices[0].id.text)
    try world.script(["action": "silence", "every": 2, "times": 10])
    let first = try postAtOnce(20, audience: ["registration_id": [id]], in: world)
    try world.wait("all requests") { world.entries.count >= 20 }
    try world.restartServer(SIGKILL)
    try world.endScript()
    let second = try postAtOnce(20, audience: ["registration_id": [id]], in: world)
    #expect(try badges(of: first + second, token: APNsWorld.token(0), in: world) == Array(1...40))
    // Also those that were sent twice had the same number both times.
    for push in first {
      #expect(
        Set(APNsWorld.entries(world.entries, of: push).map { $0.json["payload"]?["aps"]?["badge"]?.int64 })
          .count == 1)
    }
  }
}
