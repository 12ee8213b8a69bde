import Glibc
import PushTesting
import Testing

/// What a cluster promises while one thing after the other fails under pushes of all kinds: nothing that was
/// accepted is lost, nothing is shown twice or to others, every report balances afterwards, and connections
/// to nodes that are well stay.
@Suite(.serialized) struct FaultTests {
  private static let all = FaultWorld.names

  /// A world in which something goes through a proxy from the start.
  private static func worldWithProxy(
    _ make: (ClusterWorld) throws -> TestProxy
  ) throws -> (FaultWorld, TestProxy) {
    var proxy: TestProxy?
    let world = try FaultWorld { proxy = try make($0) }
    return (world, try #require(proxy))
  }

  @Test func `NATS is away for a while`() throws {
    let world = try FaultWorld()
    world.cluster.bus.kill()
    for name in Self.all { try world.wait(for: "disconnected from the bus", at: name) }
    // Longer than any silence that nodes take for a pause.
    try world.wait(for: "no messages from node on the bus", at: "a", times: 2)
    try world.waitForPushes(150)
    try world.cluster.bus.start()
    for name in Self.all { try world.wait(for: "connected to the bus", at: name, times: 2) }
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    #expect(try world.cluster.home() == "a")
  }

  @Test func `PostgreSQL is restarted`() throws {
    let world = try FaultWorld()
    try world.cluster.cluster.control("-m fast restart")
    try world.waitForPushes(60)
    try world.cluster.cluster.control("-m immediate stop")
    try world.wait(for: "transaction failed", at: "a")
    try world.cluster.cluster.control("start")
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    #expect(try world.cluster.home() == "a")
  }

  @Test func `PostgreSQL fails over to a standby that commits wait for`() throws {
    let world = try FaultWorld(hasStandby: true)
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
    #expect(try world.cluster.home() == "a")
  }

  @Test func `The home stands still for longer than the others wait for it`() throws {
    let world = try FaultWorld()
    let frozen = try world.cluster.node("a")
    frozen.program.signal(SIGSTOP)
    try world.wait("another home") {
      try ["b", "c"].contains { try world.cluster.isHome($0) }
    }
    try world.waitForPushes(60)
    frozen.program.signal(SIGCONT)
    let ending = try world.restart("a")
    #expect(ending.status == 1)
    try world.waitForPushes(60)
    try world.check(stayed: ["b", "c"])
  }

  @Test func `A gateway stands still, is taken for dead, and joins again`() throws {
    let world = try FaultWorld()
    let frozen = try world.cluster.node("c")
    frozen.program.signal(SIGSTOP)
    try world.waitUntilDead("c", for: ["a", "b"])
    try world.waitForPushes(60)
    frozen.program.signal(SIGCONT)
    try world.wait(for: "other nodes considered this node dead; rejoining the cluster", at: "c")
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    #expect(try world.cluster.home() == "a")
  }

  @Test func `The home and a gateway are killed at once`() throws {
    let world = try FaultWorld()
    try world.kill(["a", "b"])
    try world.wait("another home") { try world.cluster.isHome("c") }
    try world.waitForPushes(40)
    for name in ["a", "b"] { try world.start(name) }
    try world.waitForPushes(60)
    try world.check(stayed: ["c"])
  }

  @Test func `A gateway is cut off from the database, is taken for dead, and joins again`() throws {
    let (world, proxy) = try Self.worldWithProxy { try TestProxy(toDatabaseOf: "c", in: $0) }
    proxy.set(.blocked)
    try world.waitUntilDead("c", for: ["a", "b"])
    try world.waitForPushes(60)
    proxy.set(.open)
    try world.wait(for: "other nodes considered this node dead; rejoining the cluster", at: "c")
    try world.wait(for: "another node is the home", at: "c", times: 2)
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    #expect(try world.cluster.home() == "a")
  }

  @Test func `A home is cut off from the database and replaced`() throws {
    let (world, proxy) = try Self.worldWithProxy { try TestProxy(toDatabaseOf: "a", in: $0) }
    proxy.set(.blocked)
    try world.wait("another home") { try ["b", "c"].contains { try world.cluster.isHome($0) } }
    try world.waitForPushes(60)
    proxy.set(.open)
    #expect(try world.restart("a").status == 1)
    try world.waitForPushes(60)
    try world.check(stayed: ["b", "c"])
  }

  @Test func `A gateway is cut off from the bus`() throws {
    let (world, proxy) = try Self.worldWithProxy { try TestProxy(toBusOf: "b", in: $0) }
    proxy.set(.blocked)
    try world.wait(for: "no messages from node on the bus", at: "a")
    try world.waitForPushes(60)
    proxy.set(.open)
    try world.wait(for: "node reachable again on the bus", at: "a")
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    #expect(try world.cluster.home() == "a")
  }

  /// What it leaves behind, its connection to the bus, may take long to end: it shows that it is alive
  /// meanwhile, and follows the home.
  @Test func `A gateway joins again while nothing comes over the bus`() throws {
    let (world, proxy) = try Self.worldWithProxy { try TestProxy(toBusOf: "c", in: $0) }
    let frozen = try world.cluster.node("c")
    proxy.set(.blocked)
    frozen.program.signal(SIGSTOP)
    try world.waitUntilDead("c", for: ["a", "b"])
    frozen.program.signal(SIGCONT)
    try world.wait(for: "another node is the home", at: "c", times: 2)
    try world.waitForPushes(150)
    proxy.set(.open)
    try world.wait(for: "connected to the bus", at: "c", times: 2)
    try world.waitForPushes(60)
    try world.check(stayed: Self.all)
    let errors = try ["a", "b"].map { try world.cluster.node($0).program.errors }.joined()
    #expect(errors.split(separator: "\n").count { $0.contains("considered dead") } == 1)
    #expect(try world.cluster.home() == "a")
  }

  /// Every call is answered with 200 while the home ends, and its devices are told to go, spread over a
  /// second.
  @Test func `A home is stopped under load`() throws {
    let world = try FaultWorld(devices: 48, pause: 1000, arguments: ["--drain-delay", "500ms"])
    try world.waitForPushes(300)
    let ending = try world.stop("a")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.errors.contains("another node is the home"))
    try world.waitForPushes(300)
    #expect(world.traffic.failures.count == 0, "\(world.traffic.failures.prefix(10))")
    try world.check(stayed: ["b", "c"])
    #expect(world.devices.allSatisfy { $0.now.lost.isEmpty || $0.now.lost == ["a"] })
  }
}

extension TestProxy {
  /// Between a node that is not started yet and the database.
  convenience init(toDatabaseOf name: String, in cluster: ClusterWorld) throws {
    try self.init(to: cluster.cluster.socketFolder + "/.s.PGSQL.5432")
    cluster.stores[name] = "postgres://borealis@\(address)/\(cluster.database)"
  }

  /// Between a node that is not started yet and the bus.
  convenience init(toBusOf name: String, in cluster: ClusterWorld) throws {
    try self.init(to: cluster.bus.address)
    cluster.buses[name] = address
  }
}
