import BorealisBase
import Core
import PushTesting
import Testing

@testable import Cluster

/// A device sends one operation behind the other, without waiting for results. The server carries them out in
/// this order, also where the bus loses some of them and homes change.
@Suite struct OperationOrderTests {
  /// A device of the first app, at the second node.
  private static func cluster(seed: UInt64) async throws -> (SimulatedCluster, SimulatedDevice) {
    let cluster = try SimulatedCluster(seed: seed)
    try await cluster.start(apps: 1, devicesPerApp: 1)
    let device = try #require(cluster.devices.first)
    try await cluster.run(milliseconds: 1000)
    cluster.nodes[1].gateway.connect(device, noticing: true)
    try await cluster.run(milliseconds: 1000)
    #expect(cluster.nodes[1].gateway.isConnected(device.slot))
    return (cluster, device)
  }

  private static func loseEverything(_ cluster: SimulatedCluster, _ loses: Bool) {
    var faults = SimulatedNetwork.Faults()
    faults.lost = loses ? 1000 : 0
    cluster.setFaults(faults)
  }

  private static func alias(of device: SimulatedDevice, _ cluster: SimulatedCluster) async throws -> String? {
    let router = try #require(cluster.home(of: device.key))
    let app = try #require(router.apps.loaded(device.key))
    return try await awaitCallback { done in
      router.registrations.details(of: device.number, in: app) { done($0) }
    }.get().alias
  }

  @Test func `One that was lost is not carried out behind a later one`() async throws {
    let (cluster, device) = try await Self.cluster(seed: 1)
    let gateway = cluster.nodes[1].gateway
    Self.loseEverything(cluster, true)
    gateway.setAlias("first", of: device)
    try await cluster.run(milliseconds: 100)
    Self.loseEverything(cluster, false)
    gateway.setAlias("second", of: device)
    gateway.setAlias("third", of: device)
    try await cluster.run(milliseconds: 4000)
    #expect(gateway.answers == (done: 3, failed: 0))
    #expect(device.alias == "third")
    #expect(try await Self.alias(of: device, cluster) == "third")
    cluster.close()
  }

  /// The results of the first one are lost, and it is asked of the next home once more.
  @Test func `One that the home before has carried out is not carried out behind a later one`() async throws {
    let (cluster, device) = try await Self.cluster(seed: 2)
    let gateway = cluster.nodes[1].gateway
    cluster.network.cut(from: cluster.nodes[0].incarnation, to: cluster.nodes[1].incarnation)
    gateway.setAlias("first", of: device)
    try await cluster.run(milliseconds: 600)
    cluster.network.heal()
    gateway.setAlias("second", of: device)
    try await cluster.run(milliseconds: 300)
    try await cluster.changeHome(killing: true, to: 2)
    try await cluster.run(milliseconds: 4000)
    #expect(gateway.answers == (done: 2, failed: 0))
    #expect(try await Self.alias(of: device, cluster) == "second")
    cluster.close()
  }

  /// Nobody is home for a while, in which the first one is tried once more; with 1, the device's node itself
  /// is the next home.
  @Test(arguments: [1, 2]) func `A new home carries them out as they came`(next: Int) async throws {
    let (cluster, device) = try await Self.cluster(seed: 3)
    let gateway = cluster.nodes[1].gateway
    Self.loseEverything(cluster, true)
    gateway.setAlias("first", of: device)
    try await cluster.run(milliseconds: 600)
    gateway.setAlias("second", of: device)
    try await cluster.run(milliseconds: 600)
    Self.loseEverything(cluster, false)
    try await cluster.changeHome(killing: true, to: next)
    try await cluster.run(milliseconds: 4000)
    #expect(gateway.answers == (done: 2, failed: 0))
    #expect(try await Self.alias(of: device, cluster) == "second")
    cluster.close()
  }

  /// What has no result when its connection ends the device sends again on the next one, and others behind
  /// it.
  @Test(arguments: [true, false])
  func `What a connection has left has no effect on the next one`(noticing: Bool) async throws {
    let (cluster, device) = try await Self.cluster(seed: 4)
    let (before, gateway) = (cluster.nodes[1].gateway, cluster.nodes[2].gateway)
    Self.loseEverything(cluster, true)
    before.setAlias("first", of: device)
    try await cluster.run(milliseconds: 100)
    gateway.connect(device, noticing: noticing)
    Self.loseEverything(cluster, false)
    try await cluster.run(milliseconds: 500)
    #expect(gateway.isConnected(device.slot))
    gateway.setAlias("first", of: device)
    gateway.setAlias("second", of: device)
    try await cluster.run(milliseconds: 4000)
    #expect(gateway.answers == (done: 2, failed: 0))
    #expect(try await Self.alias(of: device, cluster) == "second")
    cluster.close()
  }

  /// They need not wait for a result when the connection ends, either.
  @Test func `What was sent before a connection ends is carried out`() async throws {
    let (cluster, device) = try await Self.cluster(seed: 5)
    let gateway = cluster.nodes[1].gateway
    for alias in ["first", "second", "third"] { gateway.setAlias(alias, of: device) }
    gateway.disconnect(device.slot)
    try await cluster.run(atMost: 4000) {
      try await Self.alias(of: device, cluster) == "third" && cluster.nodes[1].link.status.unconfirmed == 0
    }
    #expect(try await Self.alias(of: device, cluster) == "third")
    #expect(cluster.nodes[1].link.status.unconfirmed == 0)
    cluster.close()
  }
}
