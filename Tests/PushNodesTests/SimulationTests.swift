import Glibc
import PushBase
import PushCluster
import PushNodes
import PushTesting
import Testing

/// Routers, links and device sessions as they are, over a bus that does its worst for some seconds.
@Suite struct SimulationTests {
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

  @Test func `A home that steps down has told gateways what it recalled last`() async throws {
    let cluster = try SimulatedCluster(seed: 3)
    try await cluster.start(apps: 1)
    for device in cluster.devices { cluster.nodes[1].gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    try await cluster.push()
    try await cluster.run(milliseconds: 1000)
    let push = try #require(cluster.sent.first)
    let holders = cluster.devices.filter { $0.shown.contains(push.id) }
    #expect(!holders.isEmpty)
    // The link has not taken a turn when the home steps down.
    try await cluster.recall()
    cluster.nodes[0].link.follow(nil, epoch: Epoch(1))
    try await cluster.run(milliseconds: 1000)
    #expect(holders.allSatisfy { $0.recalled.contains(push.id) })
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
