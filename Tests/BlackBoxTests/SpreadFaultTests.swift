import Glibc
import PushTesting
import Testing

/// What a cluster promises whatever fails, where each app has a home of its own: "a" of the first one and of
/// what belongs to no app, "b" of the second one, "c" of none.
@Suite(.serialized) struct SpreadFaultTests {
  private static let all = FaultWorld.names

  private func expectHomesAreAsBefore(_ world: FaultWorld) throws {
    let isSo = try RunningProgram.eventually {
      try (world.cluster.apps(at: "a"), world.cluster.apps(at: "b")) == (1, 1)
    }
    let states = try Self.all.map { try world.cluster.node($0).call("GET", "/readyz").body }
    let logs = try Self.all.map { try world.cluster.node($0).program.errors.suffix(4000) }
    #expect(isSo, "\(states) \(logs)")
  }

  @Test func `NATS is away for a while`() throws {
    let world = try FaultWorld(isDivided: true)
    world.cluster.bus.kill()
    for name in Self.all { try world.wait(for: "disconnected from the bus", at: name) }
    try world.wait(for: "no messages from node on the bus", at: "a", times: 2)
    try world.waitForPushes(150)
    try world.cluster.bus.start()
    for name in Self.all { try world.wait(for: "connected to the bus", at: name, times: 2) }
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
  }

  @Test func `PostgreSQL is restarted`() throws {
    let world = try FaultWorld(isDivided: true)
    try world.cluster.cluster.control("-m fast restart")
    try world.waitForPushes(60)
    try world.cluster.cluster.control("-m immediate stop")
    for name in ["a", "b"] { try world.wait(for: "transaction failed", at: name) }
    try world.cluster.cluster.control("start")
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    try expectHomesAreAsBefore(world)
  }

  @Test func `PostgreSQL fails over to a standby that commits wait for`() throws {
    let world = try FaultWorld(hasStandby: true, isDivided: true)
    let (primary, standby) = (world.cluster.cluster, try #require(world.cluster.standby))
    try world.wait("the standby is synchronous") {
      try primary.sql("SELECT sync_state FROM pg_stat_replication") == [["sync"]]
    }
    try world.waitForPushes(60)
    try primary.control("-m immediate stop")
    try world.wait(for: "cluster database not responding", at: "b")
    try standby.sql("SELECT pg_promote()")
    try world.waitForPushes(90)
    try world.check(stayed: Self.all)
    try expectHomesAreAsBefore(world)
  }

  /// The home of an app, then that of what belongs to no app.
  @Test(arguments: ["b", "a"])
  func `A home stands still for longer than the others wait for it`(frozen name: String) throws {
    let world = try FaultWorld(isDivided: true)
    let frozen = try world.cluster.node(name)
    let others = Self.all.filter { $0 != name }
    frozen.program.signal(SIGSTOP)
    try world.wait("other homes") { try others.map(world.cluster.apps).reduce(0, +) == 2 }
    try world.waitForPushes(60)
    frozen.program.signal(SIGCONT)
    let ending = try world.restart(name)
    #expect(ending.status == 1)
    try world.waitForPushes(60)
    try world.check(stayed: others)
  }

  @Test func `Two homes are killed at once`() throws {
    let world = try FaultWorld(isDivided: true)
    try world.kill(["a", "b"])
    try world.wait("another home") { try world.cluster.apps(at: "c") == 2 }
    try world.waitForPushes(40)
    for name in ["a", "b"] { try world.start(name) }
    try world.waitForPushes(60)
    try world.check(stayed: ["c"])
  }

  @Test func `A home is cut off from the database and replaced`() throws {
    var cut: TestProxy?
    let world = try FaultWorld(isDivided: true) { cut = try TestProxy(toDatabaseOf: "b", in: $0) }
    let proxy = try #require(cut)
    proxy.set(.blocked)
    try world.wait("another home") { try world.cluster.apps(at: "a") + world.cluster.apps(at: "c") == 2 }
    try world.waitForPushes(60)
    proxy.set(.open)
    #expect(try world.restart("b").status == 1)
    try world.waitForPushes(60)
    try world.check(stayed: ["a", "c"])
  }

  /// Every call is answered with 200 while one home after the other ends.
  @Test func `Homes are stopped under load`() throws {
    let world = try FaultWorld(
      devices: 48, pause: 1000, arguments: ["--drain-delay", "500ms"], isDivided: true)
    try world.waitForPushes(300)
    for name in ["b", "a"] {
      let ending = try world.stop(name)
      #expect(ending.status == 0, "\(ending.errors)")
      try world.waitForPushes(300)
    }
    #expect(try world.cluster.apps(at: "c") == 2)
    #expect(world.traffic.failures.count == 0, "\(world.traffic.failures.prefix(10))")
    try world.check(stayed: ["c"])
  }
}
