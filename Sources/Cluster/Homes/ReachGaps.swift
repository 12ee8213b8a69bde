import Storage

/// Why a node may not be the home of anything: too few nodes and it reach each other for requests.
struct ReachGaps: Equatable {
  /// The nodes that do not reach it, by name.
  let notReachedBy: [String]
  /// The nodes that it does not reach.
  let doesNotReach: [String]
  /// Whether it has not tried yet.
  let isUnknown: Bool

  /// Nil for a node that may be a home.
  init?(of node: Int64, in view: ClusterView) {
    let reachability = Reachability(view.nodes)
    guard let row = view.nodes.first(where: { $0.incarnation == node }), !row.isDraining,
      !reachability.homes.contains(node)
    else { return nil }
    let gaps = reachability.gaps(of: node)
    func names(_ nodes: Set<Int64>) -> [String] {
      view.nodes.filter { nodes.contains($0.incarnation) }.map(\.name).sorted()
    }
    (notReachedBy, doesNotReach) = (names(gaps.notReachedBy), names(gaps.doesNotReach))
    isUnknown = row.reaches == nil
  }

  /// For people.
  var text: String {
    if isUnknown { return "it is not known yet whether the other nodes and this one reach each other" }
    var parts: [String] = []
    if !notReachedBy.isEmpty { parts.append("not reached by \(notReachedBy.joined(separator: ", "))") }
    if !doesNotReach.isEmpty { parts.append("does not reach \(doesNotReach.joined(separator: ", "))") }
    return "too few nodes and this one reach each other: " + parts.joined(separator: "; ")
  }
}
