import BorealisBase
import Core
import Testing

@testable import Cluster

/// What comes of messages that were on their way while a node stood still, or could not be reached.
@Suite struct StandstillTests {
  private static func cluster(seed: UInt64) async throws -> SimulatedCluster {
    let cluster = try SimulatedCluster(seed: seed)
    try await cluster.start(apps: 1)
    for device in cluster.devices { cluster.nodes[1].gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    return cluster
  }

  /// The home has registrations with an ID.
  private static func has(_ result: RegisterResult?, _ cluster: SimulatedCluster) -> Bool? {
    guard case .registered(let id, _) = result else { return nil }
    return cluster.home(of: cluster.keys[0])?.apps.loaded(cluster.keys[0])?.directory.find(id) != nil
  }

  // MARK: Pushes

  @Test func `A node that stood still delivers nothing that was recalled or has ended meanwhile`()
    async throws
  {
    let cluster = try await Self.cluster(seed: 21)
    cluster.frozen = [cluster.nodes[1].incarnation]
    try await cluster.push(mayPace: false)
    try await cluster.push(timeToLive: 1, mayPace: false)
    try await cluster.push(mayPace: false)
    try await cluster.run(milliseconds: 1500)
    let (recalled, ended, wanted) = (cluster.sent[0], cluster.sent[1], cluster.sent[2])
    let app = try #require(cluster.home(of: cluster.keys[0])?.apps.loaded(cluster.keys[0]))
    cluster.leader?.router?.deliveries.recall(recalled.id, in: app) { _ in }
    try await cluster.run(milliseconds: 20_000)
    cluster.frozen = []
    try await cluster.run(milliseconds: 5000)
    for device in cluster.devices {
      #expect(!device.shown.contains(recalled.id) && !device.shown.contains(ended.id))
      #expect(device.shown.contains(wanted.id) == wanted.targets.contains(device.number))
    }
    cluster.close()
  }

  /// It reaches its devices again when it is heard of under a new name, or they come to another node.
  @Test func `A recall tells of a node that is taken for dead, until its devices are elsewhere`() async throws
  {
    let cluster = try await Self.cluster(seed: 22)
    try await cluster.push(mayPace: false)
    try await cluster.push(mayPace: false)
    try await cluster.run(milliseconds: 1000)
    try cluster.replace(1)
    try await cluster.recall()
    try await cluster.run(milliseconds: 3000)
    let first = cluster.answers.unconfirmed
    #expect(first == [1])
    for device in cluster.devices { cluster.nodes[2].gateway.connect(device, noticing: true) }
    try await cluster.run(milliseconds: 3000)
    while !cluster.sent.allSatisfy(\.isRecalled) { try await cluster.recall() }
    try await cluster.run(milliseconds: 3000)
    #expect(cluster.answers.unconfirmed == [1, 0])
    cluster.close()
  }

  // MARK: Registrations

  /// The device of a node that stands still gives up and registers at another one.
  @Test(arguments: [4000, 20_000])
  func `A late registration replaces none that its device was given since`(milliseconds: Int) async throws {
    let cluster = try await Self.cluster(seed: 23)
    let (late, other) = (cluster.nodes[1], cluster.nodes[2])
    cluster.frozen = [late.incarnation]
    _ = late.gateway.register(cluster.keys[0], fingerprint: [1, 2, 3])
    try await cluster.run(milliseconds: 2000)
    _ = other.gateway.register(cluster.keys[0], fingerprint: [1, 2, 3])
    try await cluster.run(milliseconds: milliseconds - 2000)
    #expect(Self.has(other.gateway.registrations.first, cluster) == true)
    cluster.frozen = []
    try await cluster.run(milliseconds: 15_000)
    guard case .refused(.unavailable) = late.gateway.registrations.first else {
      Issue.record("\(late.gateway.registrations)")
      return
    }
    #expect(late.gateway.registrations.count == 1)
    #expect(Self.has(other.gateway.registrations.first, cluster) == true)
    cluster.close()
  }

  /// Its messages wait on the bus for longer than its device waits.
  @Test func `A registration that was given up is not made when the bus is well again`() async throws {
    let cluster = try await Self.cluster(seed: 24)
    let node = cluster.nodes[1]
    let home = try #require(cluster.leader)
    let app = try #require(home.router?.apps.loaded(cluster.keys[0]))
    let before = app.directory.registrationCount
    // The home reads nothing, as if the bus stood still.
    cluster.frozen = [home.incarnation]
    _ = node.gateway.register(cluster.keys[0], fingerprint: [4])
    let location = node.gateway.register(cluster.keys[0], fingerprint: [5])
    try await cluster.run(milliseconds: 1000)
    node.gateway.withdraw(location)
    try await cluster.run(milliseconds: 11_000)
    #expect(node.gateway.registrations.count == 1 && node.link.status.unconfirmed == 0)
    cluster.frozen = []
    try await cluster.run(milliseconds: 5000)
    #expect(app.directory.registrationCount == before)
    cluster.close()
  }
}
