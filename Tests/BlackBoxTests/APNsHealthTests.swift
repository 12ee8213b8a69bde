import BorealisBase
import PushTesting
import Testing

/// What is said of the way to Apple is what was seen of it.
@Suite struct APNsHealthTests {
  private func why(_ push: String, in world: APNsWorld) throws -> [JSONValue] {
    let call = try world.server.call(
      "GET", "/v1/pushes/\(push)/why?registration_id=\(world.devices[0].id.text)", as: world.app)
    return call.document?["steps"]?.array ?? []
  }

  @Test func `Unused, unreachable since a moment, and ready when it was seen`() throws {
    let world = try APNsWorld()
    #expect(try world.service()["state"] == "unused")
    #expect(!(try world.server.call("GET", "/metrics").body.contains("borealis_apns_reachable{")))
    try world.killSimulator()
    let push = try world.push()
    try world.wait("the first failure") { try world.service()["state"] == "unreachable" }
    let service = try world.service()
    #expect(service["last_failure"]?.string?.contains("refused") == true, "\(service)")
    #expect(service["since"]?.string != nil && service["last_connected_at"] == nil)
    let steps = try why(push, in: world)
    let step = try #require(steps.first { $0["cause"] == "apple_unreachable" }, "\(steps)")
    #expect(step["verdict"] == "waiting" && step["detail"]?.string?.contains("refused") == true)
    let metrics = try world.server.call("GET", "/metrics").body
    #expect(metrics.contains(#"environment="production"} 0"#))
    #expect(metrics.contains(#"channel="apns",service="production"} 0"#))
    try world.startSimulator()
    #expect(try world.end(of: push) == .delivered)
    let ready = try world.service()
    #expect(ready["state"] == "ready" && ready["last_connected_at"]?.string != nil)
    #expect(ready["last_failure_at"]?.string != nil)
  }

  /// What happened in the night is still known in the morning.
  @Test func `A time without Apple is an incident, with its begin and its end`() throws {
    let world = try APNsWorld()
    try world.killSimulator()
    let push = try world.push()
    func hasLogged(_ line: String) -> Bool { world.server.program.errors.contains(line) }
    try world.wait("the incident") { hasLogged("an incident has begun") }
    #expect(world.server.program.errors.contains("APNs has not been reachable since"))
    // A restart of the server is not its end.
    try world.restartServer()
    try world.startSimulator()
    try world.wait("its end") { hasLogged("an incident is over") }
    #expect(try world.end(of: push) == .delivered)
    #expect(!hasLogged("an incident has begun"))
  }

  /// Not a single push is needed to learn that Apple refuses a key.
  @Test func `A new key is shown to Apple at once`() throws {
    let world = try APNsWorld()
    let path = world.folder.path + "/AuthKey_ZZZZZZZZZZ.p8"
    let made = try RunningProgram(
      ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path],
      of: "/usr/bin/env", environment: ["PATH": "/usr/bin:/bin"]
    ).end()
    try #require(made.status == 0)
    try TestServer.setKey(
      path, team: "DEMOTEAM01", topic: "com.example.app", of: world.app, data: world.server.data)
    var listed = ""
    try world.wait("the refusal") {
      listed = try world.credential(["list", world.app.key]).output
      return listed.contains("InvalidProviderToken")
    }
    // The one before it is used again, and was found good.
    try world.wait("the one before") { try world.service()["state"] == "ready" }
    #expect(try world.end(of: try world.push()) == .delivered)
  }
}
