import BorealisBase
import Glibc
import PushTesting
import Testing

/// The connection to Apple fails in every way, between real processes. What was accepted by the server
/// reaches Apple once, unless an answer was lost: then at most twice, under the same IDs.
@Suite struct APNsFailureTests {
  /// All pushes were delivered, by what the server says and by what Apple saw.
  private func expectDelivered(_ pushes: [String], in world: APNsWorld, atMost times: Int = 1) throws {
    for push in pushes { #expect(try world.end(of: push) == .delivered) }
    let counts = try world.acceptances(of: pushes)
    for push in pushes {
      let count = counts[push] ?? 0
      #expect((1...times).contains(count), "\(push) was accepted \(count) times")
    }
    try world.waitForRest()
  }

  @Test func `The service is killed in the middle of 500 pushes and comes back`() throws {
    let world = try APNsWorld(devices: 10)
    var pushes = try world.push(count: 200)
    try world.wait("some of them") { world.entries.count > 50 }
    try world.killSimulator()
    pushes += try world.push(count: 200)
    #expect(try world.service()["connections"]?.int64 == 0)
    try world.startSimulator()
    pushes += try world.push(count: 100)
    for push in pushes { #expect(try world.end(of: push) == .delivered) }
    // Of what was answered in its last turn the killed simulator may have written nothing, so no lower bound
    // here.
    let counts = world.acceptances
    for push in pushes { #expect(counts[push] ?? 0 <= 2) }
    for entry in world.entries { #expect(entry.isAccepted) }
    try world.waitForRest()
  }

  /// `last` says which streams the GOAWAY lets live: none of them was processed, or all.
  @Test(arguments: ["before", "this", "announce"])
  func `A storm of GOAWAYs`(last: String) throws {
    let world = try APNsWorld(devices: 5)
    try world.script([
      "action": "goaway", "last": .string(last), "reason": "Shutdown", "each_connection": true, "after": 7,
      "times": 1,
    ])
    try expectDelivered(try world.push(count: 100), in: world)
    // All of them may have been on their way when the first GOAWAY came.
    try expectDelivered(try world.push(count: 10), in: world)
    let totals = try world.order("GET", "/totals")
    #expect(totals["connections"]?.int64 ?? 0 > 1)
    #expect(totals["duplicate_ids"]?.int64 == 0)
  }

  @Test func `The limit of streams falls to one and rises again`() throws {
    let world = try APNsWorld(devices: 5)
    try expectDelivered(try world.push(count: 20), in: world)
    try world.order("POST", "/connections", ["action": "streams", "streams": 1])
    try world.script(["action": "delay", "delay_ms": 5])
    try expectDelivered(try world.push(count: 100), in: world)
    try world.order("POST", "/connections", ["action": "streams", "streams": 1000])
    try expectDelivered(try world.push(count: 50), in: world)
    #expect(try world.order("GET", "/totals")["duplicate_ids"]?.int64 == 0)
  }

  @Test func `Refused streams are sent again, without spinning`() throws {
    let world = try APNsWorld(devices: 5)
    try world.script(["action": "reset", "code": 7, "every": 2, "times": 60])
    try expectDelivered(try world.push(count: 100), in: world)
    // One that is refused forever is not sent again and again at once.
    try world.script(["action": "reset", "code": 7, "token": .string(APNsWorld.token(1))])
    let refused = try world.push("refused", to: 1)
    try world.wait("three tries") { APNsWorld.entries(world.entries, of: refused).count >= 4 }
    try expectDelivered(try world.push(count: 1), in: world)
    #expect(APNsWorld.entries(world.entries, of: refused).count < 20)
    try world.endScript()
    try expectDelivered([refused], in: world)
  }

  @Test func `Slow answers`() throws {
    let world = try APNsWorld(devices: 5, simulator: ["--streams", "10"])
    try world.script(["action": "delay", "delay_ms": 300, "times": 40])
    try expectDelivered(try world.push(count: 60), in: world)
  }

  /// The answer is lost in the second case, so that the push may come twice, under the same IDs.
  @Test(arguments: [false, true])
  func `The connection is cut`(isAccepted: Bool) throws {
    let world = try APNsWorld(devices: 5)
    try world.script([
      "action": "cut", "accepted": .bool(isAccepted), "each_connection": true, "after": 20, "times": 1,
    ])
    let pushes = try world.push(count: 60)
    try expectDelivered(pushes, in: world, atMost: 2)
    let entries = world.entries
    for push in pushes {
      let tries = APNsWorld.entries(entries, of: push)
      #expect(Set(tries.map(\.apnsID)).count == 1)
      #expect(Set(tries.map(\.collapseID)).count == 1)
    }
  }

  @Test func `A certificate that is not trusted: nothing is lost`() throws {
    let world = try APNsWorld()
    let wrong = world.folder.path + "/wrong.pem"
    let made = try RunningProgram(
      [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=wrong",
        "-keyout", world.folder.path + "/wrong.key", "-out", wrong,
      ], of: "/usr/bin/env", environment: ["PATH": "/usr/bin:/bin"]
    ).end()
    #expect(made.status == 0)
    try world.restartServer(authority: wrong)
    let push = try world.push()
    try world.server.program.wait(forError: "no connection to APNs")
    try world.server.program.wait(forError: "certificate")
    try world.wait("the failure to be shown") {
      try world.service()["last_failure"]?.string?.contains("certificate") == true
    }
    #expect(try world.status(of: push) == APNsWorld.Status(waiting: 1, results: [:]))
    try world.restartServer()
    try expectDelivered([push], in: world)
  }

  // MARK: The server itself

  @Test func `The server ends while answers are due: it waits for them`() throws {
    let world = try APNsWorld(devices: 5)
    try world.script(["action": "delay", "delay_ms": 1500])
    let pushes = try world.push(count: 50)
    try world.wait("all of them") { world.entries.count >= 50 }
    try world.restartServer(SIGTERM)
    try world.endScript()
    try expectDelivered(pushes, in: world)
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `What is queued survives the end of the server`(signal: Int32) throws {
    let world = try APNsWorld(devices: 5)
    try world.killSimulator()
    let pushes = try world.push(count: 50)
    try world.restartServer(signal)
    for push in pushes {
      #expect(try world.status(of: push) == APNsWorld.Status(waiting: 1, results: [:]))
    }
    try world.startSimulator()
    try expectDelivered(pushes, in: world)
  }

  @Test func `Killed while it sends, the server sends nothing more than twice`() throws {
    let world = try APNsWorld(devices: 5)
    var pushes: [String] = []
    for _ in 0..<3 {
      pushes += try world.push(count: 60)
      try world.restartServer(SIGKILL)
    }
    // Each kill may lose what had come back and was not stored.
    try expectDelivered(pushes, in: world, atMost: 4)
  }

  @Test func `What is recalled while the service is down is never sent`() throws {
    let world = try APNsWorld(devices: 2)
    try world.killSimulator()
    let pushes = try world.push(count: 2)
    let call = try world.server.call("DELETE", "/v3/push/\(pushes[0])", as: world.app)
    #expect(call.status == 200, "\(call.body)")
    let withdrawal = APNsWorld.Status(waiting: 0, results: ["TakenBack": 1])
    try world.wait("the note of it") { try world.status(of: pushes[0]) == withdrawal }
    try world.startSimulator()
    try expectDelivered([pushes[1]], in: world)
    #expect(APNsWorld.entries(world.entries, of: pushes[0]).isEmpty)
  }

  @Test func `What expires while the service is down is counted and never sent`() throws {
    let world = try APNsWorld(devices: 2)
    try world.killSimulator()
    let short = try world.push("short", to: 0, options: ["time_to_live": 1])
    let long = try world.push("long", to: 1)
    #expect(try world.end(of: short) == APNsWorld.Status(waiting: 0, results: ["Expired": 1]))
    try world.startSimulator()
    try expectDelivered([long], in: world)
    #expect(APNsWorld.entries(world.entries, of: short).isEmpty)
  }
}
