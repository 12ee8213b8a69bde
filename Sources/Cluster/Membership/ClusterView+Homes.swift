import Storage

extension NodeRegistry {
  /// What the database says now, without a sign of life of the node that asks; what was known before if it
  /// cannot be read.
  func view(as node: Int64, orKnown known: ClusterView? = nil) -> ClusterView? {
    ClusterView.read(orKnown: known) { () throws(StorageError) in try look(as: node, beats: false) }
  }
}

/// Which nodes there are for what another one has.
extension ClusterView {
  static func read(
    orKnown known: ClusterView?, _ look: () throws(StorageError) -> ClusterView?
  ) -> ClusterView? {
    do throws(StorageError) { return try look() ?? known } catch { return known }
  }

  /// Whether a node other than this one can become the home.
  func hasHeir(of node: Int64) -> Bool {
    nodes.contains { $0.incarnation != node && !$0.isDraining }
  }

  /// Whether no node other than this one is a home of apps.
  func isOnlyHome(_ node: Int64) -> Bool {
    !nodes.contains { $0.isHome && $0.incarnation != node }
  }
}
