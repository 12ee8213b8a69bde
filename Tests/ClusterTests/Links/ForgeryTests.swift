import BorealisBase
import PushTesting
import Testing

@testable import Cluster

/// What a frame can do that no node has sent, or that has come to harm: it costs a pair of nodes some
/// seconds.
@Suite struct ForgeryTests {
  private static let second: UInt64 = 1_000_000_000

  private func frame(from number: UInt64, sequence: UInt64) throws -> [UInt8] {
    let message = ClusterMessage.acks(AckBatch(batch: 0, senders: []))
    let head = FrameHead(
      type: message.type, from: Incarnation(number), to: Incarnation(2), sequence: sequence)
    return try #require(
      ClusterFrame.encode(
        head, [ClusterEntry(app: AppID(1), epoch: Epoch(1), message)], cluster: ClusterSamples.cluster))
  }

  @Test func aNumberThatWasNeverGivenIsForgotten() {
    var inbound = InboundOrder()
    var output: [InboundOrder.Output] = []
    _ = inbound.add(1, [1], now: 0, &output)
    _ = inbound.add(100_000, [9], now: 0, &output)
    inbound.tick(now: ClusterLimits.reorderDelay, &output)
    #expect(inbound.passed == 100_000)
    output = []
    for second: UInt64 in 1...10 {
      let isPossible = inbound.note(sent: second, now: second * Self.second, &output)
      #expect(isPossible && output.isEmpty, "it may be late")
    }
    _ = inbound.note(sent: 11, now: 11 * Self.second, &output)
    #expect(inbound.passed == 11 && output.count == 1)
    let verdict = inbound.add(12, [12], now: 12 * Self.second, &output)
    #expect(verdict == .taken && output.last == .frame([12]))
  }

  /// As many late positions as may be, each followed by one that is not.
  @Test func latePositionsChangeNothing() {
    var inbound = InboundOrder()
    var output: [InboundOrder.Output] = []
    for second: UInt64 in 1...60 {
      _ = inbound.add(second, [], now: second * Self.second, &output)
      let sent = second % 4 == 0 ? second - 1 : second / 2
      _ = inbound.note(sent: sent, now: second * Self.second, &output)
    }
    #expect(inbound.passed == 60 && output.count == 60)
    let isPossible = inbound.note(sent: .max, now: 61 * Self.second, &output)
    #expect(!isPossible && inbound.passed == 60)
  }

  @Test func aPairGoesOnAfterAMadeUpFrame() throws {
    let pair = NodeTests.Pair()
    try pair.turn()
    pair.nodes[1].receive(try frame(from: 1, sequence: 100_000), now: pair.now)
    for batch: UInt64 in 1...16 {
      let acks = ClusterMessage.acks(AckBatch(batch: batch, senders: []))
      let entry = ClusterEntry(app: AppID(1), epoch: Epoch(1), acks)
      pair.nodes[0].send(entry, to: Incarnation(2), now: pair.now)
      try pair.run(seconds: 1)
    }
    let last = ClusterMessage.acks(AckBatch(batch: 16, senders: []))
    #expect(
      pair.events[1].contains {
        if case .message(_, let entry, _) = $0 { entry.message == last } else { false }
      })
    try pair.run(seconds: 2)
    #expect(pair.nodes[0].mostUnapplied == 0)
  }

  @Test func madeUpSendersTakeBoundedRoom() throws {
    var node = NodeTests.Pair().nodes[1]
    for number: UInt64 in 1...5000 {
      node.receive(try frame(from: 1_000_000 + number, sequence: 1), now: Self.second)
    }
    #expect(node.links.count == ClusterLimits.maxLinks)
    _ = node.drainOutput()
    // Once they have said nothing for a while, they make room for nodes.
    var other = NodeTests.Pair().nodes[0]
    func sayHello(at now: UInt64) -> [ClusterOutput] {
      other.tick(now: now)
      for case .publish(let frame, .all) in other.drainOutput() { node.receive(frame, now: now) }
      return node.drainOutput()
    }
    #expect(sayHello(at: 2 * Self.second).isEmpty)
    let heard = sayHello(at: 10 * Self.second)
    #expect(heard.contains(.dropped(Incarnation(1_000_001))))
    #expect(heard.contains { if case .joined(Incarnation(1), _) = $0 { true } else { false } })
    #expect(node.links.count == ClusterLimits.maxLinks)
  }

  @Test func aMadeUpEpochIsForgotten() {
    var receiver = DeliveryReceiver(home: Incarnation(1), epoch: Epoch(4))
    let push = ClusterMessage.pushOne(SinglePush(id: MessageID(5), handles: [], content: []))
    _ = receiver.receive(push, now: 0)
    let isAccepted = receiver.adopt(Incarnation(9), Epoch(1 << 50))
    let isRight = receiver.adopt(Incarnation(1), Epoch(4))
    #expect(isAccepted && !isRight)
    receiver.fallBack(to: Epoch(4))
    let isHeard = receiver.adopt(Incarnation(1), Epoch(4))
    #expect(isHeard && receiver.home == Incarnation(1) && receiver.applied == MessageID(5))
  }
}
