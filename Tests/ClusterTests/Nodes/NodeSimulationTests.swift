import BorealisBase
import Cluster
import Glibc
import PushTesting
import Testing

/// Routers, links and device sessions as they are, over a bus that does its worst for some seconds.
@Suite struct NodeSimulationTests {
  @Test func `Without faults everything arrives`() async throws {
    let cluster = try SimulatedCluster(seed: 1)
    try await cluster.start()
    try await cluster.run(milliseconds: 2000)
    for _ in 0..<100 {
      try await cluster.act()
      try await cluster.run(milliseconds: 20)
    }
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    #expect(try await cluster.waitingAfterRestart() == 0)
    cluster.close()
  }

  /// A cluster whose devices, all of them at the second node, have been sent a push; those that have shown
  /// it.
  private static func clusterWithPush(
    seed: UInt64
  ) async throws -> (SimulatedCluster, SimulatedCluster.Sent, holders: [SimulatedDevice]) {
    let cluster = try SimulatedCluster(seed: seed)
    try await cluster.start(apps: 1)
    for device in cluster.devices { cluster.nodes[1].gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    try await cluster.push()
    try await cluster.run(milliseconds: 1000)
    let push = try #require(cluster.sent.first)
    let holders = cluster.devices.filter { $0.shown.contains(push.id) }
    #expect(!holders.isEmpty)
    return (cluster, push, holders)
  }

  @Test func `A home that steps down has told gateways what it recalled last`() async throws {
    let (cluster, push, holders) = try await Self.clusterWithPush(seed: 3)
    // The link has not taken a turn when the home steps down.
    try await cluster.recall()
    cluster.nodes[0].link.follow(nil, epoch: Epoch(1))
    try await cluster.run(milliseconds: 1000)
    #expect(holders.allSatisfy { $0.recalled.contains(push.id) })
    cluster.close()
  }

  /// The home dies before the gateway that has the devices has heard of the recall; with 1, that gateway is
  /// the next home.
  @Test(arguments: [1, 2]) func `A new home repeats what the one before has recalled`(next: Int) async throws
  {
    let (cluster, push, holders) = try await Self.clusterWithPush(seed: 4)
    var faults = SimulatedNetwork.Faults()
    faults.lost = 1000
    cluster.setFaults(faults)
    try await cluster.recall()
    try await cluster.run(milliseconds: 500)
    #expect(holders.allSatisfy { !$0.recalled.contains(push.id) })
    try await cluster.changeHome(killing: true, to: next)
    try await cluster.run(milliseconds: 500)
    cluster.setFaults(SimulatedNetwork.Faults())
    try await cluster.run(milliseconds: 8000)
    #expect(holders.allSatisfy { $0.recalled.contains(push.id) })
    cluster.close()
  }

  /// Otherwise no home would be heard before the node starts again.
  @Test func `A later home that the database does not know is forgotten`() async throws {
    let cluster = try SimulatedCluster(seed: 6)
    try await cluster.start(apps: 1)
    try await cluster.run(milliseconds: 2000)
    let (node, last) = (cluster.nodes[1], Epoch(.max))
    try cluster.pretend(to: node, .none, last)
    try cluster.pretend(to: node, cluster.devices[0].app, last)
    try cluster.pretend(to: cluster.nodes[0], cluster.devices[0].app, last)
    try await cluster.run(milliseconds: 1000)
    #expect(node.link.status.epoch == last && node.link.status.home != cluster.nodes[0].incarnation)
    try await cluster.run(milliseconds: 12_000)
    #expect(node.link.status.epoch == Epoch(1) && node.link.status.home == cluster.nodes[0].incarnation)
    for device in cluster.devices { node.gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    #expect(node.gateway.connected == cluster.devices.count)
    try await cluster.push()
    // What the home has heard counts once it is a gateway.
    try await cluster.changeHome(killing: false, to: 2)
    try await cluster.push()
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    cluster.close()
  }

  /// The database has made the node the home: what it has heard of a later one cannot be.
  @Test func `A node becomes the home though it has heard of a later one`() async throws {
    let cluster = try SimulatedCluster(seed: 7)
    try await cluster.start(apps: 1)
    try await cluster.run(milliseconds: 2000)
    try cluster.pretend(to: cluster.nodes[2], .none, Epoch(.max))
    try await cluster.run(milliseconds: 500)
    try await cluster.changeHome(killing: true, to: 2)
    #expect(cluster.nodes[2].link.status.isLeading)
    try await cluster.push()
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    cluster.close()
  }

  @Test func `A recall is answered when all nodes have confirmed it, or after two seconds`() async throws {
    let cluster = try SimulatedCluster(seed: 5)
    try await cluster.start(apps: 1)
    for device in cluster.devices { cluster.nodes[1].gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    for _ in 0..<4 { try await cluster.push() }
    try await cluster.run(milliseconds: 1000)
    try await cluster.recall()
    #expect(cluster.answers.unconfirmed.isEmpty)
    try await cluster.run(milliseconds: 500)
    #expect(cluster.answers.unconfirmed == [0])
    var faults = SimulatedNetwork.Faults()
    faults.lost = 1000
    cluster.setFaults(faults)
    while cluster.sent.count(where: { $0.isRecalled }) < 2 { try await cluster.recall() }
    try await cluster.run(milliseconds: 1900)
    #expect(cluster.answers.unconfirmed == [0])
    try await cluster.run(milliseconds: 200)
    // The other node has no devices of the app.
    #expect(cluster.answers.unconfirmed == [0, 1])
    // It is not waited for again before it has confirmed something.
    while cluster.sent.count(where: { $0.isRecalled }) < 3 { try await cluster.recall() }
    try await cluster.run(milliseconds: 20)
    #expect(cluster.answers.unconfirmed == [0, 1, 1])
    cluster.setFaults(SimulatedNetwork.Faults())
    try await cluster.run(milliseconds: 3000)
    while cluster.sent.contains(where: { !$0.isRecalled }) { try await cluster.recall() }
    try await cluster.run(milliseconds: 500)
    #expect(cluster.answers.unconfirmed == [0, 1, 1, 0])
    cluster.close()
  }

  /// A home that does not answer in time is not asked for more and more: its answers would come when nobody
  /// waits for them.
  @Test func `A home has so many logins to answer, and fewer if it is slow`() async throws {
    let cluster = try SimulatedCluster(seed: 6)
    try await cluster.start(apps: 1, devicesPerApp: 600)
    try await cluster.run(milliseconds: 3000)
    let node = cluster.nodes[1]
    func connectAll() { for device in cluster.devices { node.gateway.connect(device, noticing: true) } }
    var faults = SimulatedNetwork.Faults()
    faults.lost = 1000
    cluster.setFaults(faults)
    connectAll()
    try await cluster.run(milliseconds: 200)
    #expect(node.link.status.unconfirmed == 512)
    #expect(node.gateway.refusals == 0)
    try await cluster.run(milliseconds: 5000)
    #expect(node.gateway.refusals == 600)
    #expect(node.link.status.unconfirmed == 0)
    // It has not answered any: now it gets 64 first.
    connectAll()
    try await cluster.run(milliseconds: 200)
    #expect(node.link.status.unconfirmed == 64)
    cluster.setFaults(SimulatedNetwork.Faults())
    try await cluster.run(milliseconds: 4000)
    #expect(node.gateway.connected == 600)
    #expect(node.gateway.refusals == 600)
    cluster.close()
  }

  /// `BOREALIS_SEEDS` says how many seeds are tried.
  private static let seeds = getenv("BOREALIS_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 8

  @Test(arguments: 1...seeds)
  func `Everything arrives over a bus that loses, repeats, delays and reorders`(seed: UInt64) async throws {
    let cluster = try SimulatedCluster(seed: seed)
    try await cluster.start()
    try await cluster.run(milliseconds: 2000)
    var random = SeededRandom(seed: seed)
    var faults = SimulatedNetwork.Faults()
    (faults.lost, faults.repeated, faults.delayed) = (100, 100, 200)
    faults.longestDelay = 2_000_000_000
    cluster.setFaults(faults)
    for index in 0..<160 {
      try await cluster.act()
      try await cluster.run(milliseconds: Int.random(in: 10...120, using: &random))
      if index % 50 == 20 { try await cluster.changeHome(killing: Bool.random(using: &random)) }
      if index % 50 == 40 {
        let gateway = cluster.nodes.firstIndex { $0.router == nil }
        if let gateway { try cluster.replace(gateway) }
      }
    }
    cluster.setFaults(SimulatedNetwork.Faults())
    let problems = try await cluster.settle()
    #expect(problems.isEmpty, "\(problems)")
    #expect(try await cluster.waitingAfterRestart() == 0)
    cluster.close()
  }
}
