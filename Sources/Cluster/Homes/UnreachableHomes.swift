/// The nodes that may not be homes, since too few nodes and they reach each other, and whether they give
/// their apps back. Moments are nanoseconds of a clock that never jumps.
struct UnreachableHomes: Sendable {
  private struct Node {
    /// Since when.
    var since: UInt64
    /// How much it is the home of, and since when as much.
    var homes: Int
    var unchangedSince: UInt64
  }

  /// Nanoseconds after which such a node gives its apps back.
  static let givingBack: UInt64 = 1_500_000_000
  /// Nanoseconds without one app given back after which the others take them from it: it may be too slow to
  /// give anything.
  static let expelling: UInt64 = 3_500_000_000

  private var nodes: [Int64: Node] = [:]

  /// These are the nodes now, each with how much it is the home of.
  mutating func note(_ found: [Int64: Int], at now: UInt64) {
    let before = nodes
    nodes = [:]
    for (node, count) in found {
      var known = before[node] ?? Node(since: now, homes: count, unchangedSince: now)
      if known.homes != count { (known.homes, known.unchangedSince) = (count, now) }
      nodes[node] = known
    }
  }

  /// Whether a node is one.
  func contains(_ node: Int64) -> Bool { nodes[node] != nil }

  /// Whether a node has to give its apps back.
  func givesBack(_ node: Int64, at now: UInt64) -> Bool {
    nodes[node].map { now >= $0.since + Self.givingBack } ?? false
  }

  /// The nodes that have had to give something back, and do not.
  func stuck(at now: UInt64) -> Set<Int64> {
    Set(nodes.filter { $0.value.homes > 0 && now >= $0.value.unchangedSince + Self.expelling }.keys)
  }
}
