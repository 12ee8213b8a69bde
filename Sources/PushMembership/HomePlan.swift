import PushBase

/// A home that apps can be given to: of a node that is alive and does not drain.
public struct HomeCandidate: Sendable, Hashable {
  /// The node.
  public let node: Int64
  /// The number of its fence.
  public let home: Int64
  /// The apps that it has, each with what it weighs: its registrations, say. Each app weighs at least one.
  public var apps: [AppID: Int]

  /// All fields.
  public init(node: Int64, home: Int64, apps: [AppID: Int]) {
    (self.node, self.home, self.apps) = (node, home, apps)
  }

  var weight: Int { apps.values.reduce(0) { $0 + max(1, $1) } }
}

/// Which home each app is to have, among those that there are. All functions give the same answer to the same question.
public enum HomePlan {
  /// Where to give apps that have no home, by what they weigh: each in turn, the heaviest first, to the home that has least by then. Empty
  /// without candidates.
  public static func place(
    _ apps: [AppID: Int], among candidates: [HomeCandidate]
  ) -> [(app: AppID, home: HomeCandidate)] {
    var loads = candidates.sorted { $0.node < $1.node }.map { (candidate: $0, weight: $0.weight) }
    return apps.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.compactMap {
      app, weight in
      guard let least = loads.indices.min(by: { loads[$0].weight < loads[$1].weight }) else { return nil }
      loads[least].weight += max(1, weight)
      return (app, loads[least].candidate)
    }
  }

  /// The one move that makes the most loaded home and the least loaded one more alike, if there is one: of the app whose weight is next
  /// to half of what they differ in. Asked again after each move it comes to an end.
  public static func move(
    among candidates: [HomeCandidate]
  ) -> (app: AppID, from: HomeCandidate, to: HomeCandidate)? {
    let sorted = candidates.sorted { ($0.weight, $0.node) < ($1.weight, $1.node) }
    guard let least = sorted.first, let most = sorted.last else { return nil }
    let difference = most.weight - least.weight
    let best = most.apps.map { (app: $0.key, weight: max(1, $0.value)) }
      // What moves makes the other one heavier: it has to be less than they differ in.
      .filter { $0.weight < difference && $0.app != AppID(0) }
      .min { one, other in
        let (left, right) = (abs(2 * one.weight - difference), abs(2 * other.weight - difference))
        return (left, one.app.rawValue) < (right, other.app.rawValue)
      }
    return best.map { ($0.app, most, least) }
  }
}
