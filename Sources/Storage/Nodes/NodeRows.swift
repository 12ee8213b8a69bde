import BorealisBase

/// What a node's program can do that programs before it could not.
package struct NodeCapabilities: OptionSet, Sendable, Hashable {
  /// The bits.
  package let rawValue: Int64

  /// Wraps the bits.
  package init(rawValue: Int64) { self.rawValue = rawValue }

  /// It tells which other nodes it reaches.
  package static let reportsReach = NodeCapabilities(rawValue: 1)
  /// It opens sealed frames.
  package static let opensSealed = NodeCapabilities(rawValue: 2)
  /// What this program can do.
  package static let own: NodeCapabilities = [.reportsReach, .opensSealed]
}

/// A node of a cluster, as it is stored.
package struct NodeRow: Sendable, Hashable {
  /// Its number, from 1, which is never used again.
  package var incarnation: Int64
  /// Unique among the nodes of a database.
  package var name: String
  /// `HOST:PORT` where other nodes reach it for requests.
  package var address: String
  /// The version of its program.
  package var version: String
  /// Whether it is about to end: it becomes no home.
  package var isDraining: Bool
  /// Grows each second while it is alive.
  package var beat: Int64
  /// When it got its place, by its own clock.
  package var startedAt: Timestamp
  /// Whether it has a connection to the database.
  package var isConnected = true
  /// Whether it is the home of some apps, or can be at once, beside other homes.
  package var isHome = false
  /// Whether it is such a home, or could be one if nothing were in the way, as far as the database knows.
  package var spreadsApps = false
  /// What its program can do.
  package var capabilities: NodeCapabilities = []
  /// The nodes that it reaches for requests; nil until it has tried.
  package var reaches: Set<Int64>?

  package init(
    incarnation: Int64, name: String, address: String, version: String = "", isDraining: Bool = false,
    beat: Int64 = 0, startedAt: Timestamp = Timestamp(milliseconds: 0)
  ) {
    self.incarnation = incarnation
    self.name = name
    self.address = address
    self.version = version
    self.isDraining = isDraining
    self.beat = beat
    self.startedAt = startedAt
  }

  init(_ row: Row) {
    self.init(
      incarnation: row.integer("incarnation"), name: row.text("name"), address: row.text("address"),
      version: row.text("version"), isDraining: row.bool("is_draining"), beat: row.integer("beat"),
      startedAt: Timestamp(milliseconds: row.integer("started_at")))
  }

  /// How the nodes that one reaches are stored.
  static func text(_ reaches: Set<Int64>) -> String {
    reaches.sorted().map { String($0) }.joined(separator: ",")
  }

  static func nodes(_ text: String) -> Set<Int64> { Set(text.split(separator: ",").compactMap { Int64($0) }) }
}

/// The home of all apps, as it is stored.
package struct HomeRow: Sendable, Hashable {
  /// The node; it may be gone.
  package var incarnation: Int64
  /// Grows with each change of the home.
  package var epoch: Int64
  /// The fence that its connections write behind.
  package var fence: Int64

  package init(incarnation: Int64, epoch: Int64, fence: Int64) {
    self.incarnation = incarnation
    self.epoch = epoch
    self.fence = fence
  }
}

/// Where an app has its home, as it is stored.
package struct AppHomeRow: Sendable, Hashable {
  /// The app; `AppID.installation` for what belongs to none.
  package var app: AppID
  /// Its key; nil for what belongs to no app, and if the app is gone.
  package var key: AppKey?
  package var home: HomeRow
  /// Whether only what is left of it has a home.
  package var isDeleted: Bool

  package init(app: AppID, key: AppKey?, home: HomeRow, isDeleted: Bool = false) {
    self.app = app
    self.key = key
    self.home = home
    self.isDeleted = isDeleted
  }
}

/// Apps that share something, so that they have to have the same home.
package struct SharingApps: Sendable, Hashable {
  /// A group of apps, which may have none.
  package struct Group: Sendable, Hashable {
    package let key: AppKey
    package var apps: Set<AppID>
  }

  /// All groups, by number.
  package var groups: [Group] = []
  /// The apps of each plan whose speed they share.
  package var plans: [Set<AppID>] = []

  /// Nothing.
  package init() {}

  /// The sets of apps that share something.
  package var sets: [Set<AppID>] { groups.map(\.apps) + plans }
}

/// Where apps have their homes, and which have to have the same.
package struct HomesReading: Sendable {
  /// The homes, by the number of the app.
  package let rows: [AppHomeRow]
  /// What apps share.
  package let sharing: SharingApps
  /// Tells whether any of this has changed since.
  package let mark: HomesMark
}

/// Tells whether apps have other homes than before, share something else, or are deleted.
package struct HomesMark: Sendable, Hashable {
  let rows: Int64
  let epochs: Int64
  let sharing: Int64
  let deleted: Int64
}

/// What the database knows of a cluster.
package struct ClusterView: Sendable, Hashable {
  /// All nodes that are not known to be dead, by incarnation.
  package var nodes: [NodeRow]
  /// The last home; nil before there was one.
  package var home: HomeRow?
  /// Whether no server holds the database.
  package var isFree: Bool

  package init(nodes: [NodeRow], home: HomeRow?, isFree: Bool) {
    self.nodes = nodes
    self.home = home
    self.isFree = isFree
  }

  /// Whether a node is the home of some apps, or can be at once, beside others: then no home has all apps.
  package var isDivided: Bool { nodes.contains(where: \.isHome) }
}

extension Transaction<Writing> {
  /// Notes that a node is the home of all apps from now on; gives the new epoch. Nil, and nothing changed, if
  /// the node is not among those that are alive. In the first transaction of a server, which its fence
  /// protects from older ones.
  package func beginHome(of incarnation: Int64, fence: Int64) throws(StorageError) -> Int64? {
    try database.first(
      """
      INSERT INTO home (app_id, incarnation, epoch, fence)
        SELECT 0, incarnation, 1, ?2 FROM node WHERE incarnation = ?1
        ON CONFLICT (app_id) DO UPDATE SET incarnation = excluded.incarnation, epoch = home.epoch + 1, fence = excluded.fence
        RETURNING epoch
      """, .integer(incarnation), .integer(fence)
    ) { $0.integer("epoch") }
  }
}
