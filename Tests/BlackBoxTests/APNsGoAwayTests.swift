import BorealisBase
import PushTesting
import Testing

/// What Apple says as it ends connections, and pushes that are recalled while it is asked.
@Suite struct APNsGoAwayTests {
  /// A GOAWAY after every hundredth push is followed at once by a new connection; nothing waits longer each
  /// time.
  @Test func `3,000 pushes with a GOAWAY after every hundredth`() throws {
    let world = try APNsWorld(devices: 60)
    // One push to fifty and more, so that many are under way at the same time.
    try world.script(["action": "goaway", "each_connection": true, "every": 100, "reason": "Shutdown"])
    let body: JSONValue = [
      "platform": ["ios"], "audience": "all", "notification": ["ios": ["alert": "x"]],
    ]
    var pushes: [String] = []
    for _ in 0..<50 {
      let call = try world.server.call("POST", "/v3/push", as: world.app, body: body)
      pushes.append(try #require(call.document?["msg_id"]?.string))
    }
    for push in pushes {
      #expect(try world.end(of: push) == .init(waiting: 0, results: ["delivered": 60]))
    }
    let totals = try world.order("GET", "/totals")
    #expect(totals["connections"]?.int64 ?? 0 >= 29)
    #expect(totals["duplicate_ids"]?.int64 == 0 && totals["accepted"]?.int64 == 3000)
    // Nothing was put off: waits would show as retries.
    #expect(!world.server.program.errors.contains("no connection to APNs"))
  }

  /// The reason says that the credential is bad: the alarm is raised, and nobody connects again and again.
  @Test(arguments: ["InvalidProviderToken", "BadCertificate", "BadEnvironmentKeyIdInToken"])
  func `A GOAWAY about the credential pauses it`(reason: String) throws {
    let world = try APNsWorld()
    try world.script([
      "action": "goaway", "each_connection": true, "last": "before", "reason": .string(reason),
    ])
    let push = try world.push()
    try world.wait("the alarm") { try world.service()["state"] == "stopped" }
    #expect(try world.service()["problem"]?.string?.contains(reason) == true)
    let connections = try world.order("GET", "/totals")["connections"]?.int64 ?? 0
    #expect(connections <= 2, "\(connections)")
    let paused = try world.credential(["list", world.app.key])
    #expect(paused.output.contains(reason), "\(paused.output)")
    // Somebody has mended it.
    try world.endScript()
    #expect(try world.credential(["resume", world.app.key, "1"]).status == 0)
    #expect(try world.end(of: push) == .delivered)
  }

  /// Those whom Apple is being asked for when a push is recalled are no recalled ones, if Apple then takes
  /// it.
  @Test func `Recalling a push counts nobody for whom Apple took it`() throws {
    let world = try APNsWorld(devices: 80, simulator: ["--streams", "30"])
    try world.script(["action": "delay", "delay_ms": 700])
    let call = try world.server.call(
      "POST", "/v3/push", as: world.app,
      body: ["platform": ["ios"], "audience": "all", "notification": ["ios": ["alert": "x"]]])
    let push = try #require(call.document?["msg_id"]?.string)
    try world.wait("some of them") { world.entries.count >= 20 }
    let recall = try world.server.call("DELETE", "/v3/push/\(push)", as: world.app)
    #expect(recall.status == 200, "\(recall.body)")
    let end = try world.end(of: push)
    try world.waitForRest()
    let accepted = Int64(APNsWorld.entries(world.entries, of: push).count { $0.isAccepted })
    #expect(accepted < 80 && end.results == ["delivered": accepted, "TakenBack": 80 - accepted])
    let report = try #require(try world.server.call("GET", "/v1/pushes/\(push)", as: world.app).document)
    #expect(report["recalled"]?.int64 == 80 - accepted, "\(report)")
    #expect(report["delivered"]?.int64 == accepted, "\(report)")
  }
}
