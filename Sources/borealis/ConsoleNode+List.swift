import PushCluster
import PushConsole
import PushStorage

extension ConsoleNode {
  /// The nodes of a cluster as the home knows them: from the database, and from what they have told over the bus.
  static func list(
    _ nodes: [NodeRow], own: Int64, _ peers: [(incarnation: Incarnation, hello: NodeHello)],
    connections: Int64
  ) -> [ConsoleNode] {
    let loads = Dictionary(
      peers.map { (Int64(clamping: $0.incarnation.rawValue), Int(clamping: $0.hello.load)) },
      uniquingKeysWith: { $1 })
    return nodes.map { node in
      let isOwn = node.incarnation == own
      return ConsoleNode(
        name: node.name, address: node.address, version: node.version, isHome: isOwn,
        isDraining: node.isDraining,
        connections: isOwn ? Int(clamping: connections) : loads[node.incarnation],
        startedAt: node.startedAt)
    }
  }
}
