import BorealisBase
import Storage

/// A home that apps can be given to: of a node that is alive and does not drain.
package struct HomeCandidate: Sendable, Hashable {
  package let node: Int64
  /// The number of its fence.
  package let home: Int64
  /// The apps that it has, each with what it weighs: its registrations, say. Each app weighs at least one.
  package var apps: [AppID: Int]

  package init(node: Int64, home: Int64, apps: [AppID: Int]) {
    (self.node, self.home, self.apps) = (node, home, apps)
  }

  /// The homes that apps can be given to, by the apps that each one has.
  static func all(with loads: [Int64: [AppID: Int]], in view: ClusterView) -> [HomeCandidate] {
    let nodes = Reachability(view.nodes).homes
    return loads.filter { nodes.contains($0.key) }.map {
      HomeCandidate(node: $0.key, home: $0.key, apps: $0.value)
    }
  }

  var weight: Int { apps.values.reduce(0) { $0 + max(1, $1) } }

  /// What some apps weigh of which it may have a part.
  fileprivate func weight(of bundle: [AppID]) -> Int {
    bundle.reduce(0) { sum, app in sum + (apps[app].map { max(1, $0) } ?? 0) }
  }
}

/// Which home each app is to have, among those that there are. All functions give the same answer to the same
/// question. Bundles are not divided.
package enum HomePlan {
  /// Apps that go from one home to another.
  package struct Move: Sendable {
    /// The apps, by number.
    package let apps: [AppID]
    /// Who has them.
    package let from: HomeCandidate
    /// Who gets them.
    package let to: HomeCandidate
  }

  /// Where to give apps that have no home, by what they weigh: what belongs to a bundle to the home that has
  /// most of it; all else in turn, the heaviest first, to the home that has least by then. Empty without
  /// candidates.
  package static func place(
    _ apps: [AppID: Int], among candidates: [HomeCandidate], bundles: AppBundles = .none
  ) -> [(app: AppID, home: HomeCandidate)] {
    var loads = candidates.sorted { $0.node < $1.node }.map { (candidate: $0, weight: $0.weight) }
    let parts = bundles.parts(of: apps.keys).map { part in
      (apps: part, weight: part.reduce(0) { $0 + max(1, apps[$1] ?? 1) })
    }
    let sorted = parts.sorted { ($1.weight, $0.apps[0].rawValue) < ($0.weight, $1.apps[0].rawValue) }
    return sorted.flatMap { part, weight -> [(app: AppID, home: HomeCandidate)] in
      let rest = bundles[part[0]].filter { apps[$0] == nil }
      let place = loads.indices.min { one, other in
        let (left, right) = (loads[one], loads[other])
        let (rests, others) = (left.candidate.weight(of: rest), right.candidate.weight(of: rest))
        return (others, left.weight) < (rests, right.weight)
      }
      guard let place else { return [] }
      loads[place].weight += weight
      return part.map { ($0, loads[place].candidate) }
    }
  }

  /// The one move that is most useful, if there is one. A bundle that is divided comes first: a part of it
  /// goes to the home that has most of it. Otherwise it is the move that makes a heavily loaded home and the
  /// least loaded one more alike, of what weighs next to half of what they differ in. Asked again after each
  /// move it comes to an end.
  package static func move(among candidates: [HomeCandidate], bundles: AppBundles = .none) -> Move? {
    reunion(among: candidates, bundles: bundles) ?? relief(among: candidates, bundles)
  }

  /// The move that makes a divided bundle less so, if there is one.
  package static func reunion(among candidates: [HomeCandidate], bundles: AppBundles) -> Move? {
    for bundle in bundles.all {
      let owners = candidates.filter { $0.weight(of: bundle) > 0 }.sorted {
        ($1.weight(of: bundle), $0.node) < ($0.weight(of: bundle), $1.node)
      }
      guard owners.count > 1, let most = owners.first, let least = owners.last else { continue }
      return Move(apps: bundle.filter { least.apps[$0] != nil }, from: least, to: most)
    }
    return nil
  }

  private static func relief(among candidates: [HomeCandidate], _ bundles: AppBundles) -> Move? {
    let sorted = candidates.sorted { ($0.weight, $0.node) < ($1.weight, $1.node) }
    guard let least = sorted.first else { return nil }
    // One that has a single heavy app cannot give it away; that is no reason to leave the others as they are.
    for most in sorted.reversed() {
      let difference = most.weight - least.weight
      let best = bundles.parts(of: most.apps.keys).map { (apps: $0, weight: most.weight(of: $0)) }
        // What moves makes the other one heavier: it has to be less than they differ in.
        .filter { $0.weight < difference && $0.apps[0] != AppID(0) }
        .min { one, other in
          let (left, right) = (abs(2 * one.weight - difference), abs(2 * other.weight - difference))
          // Of two that do as much, the one that keeps less waiting.
          return (left, one.weight, one.apps[0].rawValue) < (right, other.weight, other.apps[0].rawValue)
        }
      if let best { return Move(apps: best.apps, from: most, to: least) }
    }
    return nil
  }
}
