import BorealisBase
import Storage

/// What the thread of a node carries out.
enum ClusterOrder: Sendable {
  case act(Membership.Action)
  /// Some app has another home.
  case read
  case reach(BorealisBase.Semaphore)
  /// Goes on as a gateway, since another node is the home.
  case yield(BorealisBase.Semaphore)
  case end
}

/// What a node is at the moment, and why.
struct ClusterState: Sendable {
  var runner: MembershipRunner
  var isLeading = false
  /// The home that is followed.
  var home: NodeRow?
  var epoch: Int64 = 0
  /// When there was a home last.
  var homeAt: UInt64
  var lastingFailure: String?
  /// Why this node did not become the home, so that the log says each reason once.
  var reason: String?
  /// Of a home: why it cannot store anything.
  var storeObstacle: @Sendable () -> String? = { nil }
  /// Of a home of all apps: how many there are.
  var apps: @Sendable () -> Int = { 0 }
  /// An operator has asked this node to end, and it does.
  var isAskedToEnd = false
  /// When this node, which was taken for dead, tries to get a new place; nil while it has one.
  var rejoinsAt: UInt64?
  /// Why it has none yet, so that the log says each reason once.
  var rejoinFailure: String?
  /// This node ends and waits no more for what it has begun: it becomes the home no more.
  var isEnding = false

  /// This node's row.
  var own: NodeRow? { runner.view?.nodes.first { $0.incarnation == runner.incarnation } }
}

extension NodeAddress {
  /// Where a node takes the requests of others; nil if its row does not say.
  package init?(of node: NodeRow) {
    guard let place = HostPort(node.address) else { return nil }
    self.init(name: node.name, host: place.host, port: place.port)
  }
}
