import BorealisBase
import Cluster
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
}
