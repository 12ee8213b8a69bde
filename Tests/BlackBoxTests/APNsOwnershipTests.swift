import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// A token changes its owner while a push waits for another try: nobody gets what was meant for somebody
/// else.
@Suite struct APNsOwnershipTests {
  /// What keeps the push from Apple.
  enum Trouble: CaseIterable { case internalError, unavailable, down, lostAnswer }

  /// What happens to the token meanwhile.
  enum Move: CaseIterable { case otherDevice, reinstall, otherReports, newToken }

  private static let cases = Trouble.allCases.flatMap { trouble in Move.allCases.map { (trouble, $0) } }

  private func begin(_ trouble: Trouble, in world: APNsWorld) throws {
    switch trouble {
    case .internalError: try world.script(["action": "answer", "reason": "InternalServerError"])
    case .unavailable: try world.script(["action": "answer", "reason": "ServiceUnavailable"])
    case .lostAnswer: try world.script(["action": "reset", "code": 2])
    case .down: try world.killSimulator()
    }
  }

  private func end(_ trouble: Trouble, in world: APNsWorld) throws {
    if trouble == .down { try world.startSimulator() } else { try world.endScript() }
  }

  private func reportToken(
    _ token: String, as kind: APNsTokenKind, of device: TestDevice.Identity, in world: APNsWorld
  )
    throws
  {
    let slot = try #require(APNsTokenSlot(kind, name: kind.isNamed ? "game" : ""))
    let bytes = DeviceToken(.production, try #require(Hex.decode(token)))
    let connection = try TestDevice.login(world.server.device, app: world.app.key, device)
    let operation: Operation =
      kind == .device ? .setToken(bytes) : .setOtherToken(OtherToken(slot, bytes))
    try connection.send(.operation(sequence: 1, operation))
    #expect(try connection.next() == .result(sequence: 1, code: .ok, payload: []))
  }

  @Test(arguments: cases)
  func `A push that is tried again follows its device, not the token`(_ trouble: Trouble, _ move: Move) throws
  {
    let world = try APNsWorld(devices: 2)
    let (old, new) = (APNsWorld.token(0), String(repeating: "b", count: 64))
    try begin(trouble, in: world)
    let push = try world.push("for the first")
    if trouble != .down {
      try world.wait("the first try") { !APNsWorld.entries(world.entries, of: push).isEmpty }
    }
    switch move {
    case .otherDevice: _ = try world.register(token: old, fingerprint: "another phone")
    case .reinstall: _ = try world.register(token: old)
    case .otherReports: try reportToken(old, as: .device, of: world.devices[1], in: world)
    case .newToken: try reportToken(new, as: .device, of: world.devices[0], in: world)
    }
    // What comes from here on comes after the move.
    let before = world.entries.count
    try end(trouble, in: world)
    let end = try world.end(of: push)
    #expect(end == (move == .newToken ? .delivered : .init(waiting: 0, results: ["NoToken": 1])))
    try world.waitForRest()
    let later = APNsWorld.entries(Array(world.entries.dropFirst(before)), of: push)
    #expect(later.allSatisfy { $0.token == new }, "the token is somebody else's by now")
    // The token works for its new owner.
    if move == .otherReports {
      let own = try world.push("for the second", to: 1)
      #expect(try world.end(of: own) == .delivered)
      try world.wait("its line") { APNsWorld.entries(world.entries, of: own).contains { $0.token == old } }
    }
  }

  /// Many wait in memory with tokens that were read before: these are read again as well.
  @Test func `What was read before a move is not sent`() throws {
    let world = try APNsWorld(devices: 2)
    try world.killSimulator()
    let pushes = try (0..<40).map { _ in try world.push("for the first") }
    let call = try world.server.call(
      "POST", "/v3/push", as: world.app,
      body: ["platform": ["ios"], "audience": "all", "notification": ["ios": ["alert": "for both"]]])
    let broadcast = try #require(call.document?["msg_id"]?.string)
    try reportToken(APNsWorld.token(0), as: .device, of: world.devices[1], in: world)
    try world.startSimulator()
    for push in pushes {
      #expect(try world.end(of: push) == .init(waiting: 0, results: ["NoToken": 1]))
    }
    #expect(try world.end(of: broadcast).results == ["delivered": 1, "NoToken": 1])
    #expect(world.entries.allSatisfy { $0.text == "for both" && $0.token == APNsWorld.token(0) })
  }

  /// Calls and Live Activities have tokens of their own, which move in the same way.
  @Test(arguments: [APNsTokenKind.voip, .liveActivity, .liveActivityStart])
  func `Tokens for calls and activities are read again`(kind: APNsTokenKind) throws {
    let world = try APNsWorld(devices: 2)
    let token = String(repeating: "c", count: 64)
    try reportToken(token, as: kind, of: world.devices[0], in: world)
    try world.killSimulator()
    var body: JSONValue = [
      "platform": "all", "audience": "all", "notification": ["voip": ["caller": "Anna"]],
    ]
    let activity: JSONValue = ["event": "update", "content-state": ["a": 1]]
    let start: JSONValue = [
      "event": "start", "attributes-type": "game", "attributes": [:], "content-state": ["a": 1],
      "alert": ["title": "x"],
    ]
    if kind == .liveActivity {
      body = [
        "platform": "all", "audience": ["live_activity_id": "game"], "live_activity": ["ios": activity],
      ]
    } else if kind == .liveActivityStart {
      body = ["platform": "all", "audience": "all", "live_activity": ["ios": start]]
    }
    let call = try world.server.call("POST", "/v3/push", as: world.app, body: body)
    let push = try #require(call.document?["msg_id"]?.string, "\(call.body)")
    try reportToken(token, as: kind, of: world.devices[1], in: world)
    try world.startSimulator()
    let way = kind == .voip ? "calls" : "apns"
    try world.wait("the end") {
      try world.server.call("GET", "/v1/pushes/\(push)", as: world.app).document?[way]?["waiting"] == 0
    }
    let report = try world.server.call("GET", "/v1/pushes/\(push)", as: world.app).document
    #expect(report?[way]?["results"]?["NoToken"]?.int64 == 1, "\(String(describing: report))")
    #expect(APNsWorld.entries(world.entries, of: push).isEmpty)
  }
}
