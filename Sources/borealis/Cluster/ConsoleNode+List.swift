import Cluster
import Console
import Storage

extension ConsoleNode {
  /// The nodes of a cluster as the home knows them: from the database, and from what they have told over the
  /// bus. `apps` are how many apps the home on each node has; nil if one home has all.
  static func list(
    _ nodes: [NodeRow], dead: [DeadNode], own: Int64,
    _ peers: [(incarnation: Incarnation, hello: NodeHello)], apps: [Int64: Int]? = nil, connections: Int64
  ) -> [ConsoleNode] {
    let loads = Dictionary(
      peers.map { (Int64(clamping: $0.incarnation.rawValue), Int(clamping: $0.hello.load)) },
      uniquingKeysWith: { $1 })
    let (reachability, names) = (Reachability(nodes), Set(nodes.map(\.name)))
    let alive = nodes.map { node in
      let isOwn = node.incarnation == own
      var entry = ConsoleNode(
        name: node.name, address: node.address, version: node.version, isHome: isOwn,
        apps: apps.map { $0[node.incarnation] ?? 0 }, isDraining: node.isDraining,
        connections: isOwn ? Int(clamping: connections) : loads[node.incarnation],
        startedAt: node.startedAt)
      entry.isOutOfReach =
        node.reaches != nil && !node.isDraining && !reachability.homes.contains(node.incarnation)
      return entry
    }
    return alive
      + dead.filter { !names.contains($0.name) }.map { node in
        var entry = ConsoleNode(
          name: node.name, address: node.address, version: node.version, isHome: false, isDraining: false,
          connections: nil, startedAt: nil)
        entry.lastSeenAt = node.seenAt
        return entry
      }
  }
}
