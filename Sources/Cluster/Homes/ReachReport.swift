import Storage

/// Which nodes reach each other for requests, as one of them sees it, and what it says about that.
struct ReachReport {
  /// Why the node may not be a home; nil if it may.
  private let gaps: ReachGaps?
  private let isMember: Bool
  private let reachesNobody: Bool
  private let problems: [String]

  /// What a node knows now.
  init(_ runner: MembershipRunner, _ reach: NodeReach) {
    let view = runner.view
    isMember = view != nil
    gaps = view.flatMap { ReachGaps(of: runner.incarnation, in: $0) }
    reachesNobody = reach.reached?.isEmpty == true
    problems = reach.problems.map {
      "does not reach \($0.node.name) at \($0.node.host):\($0.node.port): \($0.reason)"
    }
  }

  /// Whether the node may be the home of apps.
  var mayBeHome: Bool { isMember && gaps == nil }

  /// Why the node cannot pass requests on: it may not be a home, and reaches no other node.
  var obstacle: String? {
    guard let gaps, !gaps.isUnknown, reachesNobody else { return nil }
    return ([gaps.text] + problems).joined(separator: "\n")
  }

  /// What is to be said besides if nodes do not reach each other.
  var lines: [String] {
    let own = gaps.map { $0.isUnknown ? [] : ["no home of apps: \($0.text)"] } ?? []
    return own + problems
  }
}

extension NodeReach {
  /// Asks the other nodes of the cluster from now on whether they take requests of this one.
  func follow(_ runner: MembershipRunner) {
    let others = (runner.view?.nodes ?? []).filter { $0.incarnation != runner.incarnation && !$0.isDraining }
    follow(
      Dictionary(others.compactMap { node in NodeAddress(of: node).map { (node.incarnation, $0) } }) { $1 })
  }
}
