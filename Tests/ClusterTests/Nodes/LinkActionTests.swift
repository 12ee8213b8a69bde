import BorealisBase
import Testing

@testable import Cluster

/// What a home has for a gateway, by the version of the bus that both speak.
@Suite struct LinkActionTests {
  private static let (home, gateway) = (Incarnation(1), Incarnation(2))

  /// A home and a gateway that have met over a bus without faults.
  private struct Pair {
    var nodes: [ClusterNode] = []
    var now: UInt64 = 1_000_000_000
    /// Answers to what the gateway's sessions lack.
    var answers = 0

    init(_ version: UInt8) throws {
      let cluster = try #require(ClusterName("test"))
      for (incarnation, versions) in [(home, ClusterLimits.versions), (gateway, 1...version)] {
        nodes.append(
          ClusterNode(
            cluster: cluster, incarnation: incarnation,
            hello: NodeHello(versions: versions, name: "n", address: "h:1", program: "1"), now: now))
      }
    }

    mutating func run() {
      for _ in 0..<100 {
        now += 50_000_000
        for index in 0..<2 {
          nodes[index].tick(now: now)
          for item in nodes[index].drainOutput() {
            switch item {
            case .publish(let frame, _): nodes[1 - index].receive(frame, now: now)
            case .message(_, let entry, _): if case .replayed = entry.message { answers += 1 }
            default: break
            }
          }
        }
      }
    }
  }

  @Test(arguments: [(version: UInt8(1), expected: 1), (2, 0)])
  func `Only gateways that do not ask are told unasked what their sessions lack`(
    version: UInt8, expected: Int
  ) throws {
    var pair = try Pair(version)
    pair.run()
    #expect(pair.nodes[0].version(with: Self.gateway) == version)
    let epochs = HomeEpochs(ofAll: Epoch(1))
    LinkAction.open(AppID(1), Self.gateway).perform(on: &pair.nodes[0], epochs, now: pair.now)
    LinkAction.replayUnasked(AppID(1), MessageID(5), to: Self.gateway).perform(
      on: &pair.nodes[0], epochs, now: pair.now)
    pair.run()
    #expect(pair.answers == expected)
    // Who asks is answered, whatever it speaks.
    LinkAction.replay(AppID(1), MessageID(6), to: Self.gateway).perform(
      on: &pair.nodes[0], epochs, now: pair.now)
    pair.run()
    #expect(pair.answers == expected + 1)
  }
}
