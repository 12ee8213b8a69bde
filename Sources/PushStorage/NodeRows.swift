import PushBase

/// What a node's program can do that programs before it could not.
public struct NodeCapabilities: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: Int64

  /// Wraps the bits.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// It tells which other nodes it reaches.
  public static let tellsReach = NodeCapabilities(rawValue: 1)
  /// It opens sealed frames.
  public static let opensSealed = NodeCapabilities(rawValue: 2)
  /// What this program can do.
  public static let own: NodeCapabilities = [.tellsReach, .opensSealed]
}

/// A node of a cluster, as it is stored.
public struct NodeRow: Sendable, Hashable {
  /// Its number, from 1, which is never used again.
  public var incarnation: Int64
  /// Unique among the nodes of a database.
  public var name: String
  /// `HOST:PORT` where other nodes reach it for requests.
  public var address: String
  /// The version of its program.
  public var version: String
  /// Whether it is about to end: it becomes no home.
  public var isDraining: Bool
  /// Grows each second while it is alive.
  public var beat: Int64
  /// When it got its place, by its own clock.
  public var startedAt: Timestamp
  /// Whether it has a connection to the database.
  public var isConnected = true
  /// Whether it is the home of some apps, or can be at once, beside other homes.
  public var isHome = false
  /// Whether it is such a home, or could be one if nothing were in the way, as far as the database knows.
  public var spreadsApps = false
  /// What its program can do.
  public var capabilities: NodeCapabilities = []
  /// The nodes that it reaches for requests; nil until it has tried.
  public var reaches: Set<Int64>?

  /// All fields.
  public init(
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
public struct HomeRow: Sendable, Hashable {
  /// The node; it may be gone.
  public var incarnation: Int64
  /// Grows with each change of the home.
  public var epoch: Int64
  /// The fence that its connections write behind.
  public var fence: Int64

  /// All fields.
  public init(incarnation: Int64, epoch: Int64, fence: Int64) {
    self.incarnation = incarnation
    self.epoch = epoch
    self.fence = fence
  }
}

/// Where an app has its home, as it is stored.
public struct AppHomeRow: Sendable, Hashable {
  /// The app; `AppID.installation` for what belongs to none.
  public var app: AppID
  /// Its key; nil for what belongs to no app, and if the app is gone.
  public var key: AppKey?
  /// Its home.
  public var home: HomeRow
  /// Whether only what is left of it has a home.
  public var isDeleted: Bool

  /// All fields.
  public init(app: AppID, key: AppKey?, home: HomeRow, isDeleted: Bool = false) {
    self.app = app
    self.key = key
    self.home = home
    self.isDeleted = isDeleted
  }
}

/// Apps that share something, so that they have to have the same home.
public struct SharingApps: Sendable, Hashable {
  /// A group of apps, which may have none.
  public struct Group: Sendable, Hashable {
    /// Its key.
    public let key: AppKey
    /// Its apps.
    public var apps: Set<AppID>
  }

  /// All groups, by number.
  public var groups: [Group] = []
  /// The apps of each plan whose speed they share.
  public var plans: [Set<AppID>] = []

  /// Nothing.
  public init() {}

  /// The sets of apps that share something.
  public var sets: [Set<AppID>] { groups.map(\.apps) + plans }
}

/// Where apps have their homes, and which have to have the same.
public struct HomesReading: Sendable {
  /// The homes, by the number of the app.
  public let rows: [AppHomeRow]
  /// What apps share.
  public let sharing: SharingApps
  /// Tells whether any of this has changed since.
  public let mark: HomesMark
}

/// Tells whether apps have other homes than before, share something else, or are deleted.
public struct HomesMark: Sendable, Hashable {
  let rows: Int64
  let epochs: Int64
  let sharing: Int64
  let deleted: Int64
}

/// What the database knows of a cluster.
public struct ClusterView: Sendable, Hashable {
  /// All nodes that are not known to be dead, by incarnation.
  public var nodes: [NodeRow]
  /// The last home; nil before there was one.
  public var home: HomeRow?
  /// Whether no server holds the database.
  public var isFree: Bool

  /// All fields.
  public init(nodes: [NodeRow], home: HomeRow?, isFree: Bool) {
    self.nodes = nodes
    self.home = home
    self.isFree = isFree
  }

  /// Whether a node is the home of some apps, or can be at once, beside others: then no home has all apps.
  public var isDivided: Bool { nodes.contains(where: \.isHome) }
}

extension Transaction<Writing> {
  /// Notes that a node is the home of all apps from now on; gives the new epoch. Nil, and nothing changed, if the node is not among
  /// those that are alive. In the first transaction of a server, which its fence protects from older ones.
  public func beginHome(of incarnation: Int64, fence: Int64) throws(StorageError) -> Int64? {
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
