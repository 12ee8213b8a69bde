import Storage
import Testing

@testable import Cluster

@Suite struct ReachabilityTests {
  /// A node and the nodes that it reaches; nil for one that has not tried.
  private static func node(
    _ incarnation: Int64, _ reaches: Set<Int64>?, _ change: (inout NodeRow) -> Void = { _ in }
  ) -> NodeRow {
    var row = NodeRow(incarnation: incarnation, name: "n\(incarnation)", address: "")
    (row.capabilities, row.reaches) = (.own, reaches)
    change(&row)
    return row
  }

  private static func old(_ incarnation: Int64) -> NodeRow { node(incarnation, nil) { $0.capabilities = [] } }

  @Test(
    arguments: [
      ("one alone", [node(1, [])], [1]),
      ("one alone that has not tried", [node(1, nil)], [1]),
      ("all start at once", [node(1, nil), node(2, nil), node(3, nil)], [1, 2, 3]),
      ("all reach each other", [node(1, [2, 3]), node(2, [1, 3]), node(3, [1, 2])], [1, 2, 3]),
      ("nobody reaches the third", [node(1, [2]), node(2, [1]), node(3, [1, 2])], [1, 2]),
      ("the third reaches nobody", [node(1, [2, 3]), node(2, [1, 3]), node(3, [])], [1, 2]),
      ("the third has not tried", [node(1, [2, 3]), node(2, [1, 3]), node(3, nil)], [1, 2]),
      ("the first is the wrong one", [node(1, []), node(2, [1, 3]), node(3, [1, 2])], [2, 3]),
      ("one way is cut between two", [node(1, [2, 3]), node(2, [1]), node(3, [1, 2])], [1, 2, 3]),
      ("two that do not reach each other", [node(1, []), node(2, [])], [1]),
      ("two halves", [node(1, [4]), node(2, [3]), node(3, [2]), node(4, [1])], [1, 4]),
      ("nobody reaches anybody", [node(1, []), node(2, []), node(3, [])], [1, 2, 3]),
      ("a version before", [old(1), node(2, [1, 3]), node(3, [1])], [1, 2]),
      ("only versions before", [old(1), old(2)], [1, 2]),
      ("one ends", [node(1, [2]), node(2, [1]) { $0.isDraining = true }, node(3, [1])], [1]),
      (
        "one has lost the database",
        [node(1, [2]) { $0.isConnected = false }, node(2, [1, 3]), node(3, [1, 2])], [2, 3]
      ),
    ] as [(String, [NodeRow], Set<Int64>)])
  func `Homes are nodes that a majority reaches and that reach it`(
    name: String, nodes: [NodeRow], homes: Set<Int64>
  ) {
    #expect(Reachability(nodes).homes == homes, "\(name)")
  }

  @Test func `It says who does not reach whom`() {
    let nodes = [Self.node(1, [2]), Self.node(2, [1, 3]), Self.node(3, [1]), Self.node(4, nil)]
    let gaps = Reachability(nodes).gaps(of: 3)
    #expect(gaps.notReachedBy == [1] && gaps.doesNotReach == [2])
    #expect(Reachability(nodes).gaps(of: 4).doesNotReach == [])
  }

  @Test func `Who may not be a home does not become it`() {
    func takesOver(_ own: Int64, _ nodes: [NodeRow]) -> Bool {
      var membership = Membership(own: own)
      var actions: [Membership.Action] = []
      for second in 1...5 as ClosedRange<UInt64> {
        actions += membership.observe(
          ClusterView(nodes: nodes, home: nil, isFree: true), at: second * 1_000_000_000)
      }
      return actions.contains(.takeOver(replacing: nil))
    }
    let nodes = [Self.node(1, []), Self.node(2, [1, 3]), Self.node(3, [1, 2])]
    #expect([1, 2, 3].map { takesOver($0, nodes) } == [false, true, true])
  }
}
