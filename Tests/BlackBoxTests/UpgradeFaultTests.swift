import BorealisBase
import BorealisProtocol
import CLinux
import Glibc
import PushTesting
import Testing

#if DEBUG
  private let canStop = true
#else
  private let canStop = false
#endif

/// Upgrades in which a process dies, or stands still, at each of the steps (`UpgradeStep`).
@Suite(.onSQLite, .enabled(if: canStop, "processes stop at steps in builds for tests alone"))
struct UpgradeFaultTests {
  private let folder = TemporaryFolder()

  private func makeWorld(_ arguments: [String] = []) throws -> UpgradeWorld {
    let world = try UpgradeWorld(folder.path, arguments)
    try world.start("plain", count: 5, at: world.server.device, ["--plain"])
    try world.start("tls", count: 5, at: world.tls, ["--insecure"])
    return world
  }

  /// Until it has the place, the server has all that it had.
  @Test func `The new process dies at any step before it has the place, and nobody reconnects`() throws {
    let world = try makeWorld()
    let wire = try WireDevices(world, count: 3)
    let load = UpgradeWorld.Load(world, pushers: 2)
    let old = world.process
    for step in [
      "new-prepared", "old-prepared", "old-holds", "old-quiet", "old-rests", "old-finished", "old-passed",
      "new-passed", "new-read", "old-ready",
    ] {
      let (command, new) = try world.upgrade(stoppingAt: step)
      world.killAndWait(new)
      kill(old, SIGCONT)
      let ending = try command.end()
      #expect(ending.status == 1 && ending.errors.contains("the new process"), "\(step): \(ending.errors)")
      #expect(try world.server.call("GET", "/readyz").status == 200, "\(step)")
      world.expectNoReconnect(step)
      #expect(wire.ends.isEmpty, "\(step): \(wire.ends)")
    }
    let (accepted, faults) = load.finish()
    world.expectAll(accepted)
    #expect(faults.isEmpty, "\(faults.prefix(3))")
    // Its place can still be taken.
    #expect(try world.upgrade().status == 0)
    try wire.finish(in: world)
    world.expectNoReconnect("at the end")
    try world.stop()
  }

  /// Whoever has all sessions goes on with them, also if nobody tells it to.
  @Test(arguments: [
    "old-passed", "new-passed", "new-read", "new-ready", "old-ready", "old-gone", "new-gone", "new-knows",
  ])
  func `The server dies at any step behind the pass, and nobody reconnects`(step: String) throws {
    let world = try makeWorld()
    let wire = try WireDevices(world, count: 3)
    let old = world.process
    let first = try world.pushToAll("before")
    let (command, new) = try world.upgrade(stoppingAt: step)
    kill(old, SIGKILL)
    kill(new, SIGCONT)
    _ = try command.end()
    world.follow(new)
    let second = try world.pushToAll("after")
    let isThere = RunningProgram.eventually { wire.has(first) && wire.has(second) }
    #expect(isThere)
    try wire.finish(in: world)
    world.expectNoReconnect(step)
    try world.stop()
  }

  @Test(arguments: ["old-prepared", "old-holds", "old-quiet", "old-rests", "old-finished"])
  func `The server dies before the pass as at any other time`(step: String) throws {
    let world = try makeWorld()
    let (command, new) = try world.upgrade(stoppingAt: step)
    kill(world.process, SIGKILL)
    _ = try command.end()
    let isGone = RunningProgram.eventually { !world.isAlive(new) }
    #expect(isGone)
    #expect(try RunningProgram.run(["check", "--data", world.data]).status == 0)
  }

  /// The new process stands still for longer than any turn takes, and has to send nothing afterwards: keys,
  /// record numbers and pushes are still the server's, which goes on with them.
  @Test func `A new process that stood still before it has the place has sent nothing`() throws {
    let world = try makeWorld()
    let wire = try WireDevices(world, count: 3)
    let load = UpgradeWorld.Load(world, pushers: 3)
    for _ in 0..<2 {
      let old = world.process
      let (command, new) = try world.upgrade(stoppingAt: "new-read")
      usleep(4_000_000)
      try world.stop(at: "old-ready")
      kill(new, SIGCONT)
      try world.waitForStop(at: "old-ready")
      // As long as its loops take to notice that they stood still, and to act.
      usleep(1_500_000)
      world.killAndWait(new)
      kill(old, SIGCONT)
      #expect(try command.end().status == 1)
      world.expectNoReconnect("standing still")
      #expect(wire.ends.isEmpty, "\(wire.ends)")
    }
    // Pushes that waited for as long may have been given up, and are not carried out then.
    world.expectAll(load.finish().accepted)
    try wire.finish(in: world)
    world.expectNoReconnect("at the end")
    try world.stop()
  }

  @Test func `A new process that stood still, and then has the place, cuts nobody off`() throws {
    let world = try makeWorld()
    let wire = try WireDevices(world, count: 3)
    let load = UpgradeWorld.Load(world, pushers: 3)
    for step in ["new-read", "new-knows"] {
      let (command, new) = try world.upgrade(stoppingAt: step)
      usleep(4_000_000)
      kill(new, SIGCONT)
      #expect(try world.end(of: command).status == 0)
    }
    world.expectAll(load.finish().accepted)
    try wire.finish(in: world)
    world.expectNoReconnect("at the end")
    try world.stop()
  }

  /// As for a server that was stopped: the client has given up, and may have asked for it elsewhere.
  @Test func `What an app server gave up on during the pause is not carried out`() throws {
    let world = try makeWorld()
    let device = try TestDevice.login(
      world.server.device, app: world.app.key,
      try TestDevice.register(world.server.device, app: world.app.key, install: "one"))
    let (command, new) = try world.upgrade(stoppingAt: "new-read")
    usleep(4_000_000)
    do {
      let given = try TestSocket(world.server.http)
      let body = #"{"platform":"all","audience":"all","message":{"msg_content":"given up"}}"#
      let login = Base64.encode(Array("\(world.app.key):\(world.app.secret)".utf8))
      try given.send(
        Array(
          """
          POST /v3/push HTTP/1.1\r
          Host: test\r
          Authorization: Basic \(login)\r
          Content-Length: \(body.utf8.count)\r
          \r
          \(body)
          """.utf8))
    }
    kill(new, SIGCONT)
    #expect(try world.end(of: command).status == 0)
    let id = try world.pushToAll("asked again")
    #expect(try device.arrival().id == id)
    try world.stop()
  }

  /// It reads nothing before the upgrade: frames wait in the server, and of one a part has left.
  @Test func `What waits for a device that does not read leaves once, byte for byte`() throws {
    let world = try makeWorld()
    let identity = try TestDevice.register(world.server.device, app: world.app.key, install: "slow")
    let line = try TestSocket(world.server.device)
    _ = cl_set_buffer_sizes(line.descriptor, 0, 4096)
    let device = try TestDevice.login(line, app: world.app.key, identity)
    let text = String(repeating: "x", count: 3500)
    var ids: [String] = []
    for number in 0..<40 {
      let push = try world.server.push("\(number) \(text)", to: identity, as: world.app)
      ids.append(try #require(push.document?["msg_id"]?.string))
    }
    for _ in 0..<2 {
      let ending = try world.upgrade()
      #expect(ending.status == 0 && (ending.documents.first ?? nil)?["reconnecting"] == 0)
    }
    for (number, id) in ids.enumerated() {
      let arrival = try device.arrival()
      #expect(arrival.id == id && arrival.content["message"]?["msg_content"]?.string == "\(number) \(text)")
      try device.acknowledge(arrival)
    }
    // Nothing of it comes again.
    let last = try world.server.push("last", to: identity, as: world.app)
    #expect(try device.arrival().id == last.document?["msg_id"]?.string)
    try world.stop()
  }

  /// More than one message over a Unix socket carries.
  @Test func `A loop with hundreds of devices`() throws {
    let world = try UpgradeWorld(folder.path, ["--loops", "1"])
    try world.start("plain", count: 400, at: world.server.device, ["--plain"])
    try world.start("tls", count: 200, at: world.tls, ["--insecure"])
    for _ in 0..<2 {
      let ending = try world.upgrade()
      let report = try #require(ending.documents.first ?? nil, "\(ending.errors)")
      #expect(report["devices"] == 600 && report["reconnecting"] == 0)
    }
    let id = try world.pushToAll("to all")
    world.expectAll([.init(id: id, targets: Array(world.now.names.keys))])
    world.expectNoReconnect("at the end")
    try world.stop()
  }

  @Test func `A server with more loops than one message has room for is not upgraded`() throws {
    let world = try UpgradeWorld(folder.path, ["--loops", "251"])
    let ending = try world.upgrade()
    #expect(ending.status == 1 && ending.errors.contains("more than 250 loops"))
    #expect(try world.server.call("GET", "/readyz").status == 200)
    try world.stop()
  }

  @Test(arguments: ["new-prepared", "old-prepared", "old-holds", "old-finished", "new-read"])
  func `A server that is to stop ends the upgrade, and then itself`(step: String) throws {
    let world = try makeWorld()
    let (command, new) = try world.upgrade(stoppingAt: step)
    kill(world.process, SIGTERM)
    kill(world.process, SIGCONT)
    #expect(try world.server.program.end().status == 0)
    #expect(try command.end().status == 1)
    let isGone = RunningProgram.eventually { !world.isAlive(new) }
    #expect(isGone)
    #expect(try RunningProgram.run(["check", "--data", world.data]).status == 0)
  }

  @Test func `Who does not send a request, or does not read an answer, does not hold an upgrade up`() throws {
    let world = try makeWorld()
    let half = try TestSocket(world.server.http)
    try half.send(Array("POST /v3/push HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{".utf8))
    let deaf = try TestSocket(world.server.http)
    _ = cl_set_buffer_sizes(deaf.descriptor, 0, 4096)
    try deaf.send(Array(String(repeating: "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n", count: 50).utf8))
    let start = SystemTime().monotonic()
    #expect(try world.upgrade().status == 0)
    #expect(SystemTime().monotonic() - start < 30_000_000_000)
    world.expectNoReconnect("at the end")
    try world.stop()
  }
}
