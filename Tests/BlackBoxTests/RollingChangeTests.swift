import PushTesting
import Testing

@testable import Storage

/// Nodes are started again one after the other, under pushes of all kinds: with another setting, or as an
/// upgrade of the program does.
@Suite(.serialized) struct RollingChangeTests {
  private static let all = FaultWorld.names

  private func restart(_ name: String, in world: FaultWorld, _ more: [String] = []) throws {
    let ending = try world.stop(name)
    #expect(ending.status == 0, "\(ending.errors)")
    try world.start(name, more)
    try world.waitForPushes(60)
  }

  private func expectAllAppsAreServed(in world: FaultWorld) throws {
    let isServed = try RunningProgram.eventually {
      try Self.all.map(world.cluster.apps).reduce(0, +) == 2
    }
    let logs = try Self.all.map { try world.cluster.node($0).program.errors.suffix(4000) }
    #expect(isServed, "\(logs)")
  }

  @Test func `One home of all apps becomes a home for each app, node by node`() throws {
    let world = try FaultWorld()
    for name in ["b", "c"] {
      try restart(name, in: world, ["--spread-apps"])
      // It is a gateway of the one home until that stops.
      let isGateway = try RunningProgram.eventually {
        try world.cluster.node(name).call("GET", "/readyz").body == "ready\ngateway of a\n"
      }
      #expect(isGateway)
    }
    try restart("a", in: world, ["--spread-apps"])
    try expectAllAppsAreServed(in: world)
    try world.waitForPushes(60)
    try world.check()
  }

  @Test func `The one home is killed while nodes wait to share its apps`() throws {
    let world = try FaultWorld()
    for name in ["b", "c"] { try restart(name, in: world, ["--spread-apps"]) }
    try world.kill(["a"])
    try world.wait("other homes") { try ["b", "c"].map(world.cluster.apps).reduce(0, +) == 2 }
    try world.waitForPushes(40)
    try world.start("a", ["--spread-apps"])
    try expectAllAppsAreServed(in: world)
    try world.check()
  }

  /// The schema is set back by a step, so that nodes that run are of an older version. What the step adds
  /// stays until it is made anew, since these nodes use it.
  @Test func `A newer version migrates the database once the last older node has stopped`() throws {
    let world = try FaultWorld(isDivided: true)
    try world.cluster.cluster.sql(PostgresStep.setBack, in: world.cluster.database)
    for name in ["b", "c"] {
      try restart(name, in: world)
      let node = try world.cluster.node(name)
      try node.program.wait(forError: "the database has an older schema, which other nodes use")
      #expect(try world.cluster.apps(at: name) == -1)
    }
    #expect(try world.cluster.apps(at: "a") == 2)
    try restart("a", in: world)
    try expectAllAppsAreServed(in: world)
    let isMigrated = try RunningProgram.eventually {
      try world.cluster.cluster.sql(
        "SELECT max(version) FROM schema_migration", in: world.cluster.database)
        == [["\(embeddedPostgresMigrations.count)"]]
    }
    #expect(isMigrated)
    try world.check()
  }
}
