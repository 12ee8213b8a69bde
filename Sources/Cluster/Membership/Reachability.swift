import Storage

/// Which nodes may be homes, by what all of them tell about whom they reach for requests.
///
/// A home serves the requests that other nodes took, so a majority of the live nodes has to reach it, and it
/// has to reach them. Of two halves the one with the oldest node counts. If no node has a majority, nobody
/// can say which nodes are to blame, and all of them may be homes: apps stay where they are.
///
/// A node that has not tried yet has no say, and is not a home beside nodes that have. Programs of the
/// version before tell nothing: they may be homes, and have no say either.
package struct Reachability: Sendable, Equatable {
  /// The nodes that may be homes.
  package let homes: Set<Int64>
  /// The nodes that tell whom they reach.
  private let told: [Int64: Set<Int64>]

  /// Judges the nodes that are connected to the database and do not end.
  package init(_ nodes: [NodeRow]) {
    let live = nodes.filter { $0.isConnected && !$0.isDraining }
    var told: [Int64: Set<Int64>] = [:]
    for node in live where node.capabilities.contains(.reportsReach) {
      if let reaches = node.reaches { told[node.incarnation] = reaches }
    }
    self.told = told
    let oldest = told.keys.min()
    let majority = told.keys.filter { node in
      let group = Self.mutual(node, told)
      let (inside, all) = (group.count + 1, told.count)
      return 2 * inside > all || 2 * inside == all && (oldest == node || oldest.map(group.contains) == true)
    }
    let untold = live.filter { told[$0.incarnation] == nil }
    let old = untold.filter { !$0.capabilities.contains(.reportsReach) }.map(\.incarnation)
    if majority.isEmpty {
      homes = Set(live.map(\.incarnation))
    } else {
      homes = Set(majority).union(old)
    }
  }

  /// The nodes that do not reach one, and those that it does not reach, as far as they tell.
  package func gaps(of node: Int64) -> (notReachedBy: Set<Int64>, doesNotReach: Set<Int64>) {
    guard let own = told[node] else { return ([], []) }
    let others = told.filter { $0.key != node }
    return (Set(others.filter { !$0.value.contains(node) }.keys), Set(others.keys).subtracting(own))
  }

  private static func mutual(_ node: Int64, _ told: [Int64: Set<Int64>]) -> Set<Int64> {
    guard let own = told[node] else { return [] }
    return own.filter { $0 != node && told[$0]?.contains(node) == true }
  }
}
