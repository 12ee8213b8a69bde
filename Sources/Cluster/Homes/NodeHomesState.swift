import BorealisBase
import Storage

/// What a node that may be a home of some apps knows about homes.
struct NodeHomesState: Sendable {
  /// What this node has as a home; nil as long as it is none.
  var home: NodeHome?
  /// The number of this node as that home, also once it is none any more.
  var node: Int64?
  /// Whether each app has a home of its own, so that none of all apps is followed.
  var isDivided = false
  /// What it held as a home before it lost that role, as long as the database still has it.
  var leaving: NodeHome?
  /// Why this node is not a home, so that each reason is logged once.
  var hindrance = ""
  /// Since when it would be the first home, but for nodes that know of one home only.
  var yieldsSince: UInt64?
  var rows: [AppHomeRow] = []
  var sharing = SharingApps()
  /// What has to have the same home.
  var bundles = AppBundles.none
  var mark: HomesMark?
  /// Apps that devices have here.
  var opened: Set<AppID> = []
  /// Those that could not be read, so that the log says so once.
  var unread: Set<AppID> = []
  /// Those of them whose requests are served here, since all nodes have told their devices, or could have.
  var served: Set<AppID> = []
  /// Until when nodes may tell their devices of an app.
  var patience: [AppID: UInt64] = [:]
  /// When nodes were seen first.
  var seen: [Int64: UInt64] = [:]
  var unreachable = UnreachableHomes()
  var isHandingOver = false
  /// Until when nothing is given away for balance, since that has failed.
  var restsUntil: UInt64 = 0
  var failure = ""

  /// Nanoseconds that nodes that know of one home only may take to become it: more than it takes until one
  /// that stands still is dead.
  private static let yielding: UInt64 = NodeRegistry.deadAfter + 2_000_000_000

  /// The name of a node that would become the home of all apps, and gets the time to do so before this one
  /// becomes a home of some; nil if there is none, or there are homes of some apps.
  mutating func yields(to view: ClusterView, of own: Int64, at now: UInt64) -> String? {
    let other = view.nodes.first {
      !$0.spreadsApps && !$0.isDraining && $0.isConnected && $0.incarnation != own
    }
    guard !view.isDivided, let other else {
      yieldsSince = nil
      return nil
    }
    let since = yieldsSince ?? now
    yieldsSince = since
    return now &- since < Self.yielding ? other.name : nil
  }

  /// Where requests go: to the nodes that are homes, and here only for apps whose devices are known.
  func requestHomes(in view: ClusterView) -> RequestHomes {
    let nodes = Dictionary(
      view.nodes.filter { $0.incarnation != node }.map { ($0.incarnation, NodeAddress(of: $0)) }
    ) { $1 }
    let fence = home?.own.home
    var installation = RequestHomes.Home.nobody
    var apps: [AppKey: RequestHomes.Home] = [:]
    for row in rows {
      let home: RequestHomes.Home
      if row.home.fence == fence {
        home = served.contains(row.app) ? .here : .nobody
      } else {
        home = (nodes[row.home.incarnation] ?? nil).map { .node($0) } ?? .nobody
      }
      if row.app == .installation { installation = home } else if let key = row.key { apps[key] = home }
    }
    let keys = Dictionary(rows.compactMap { row in row.key.map { (row.app, $0) } }) { $1 }
    let groups = Dictionary(sharing.groups.map { ($0.key, $0.apps.compactMap { keys[$0] }) }) { $1 }
    return RequestHomes(installation: installation, apps: apps, groups: groups)
  }
}
