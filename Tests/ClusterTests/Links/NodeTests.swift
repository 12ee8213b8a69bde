import BorealisBase
import PushTesting
import Testing

@testable import Cluster

/// Nodes that meet over a bus without faults.
@Suite struct NodeTests {
  final class Pair {
    var nodes: [ClusterNode]
    var events: [[ClusterOutput]] = [[], []]
    var now: UInt64 = 1_000_000_000

    init(
      _ one: ClosedRange<UInt8> = ClusterLimits.versions, _ two: ClosedRange<UInt8> = ClusterLimits.versions
    ) {
      nodes = [(1, one), (2, two)].map { number, versions in
        ClusterNode(
          cluster: ClusterSamples.cluster, incarnation: Incarnation(number),
          hello: NodeHello(versions: versions, name: "n\(number)", address: "h:\(number)", program: "1"),
          now: 1_000_000_000)
      }
    }

    /// Lets time go by; frames arrive at once, unless `loses` says otherwise.
    func run(seconds: UInt64, loses: (FrameHead) -> Bool = { _ in false }) throws {
      let end = now + seconds * 1_000_000_000
      while now < end {
        now = min(end, max(now, nodes.map(\.deadline).min() ?? end))
        try turn(loses: loses)
        if nodes.allSatisfy({ $0.deadline > end }) { now = end }
      }
    }

    func turn(loses: (FrameHead) -> Bool = { _ in false }) throws {
      var isBusy = true
      while isBusy {
        isBusy = false
        for index in 0..<2 {
          nodes[index].tick(now: now)
          for item in nodes[index].drainOutput() {
            guard case .publish(let frame, _) = item else {
              events[index].append(item)
              continue
            }
            isBusy = true
            let head = try FrameHead(of: frame, cluster: ClusterSamples.cluster, versions: 1...255)
            if !loses(head) { nodes[1 - index].receive(frame, now: now) }
          }
        }
      }
    }
  }

  private func push(_ id: UInt64) -> ClusterMessage {
    .pushOne(SinglePush(id: MessageID(id), handles: [], content: [1]))
  }

  private func pushes(_ events: [ClusterOutput]) -> [UInt64] {
    events.compactMap { event in
      guard case .message(_, let entry, _) = event, case .pushOne(let push) = entry.message else {
        return nil
      }
      return push.id.rawValue
    }
  }

  @Test func nodesGetToKnowEachOther() throws {
    let pair = Pair()
    let early = pair.nodes[0].send(
      ClusterEntry(app: .none, epoch: .none, push(1)), to: Incarnation(2), now: pair.now)
    #expect(early == .unknown, "nothing is sent to a node that has not said hello")
    try pair.turn()
    for index in 0..<2 {
      guard case .joined(let peer, let hello)? = pair.events[index].first else {
        Issue.record("node \(index + 1) knows nobody")
        return
      }
      #expect(peer == Incarnation(UInt64(2 - index)) && hello.name == "n\(2 - index)")
    }
    pair.nodes[0].update(load: 700, isDraining: true)
    try pair.run(seconds: 3)
    #expect(
      pair.events[1].contains {
        if case .changed(_, let hello) = $0 { hello.load == 700 && hello.isDraining } else { false }
      })
    try pair.run(seconds: 8) { $0.from == Incarnation(1) }
    #expect(pair.events[1].contains(.silent(Incarnation(1))))
    #expect(!pair.events[0].contains(.silent(Incarnation(2))), "one way only")
    try pair.run(seconds: 3)
    #expect(pair.events[1].last == .heard(Incarnation(1)))
  }

  /// A HELLO that was said before there was a bus reaches nobody.
  @Test func aNodeSaysHelloWhenTheBusIsThere() throws {
    let pair = Pair()
    try pair.turn { _ in true }
    pair.now += 1000
    try pair.turn()
    #expect(pair.events.allSatisfy { $0.isEmpty })
    pair.nodes[0].greet()
    try pair.turn()
    let known = pair.events.allSatisfy { $0.contains { if case .joined = $0 { true } else { false } } }
    #expect(known)
  }

  /// With many nodes this would be most of what they say.
  @Test func nodesThatHaveAppliedEverythingSayNothing() throws {
    let pair = Pair()
    try pair.turn()
    pair.nodes[0].openStream(AppID(1), epoch: Epoch(1), to: Incarnation(2), after: MessageID(0))
    pair.nodes[0].deliver(AppID(1), push(1), to: Incarnation(2), now: pair.now)
    try pair.run(seconds: 3)
    #expect(pushes(pair.events[1]) == [1])
    var types: [UInt8] = []
    try pair.run(seconds: 10) { head in
      types.append(head.type.rawValue)
      return false
    }
    #expect(Set(types) == [MessageType.hello.rawValue] && types.count <= 12)
    #expect(pair.events.allSatisfy { !$0.contains { if case .silent = $0 { true } else { false } } })
  }

  @Test(
    arguments: [
      (1...1, 1...2, 1), (1...2, 1...2, 2), (2...3, 1...2, 2), (2...2, 1...1, 0),
    ] as [(ClosedRange<UInt8>, ClosedRange<UInt8>, UInt8)])
  func neighboringVersionsWorkTogether(
    one: ClosedRange<UInt8>, two: ClosedRange<UInt8>, common: UInt8
  ) throws {
    let pair = Pair(one, two)
    try pair.turn()
    let known = pair.events.allSatisfy { $0.contains { if case .joined = $0 { true } else { false } } }
    #expect(known == (common > 0))
    let refused = pair.events.allSatisfy {
      $0.contains { if case .incompatible = $0 { true } else { false } }
    }
    #expect(refused == (common == 0))
    var versions: Set<UInt8> = []
    pair.nodes[0].openStream(AppID(1), epoch: Epoch(1), to: Incarnation(2), after: MessageID(0))
    pair.nodes[0].deliver(AppID(1), push(1), to: Incarnation(2), now: pair.now)
    try pair.run(seconds: 3) { head in
      if head.type != .hello { versions.insert(head.version) }
      return false
    }
    #expect(versions == (common > 0 ? [common] : []))
    #expect(pushes(pair.events[1]) == (common > 0 ? [1] : []))
  }

  /// A lost push comes with a replay: at the next push, or when a second is over.
  @Test(arguments: [false, true])
  func lostPushesAreReplayed(isTail: Bool) throws {
    let pair = Pair()
    try pair.turn()
    let app = AppID(4)
    pair.nodes[0].openStream(app, epoch: Epoch(1), to: Incarnation(2), after: MessageID(0))
    for id: UInt64 in 1...3 {
      pair.nodes[0].deliver(app, push(id), to: Incarnation(2), now: pair.now)
      try pair.turn { $0.type == .pushOne && (id == 2 || isTail && id == 3) }
      pair.now += 10_000_000
    }
    #expect(pushes(pair.events[1]) == [1], "what is behind a gap waits")
    for _ in 0..<5 {
      try pair.run(seconds: 1)
      for case .replay(app, let gateway, let id) in pair.events[0] {
        let open = (id.rawValue + 1..<4).map(push)
        pair.nodes[0].replay(app, to: gateway, after: id, open, through: MessageID(3), now: pair.now)
      }
      pair.events[0] = []
    }
    #expect(pushes(pair.events[1]) == [1, 2, 3])
    #expect(pair.nodes[1].applied(of: app) == MessageID(3))
    #expect(pair.events[1].contains(.gap(from: Incarnation(1))))
  }

  @Test func theOwnGatewayNeedsNoBytes() {
    var node = Pair().nodes[0]
    node.openStream(AppID(1), epoch: Epoch(3), to: Incarnation(1), after: MessageID(0))
    let isDelivered = node.deliver(AppID(1), push(1), to: Incarnation(1), now: 1)
    #expect(isDelivered)
    let entry = ClusterEntry(app: AppID(1), epoch: Epoch(3), push(1))
    #expect(node.drainOutput() == [.message(from: Incarnation(1), entry, age: 0)])
  }

  @Test func theDeadAreNotHeard() throws {
    let pair = Pair()
    try pair.turn()
    pair.nodes[1].forget(Incarnation(1))
    pair.events[1] = []
    try pair.run(seconds: 10)
    #expect(pair.events[1].isEmpty && pair.nodes[1].peers.isEmpty)
  }

  @Test func nodesOfAnotherDatabaseAreNotHeard() throws {
    let cluster = ClusterSamples.cluster
    let (one, other) = try (
      #require(cluster.inDatabase("0123456789abcdef01234567")), #require(cluster.inDatabase("b"))
    )
    #expect(one.text == cluster.text && cluster.inDatabase(String(repeating: "a", count: 25)) == nil)
    func hello(of cluster: ClusterName, _ number: UInt64) -> (node: ClusterNode, frames: [[UInt8]]) {
      var node = ClusterNode(
        cluster: cluster, incarnation: Incarnation(number),
        hello: NodeHello(name: "n\(number)", address: "h:\(number)", program: "1"), now: 0)
      node.tick(now: 0)
      let frames = node.drainOutput().compactMap { item -> [UInt8]? in
        guard case .publish(let frame, _) = item else { return nil }
        return frame
      }
      return (node, frames)
    }
    var node = hello(of: one, 1).node
    for frame in hello(of: other, 2).frames + hello(of: cluster, 2).frames { node.receive(frame, now: 1) }
    #expect(node.drainOutput() == [.foreign])
    #expect(node.peers.isEmpty)
    for frame in hello(of: one, 2).frames { node.receive(frame, now: 2) }
    #expect(node.peers == [Incarnation(2)])
  }

  /// Nodes that send nothing do not tell their timeline either.
  @Test func newerTimelinesAreToldWithWhatIsSent() throws {
    let pair = Pair()
    try pair.turn()
    pair.nodes[0].timeline = 7
    try pair.run(seconds: 5)
    #expect(!pair.events[1].contains(.newerTimeline(7)))
    _ = pair.nodes[0].send(
      ClusterEntry(app: .none, epoch: .none, push(1)), to: Incarnation(2), now: pair.now)
    try pair.run(seconds: 5)
    #expect(pair.events[1].filter { $0 == .newerTimeline(7) }.count == 1)
    #expect(!pair.events[0].contains { if case .newerTimeline = $0 { true } else { false } })
  }
}
