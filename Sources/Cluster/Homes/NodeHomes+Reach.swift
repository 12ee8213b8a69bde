import BorealisBase
import Storage
import Synchronization

/// What follows from nodes that do not reach each other for requests.
extension NodeHomes {
  /// Notes which nodes may not be homes.
  func noteUnreachable(_ view: ClusterView) {
    let out = Self.unreachable(among: view.nodes)
    let (now, counts) = (time.monotonic(), homeCounts)
    state.withLock { state in
      state.unreachable.note(
        Dictionary(out.map { ($0.incarnation, counts[$0.incarnation] ?? 0) }) { $1 }, at: now)
    }
  }

  private static func unreachable(among nodes: [NodeRow]) -> [NodeRow] {
    let homes = Reachability(nodes).homes
    return nodes.filter { $0.isConnected && !$0.isDraining && !homes.contains($0.incarnation) }
  }

  /// Gives everything to nodes that may be homes, if this one may not; false if it may.
  func giveBack(_ home: NodeHome, _ view: ClusterView) -> Bool {
    let now = time.monotonic()
    let (isOut, isEnding) = state.withLock {
      ($0.unreachable.givesBack(home.own.node, at: now), $0.isHandingOver)
    }
    guard isOut else { return false }
    guard homeCounts[home.own.node] != nil, !isEnding else { return true }
    let reason = ReachGaps(of: home.own.node, in: view)?.text ?? ""
    log.warning("this node gives up its apps", ["reason": .text(reason)])
    _ = handOverAll(of: home, view)
    return true
  }

  /// How much each node is the home of. What is left of deleted apps stays where it is.
  private var homeCounts: [Int64: Int] {
    let rows = state.withLock(\.rows).filter { !$0.isDeleted }
    return Dictionary(rows.map { ($0.home.incarnation, 1) }) { $0 + $1 }
  }

  /// Ends nodes that have apps, may not, and do not give them back; not for a node that may not have any
  /// itself.
  func expelOthers(_ view: ClusterView, as own: Int64) throws(StorageError) {
    let now = time.monotonic()
    let stuck = state.withLock { $0.unreachable.contains(own) ? [] : $0.unreachable.stuck(at: now) }
    for node in view.nodes where stuck.contains(node.incarnation) {
      let isExpelled = try registry.expel(node, by: own, at: time.now()) { nodes in
        // A node that tells nothing yet was not tried.
        Self.unreachable(among: nodes).contains { $0.incarnation == node.incarnation && $0.reaches != nil }
      }
      guard isExpelled else { continue }
      log.warning(
        "replacing a home that other nodes cannot reach",
        ["node": .text(node.name), "address": .text(node.address)])
    }
  }
}
