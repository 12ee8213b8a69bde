import BorealisBase
import Core
import Glibc
import PushTesting
import Testing

@testable import Cluster

/// Routers of several homes, links and device sessions as they are, over a bus that does its worst for some
/// seconds.
@Suite(.serialized, .timeLimit(.minutes(60))) struct DividedTests {
  @Test func `Without faults everything arrives, whichever home has an app`() async throws {
    let cluster = try DividedCluster(seed: 1)
    try await cluster.startDivided(apps: 4, devicesPerApp: 3)
    try await cluster.run(milliseconds: 2000)
    for index in 0..<100 {
      try await cluster.act()
      try await cluster.run(milliseconds: 20)
      if index % 20 == 10 { try await cluster.move() }
    }
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    // Planned moves refuse nobody, and send no device away.
    #expect(cluster.nodes.allSatisfy { $0.gateway.refusals == 0 })
    #expect(try await cluster.waitingAfterRestart() == 0)
    cluster.close()
  }

  /// Who goes away while an app is about to move, and stays after all, is not taken for connected.
  @Test func `A hand-over in vain keeps no device that has gone`() async throws {
    let cluster = try DividedCluster(seed: 3)
    try await cluster.startDivided(apps: 1, devicesPerApp: 6)
    try await cluster.run(milliseconds: 2000)
    for (index, device) in cluster.devices.enumerated() {
      cluster.nodes[index % 3].gateway.connect(device, noticing: true)
    }
    try await cluster.run(milliseconds: 2000)
    func online() -> Int {
      cluster.home(of: cluster.keys[0])?.apps.loaded(cluster.keys[0])?.directory.onlineCount ?? -1
    }
    #expect(online() == 6)
    try await cluster.moveInVain {
      for device in cluster.devices.prefix(3) { device.gateway?.disconnect(device.slot) }
    }
    try await cluster.run(milliseconds: 3000)
    #expect(online() == 3)
    try await cluster.push()
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    cluster.close()
  }

  /// Otherwise no home of the app would be heard before the node starts again.
  @Test func `A later home that the database does not know is forgotten`() async throws {
    let cluster = try DividedCluster(seed: 5)
    try await cluster.startDivided(apps: 1, devicesPerApp: 3)
    try await cluster.run(milliseconds: 2000)
    let app = cluster.devices[0].app
    cluster.nodes[1].link.follow([AppPlace(app: app, key: nil, home: nil, epoch: Epoch(1 << 50))])
    try await cluster.run(milliseconds: 13_000)
    for device in cluster.devices { cluster.nodes[1].gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    #expect(
      cluster.home(of: cluster.keys[0])?.apps.loaded(cluster.keys[0])?.directory.onlineCount == 3)
    try await cluster.push()
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    cluster.close()
  }

  /// Devices log in to an app that was made a moment ago, at its home, which the link has not been told yet,
  /// and at another node.
  @Test func `Who comes to a new app before it is opened, and goes, is not taken for connected`() async throws
  {
    let cluster = try DividedCluster(seed: 4)
    try await cluster.startDivided(apps: 1, devicesPerApp: 4, opened: false)
    cluster.readsHomes = false
    let (node, other) = (cluster.nodes[0], cluster.nodes[1])
    try await cluster.run(milliseconds: 2500)
    for device in cluster.devices.prefix(3) { node.gateway.connect(device, noticing: true) }
    other.gateway.connect(cluster.devices[3], noticing: true)
    try await cluster.run(milliseconds: 100)
    let directory = try #require(node.router?.apps.loaded(cluster.keys[0])?.directory)
    #expect(node.gateway.connected == 3 && directory.onlineCount == 4)
    node.gateway.disconnect(cluster.devices[0].slot)
    node.gateway.disconnect(cluster.devices[1].slot)
    node.gateway.setAlias("new", of: cluster.devices[2])
    try await cluster.run(milliseconds: 100)
    #expect(directory.onlineCount == 2)
    try await cluster.openNew(cluster.devices[0].app, at: node)
    cluster.readsHomes = true
    try await cluster.run(milliseconds: 3000)
    #expect(directory.onlineCount == 2 && node.gateway.connected == 1 && other.gateway.connected == 1)
    #expect(cluster.devices[2].alias == "new")
    node.gateway.disconnect(cluster.devices[2].slot)
    other.gateway.disconnect(cluster.devices[3].slot)
    try await cluster.run(milliseconds: 1000)
    #expect(directory.onlineCount == 0)
    try await cluster.push()
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    cluster.close()
  }

  /// `BOREALIS_SEEDS` says how many seeds are tried, from `BOREALIS_FIRST_SEED` on.
  private static let first = getenv("BOREALIS_FIRST_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
  private static let seeds = getenv("BOREALIS_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 6

  @Test(arguments: first...first + seeds - 1)
  func `Everything arrives while homes die and apps move`(seed: UInt64) async throws {
    let cluster = try DividedCluster(seed: seed)
    try await cluster.startDivided(apps: 4, devicesPerApp: 3)
    try await cluster.run(milliseconds: 2000)
    var random = SeededRandom(seed: seed)
    var faults = SimulatedNetwork.Faults()
    (faults.lost, faults.repeated, faults.delayed) = (100, 100, 200)
    faults.longestDelay = 2_000_000_000
    cluster.setFaults(faults)
    for index in 0..<160 {
      try await cluster.act()
      try await cluster.run(milliseconds: Int.random(in: 10...120, using: &random))
      if index % 12 == 6 { try await cluster.move() }
      if index % 30 == 15 { try await cluster.moveInVain() }
      if index % 50 == 40 { try await cluster.kill(Int.random(in: 0..<3, using: &random)) }
    }
    cluster.setFaults(SimulatedNetwork.Faults())
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    #expect(try await cluster.waitingAfterRestart() == 0)
    cluster.close()
  }
}
