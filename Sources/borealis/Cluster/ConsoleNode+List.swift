import Cluster
import Console
import Storage

extension ConsoleNode {
  /// The nodes of a cluster as this one knows them: from the database, and from what they have told over the
  /// bus. `connections` is how many devices are connected here.
  static func list(of cluster: ClusterService, connections: Int64) -> [ConsoleNode] {
    let (nodes, dead, own, apps) = cluster.members
    let peers = cluster.link.peers
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
