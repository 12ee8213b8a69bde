import PushTesting
import Storage
import Testing

@testable import Cluster

@Suite struct MembershipTests {
  private static let second: UInt64 = 1_000_000_000

  private static func node(_ incarnation: Int64, beat: Int64 = 0, isDraining: Bool = false) -> NodeRow {
    NodeRow(
      incarnation: incarnation, name: "n\(incarnation)", address: "127.0.0.1:\(incarnation)",
      isDraining: isDraining, beat: beat)
  }

  private static let home = HomeRow(incarnation: 1, epoch: 7, fence: 70)

  /// Shows a node the same rows again and again, a second apart, with beats that go on for some of them.
  private func watch(
    _ membership: inout Membership, _ nodes: [NodeRow], home: HomeRow?, isFree: Bool = false,
    beating: Set<Int64> = [], seconds: ClosedRange<UInt64>
  ) -> [(UInt64, Membership.Action)] {
    seconds.flatMap { second in
      let view = ClusterView(
        nodes: nodes.map { node in
          var node = node
          if beating.contains(node.incarnation) { node.beat += Int64(second) }
          return node
        }, home: home, isFree: isFree)
      return membership.observe(view, at: second * Self.second).map { (second, $0) }
    }
  }

  private func isTakeOver(_ action: Membership.Action?) -> Bool {
    if case .takeOver = action { true } else { false }
  }

  @Test func `A node follows the home and says so once`() {
    var membership = Membership(own: 2)
    let nodes = [Self.node(1), Self.node(2)]
    let actions = watch(&membership, nodes, home: Self.home, beating: [1, 2], seconds: 10...20)
    #expect(actions.map(\.1) == [.follow(nodes[0].with(beat: 10), epoch: 7)])
    #expect(membership.pause == Self.second)
  }

  /// A node without a connection is dead soon, but not for one that has come back to the database itself just
  /// now.
  @Test func `A node without a connection is given up sooner, by who has seen it for a while`() {
    var timing = Membership.Timing()
    timing.lostAfter = 2_500_000_000
    var membership = Membership(own: 2, timing: timing)
    var lost = Self.node(1, beat: 50)
    lost.isConnected = false
    lost.spreadsApps = true
    func removals(_ seconds: ClosedRange<UInt64>, _ node: NodeRow, beating: Set<Int64>) -> [UInt64] {
      watch(&membership, [node, Self.node(2)], home: nil, beating: beating, seconds: seconds).compactMap {
        if case .remove = $0.1 { $0.0 } else { nil }
      }
    }
    #expect(removals(10...20, Self.node(1), beating: [1, 2]) == [])
    #expect(removals(21...24, lost, beating: [2]) == [24])
    // It looks more often meanwhile, to see in time that it is dead.
    #expect(membership.pause < Self.second)
    membership.fail()
    #expect(removals(30...35, lost, beating: [2]) == [])
    #expect(removals(36...36, lost, beating: [2]) == [36])
  }

  @Test func `The oldest node of a new cluster takes over at once and the next waits`() {
    let nodes = [Self.node(1), Self.node(2), Self.node(3)]
    var oldest = Membership(own: 1)
    #expect(
      watch(&oldest, nodes, home: nil, isFree: true, seconds: 5...5).map(\.1)
        == [.follow(nil, epoch: 0), .takeOver(replacing: nil)])
    var third = Membership(own: 3, random: SeededRandom(seed: 1))
    #expect(
      watch(&third, nodes, home: nil, isFree: true, seconds: 5...5).map(\.1) == [.follow(nil, epoch: 0)])
    #expect(third.pause < Self.second)
    #expect(
      third.observe(.init(nodes: nodes, home: nil, isFree: true), at: 5 * Self.second + 500_000_000) == [])
    #expect(
      third.observe(.init(nodes: nodes, home: nil, isFree: true), at: 5 * Self.second + 700_000_000)
        == [.takeOver(replacing: nil)])
  }

  @Test func `A home without beat and without connection is replaced after two seconds`() {
    var membership = Membership(own: 2)
    let nodes = [Self.node(1), Self.node(2)]
    _ = watch(&membership, nodes, home: Self.home, beating: [1, 2], seconds: 1...5)
    let stopped = [Self.node(1, beat: 5), Self.node(2)]
    let actions = watch(&membership, stopped, home: Self.home, isFree: true, beating: [2], seconds: 6...7)
    #expect(actions.map(\.1) == [.takeOver(replacing: nil)] && actions.first?.0 == 7)
  }

  @Test func `A home that stands still but is connected is dead after six seconds`() {
    var membership = Membership(own: 2)
    let nodes = [Self.node(1), Self.node(2)]
    _ = watch(&membership, nodes, home: Self.home, beating: [1, 2], seconds: 1...5)
    let stopped = [Self.node(1, beat: 5), Self.node(2)]
    let actions = watch(&membership, stopped, home: Self.home, beating: [2], seconds: 6...11)
    #expect(actions.map(\.1) == [.remove(stopped[0], silent: 6 * Self.second)] && actions.first?.0 == 11)
    // Its row is gone, and its connections are to be ended.
    let rest = watch(&membership, [Self.node(2)], home: Self.home, beating: [2], seconds: 12...12)
    #expect(
      rest.map(\.1) == [
        .gone(stopped[0]), .follow(nil, epoch: 7), .takeOver(replacing: Self.home),
      ])
  }

  @Test func `A home that hands over is replaced at once`() {
    var membership = Membership(own: 2)
    let nodes = [Self.node(1, isDraining: true), Self.node(2)]
    _ = watch(&membership, nodes, home: Self.home, beating: [1, 2], seconds: 1...5)
    #expect(membership.pause < Self.second)
    let actions = watch(&membership, nodes, home: Self.home, isFree: true, beating: [1, 2], seconds: 6...6)
    #expect(actions.map(\.1) == [.follow(nil, epoch: 7), .takeOver(replacing: nil)])
  }

  @Test func `Nobody is dead who could not be seen`() {
    let nodes = [Self.node(1), Self.node(2), Self.node(3)]
    // The database was away for everybody.
    var cut = Membership(own: 2)
    _ = watch(&cut, nodes, home: Self.home, beating: [1, 2, 3], seconds: 1...5)
    cut.fail()
    #expect(
      watch(&cut, nodes, home: Self.home, isFree: true, seconds: 15...16).allSatisfy { !isTakeOver($0.1) })
    // This node stood still.
    var frozen = Membership(own: 2)
    _ = watch(&frozen, nodes, home: Self.home, beating: [1, 2, 3], seconds: 1...5)
    let actions = watch(&frozen, nodes, home: Self.home, isFree: true, seconds: 65...66)
    #expect(actions.isEmpty)
  }

  @Test func `A node that ends becomes no home`() {
    var membership = Membership(own: 2)
    membership.drain()
    let actions = watch(&membership, [Self.node(2)], home: nil, isFree: true, seconds: 1...9)
    #expect(actions.map(\.1) == [.follow(nil, epoch: 0)])
  }

  @Test func `A home notices that it is home no more`() {
    let nodes = [Self.node(1), Self.node(2)]
    for (home, isLost) in [
      (Self.home, false), (HomeRow(incarnation: 2, epoch: 8, fence: 1), true),
      // A look from before its own take-over.
      (HomeRow(incarnation: 2, epoch: 6, fence: 1), false),
    ] {
      var membership = Membership(own: 1)
      membership.lead(epoch: 7)
      let actions = watch(&membership, nodes, home: home, beating: [1, 2], seconds: 1...2)
      #expect(actions.map(\.1) == (isLost ? [.lost] : []))
    }
    var removed = Membership(own: 1)
    #expect(removed.observe(nil, at: 1) == [.lost])
    #expect(removed.observe(nil, at: 2) == [])
  }

  @Test func `A node that failed to become the home tries again later`() {
    var membership = Membership(own: 1)
    let nodes = [Self.node(1)]
    #expect(isTakeOver(watch(&membership, nodes, home: nil, seconds: 1...1).last?.1))
    #expect(watch(&membership, nodes, home: nil, beating: [1], seconds: 2...4).isEmpty)
    membership.giveUp(at: 4 * Self.second)
    let actions = watch(&membership, nodes, home: nil, beating: [1], seconds: 5...6)
    #expect(actions.map(\.1) == [.takeOver(replacing: nil)])
  }

  @Test func `A node that cannot become the home tries ever more seldom`() {
    var membership = Membership(own: 1)
    let nodes = [Self.node(1)]
    var attempts: [UInt64] = []
    for second in UInt64(1)...200 {
      let actions = watch(&membership, nodes, home: nil, beating: [1], seconds: second...second)
      guard actions.contains(where: { isTakeOver($0.1) }) else { continue }
      attempts.append(second)
      membership.giveUp(at: second * Self.second, lasts: true)
    }
    let pauses = zip(attempts, attempts.dropFirst()).map { $1 - $0 }
    #expect(pauses == pauses.sorted() && pauses.last.map { $0 >= 60 } == true, "\(attempts)")
    #expect(attempts.count < 12)
  }

  @Test(arguments: 0..<60)
  func `Whatever fails, there is one home in the end`(seed: UInt64) {
    var world = SimulatedMembers(seed: seed)
    world.run(milliseconds: 60_000, withFaults: true)
    world.heal()
    world.run(milliseconds: 20_000, withFaults: false)
    #expect(world.faults == [])
    #expect(world.homes.count == 1)
    #expect(world.isAgreed)
    #expect(world.takeOvers > 0)
  }
}

extension NodeRow {
  fileprivate func with(beat: Int64) -> NodeRow {
    var row = self
    row.beat = beat
    return row
  }
}
