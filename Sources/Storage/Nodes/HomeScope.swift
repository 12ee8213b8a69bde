import BorealisBase
import Synchronization

/// Which apps a process is the home of. It alone reads them into memory and changes their rows. Whatever goes
/// over the rows of all apps is told which ones it may go over: those of `rows`.
package enum HomeScope: Sendable {
  /// All apps, and what belongs to none: there is no other home beside it.
  case all
  /// Those that the database assigns to one of several homes.
  case assigned(AssignedApps)

  /// Whether this is the home of an app.
  package func contains(_ app: AppID) -> Bool {
    switch self {
    case .all: true
    case .assigned(let apps): apps.contains(app)
    }
  }

  /// Whether what happens by itself may happen in an app: this is its home, and all that its devices have
  /// said may be known here.
  package func isSettled(_ app: AppID) -> Bool {
    switch self {
    case .all: true
    case .assigned(let apps): apps.isSettled(app)
    }
  }

  /// Whether this is the home of what belongs to no app: accounts, people, mail, plans, groups of apps.
  package var hasInstallation: Bool { contains(.installation) }

  /// Whether nothing of an app may be stored any more, because it has left for another home.
  package func hasLeft(_ app: AppID) -> Bool {
    switch self {
    case .all: false
    case .assigned(let apps): apps.hasLeft(app)
    }
  }

  /// The apps that are assigned; nil for all.
  package var assigned: AssignedApps? {
    switch self {
    case .all: nil
    case .assigned(let apps): apps
    }
  }

  /// What tells the IDs of this home's pushes from those of other homes; nil if there are none.
  package var slot: MessageSlot? {
    switch self {
    case .all: nil
    case .assigned(let apps): apps.slot
    }
  }

  /// The rows that are this home's to work on.
  package var rows: AppRows {
    switch self {
    case .all: .all
    case .assigned(let apps): AppRows(kind: .home(apps.home))
    }
  }
}

/// The apps that one of several homes has. The table `home` says which, by the number of the fence that the
/// home writes behind; here are those that it has taken over, which are in its memory.
package final class AssignedApps: Sendable {
  private struct Apps: Sendable {
    var own: Set<AppID> = []
    var left: Set<AppID> = []
    var unsettled: Set<AppID> = []
  }

  /// The number of the home's fence: positive, no other fence ever has it.
  package let home: Int64
  /// The node that the home is on, as `NodeRegistry` numbers them.
  package let node: Int64
  /// Its part in the IDs of pushes. No two homes that are alive have the same.
  package let slot: MessageSlot
  private let apps = Mutex(Apps())

  /// None at first.
  package init(
    home: Int64 = Int64(bitPattern: SystemRandom.next() >> 1), node: Int64, slot: MessageSlot
  ) {
    self.home = home
    self.node = node
    self.slot = slot
  }

  /// Whether an app is among them.
  package func contains(_ app: AppID) -> Bool { apps.withLock { $0.own.contains(app) } }

  /// Whether an app is among them, and is not one that waits for `settle`.
  package func isSettled(_ app: AppID) -> Bool {
    apps.withLock { $0.own.contains(app) && !$0.unsettled.contains(app) }
  }

  /// Nothing happens by itself in an app before `settle`: nodes have not told yet which of its devices are
  /// connected, and what these have acknowledged. Before it is added, or given away: that may fail.
  package func unsettle(_ app: AppID) { apps.withLock { _ = $0.unsettled.insert(app) } }

  /// From now on schedules fire in an app, pushes of it end in time, and other channels take over.
  package func settle(_ app: AppID) { apps.withLock { _ = $0.unsettled.remove(app) } }

  /// Adds an app that is in memory, or that has nothing yet that memory would need: from now on it is found.
  package func insert(_ app: AppID) {
    apps.withLock { apps in
      apps.left.remove(app)
      apps.own.insert(app)
    }
  }

  /// Notes that the database assigns an app to this home: what becomes of it can be stored here, also if it
  /// had left before.
  package func admit(_ app: AppID) { setLeft(app, false) }

  /// Removes an app: nothing more comes in for it. What is under way can still be stored.
  package func remove(_ app: AppID) { apps.withLock { _ = $0.own.remove(app) } }

  /// Whether an app was handed over: whatever is still to be stored of it is another home's.
  package func hasLeft(_ app: AppID) -> Bool { apps.withLock { $0.left.contains(app) } }

  func setLeft(_ app: AppID, _ hasLeft: Bool) {
    apps.withLock { apps in
      if hasLeft { apps.left.insert(app) } else { apps.left.remove(app) }
    }
  }

  /// All of them.
  package var all: Set<AppID> { apps.withLock { $0.own } }
}

extension AppID {
  /// Stands for what belongs to no app. No app has this number.
  package static let installation = AppID(0)
}

/// Whose rows a statement goes over.
package struct AppRows: Sendable {
  enum Kind: Hashable, Sendable {
    case all
    /// Those that are assigned to a home.
    case home(Int64)
    case app(AppID)
  }

  let kind: Kind

  /// Everybody's.
  package static let all = AppRows(kind: .all)

  /// Those of one app.
  package static func of(_ app: AppID) -> AppRows { AppRows(kind: .app(app)) }

  /// Whether they are everybody's.
  var isAll: Bool { kind == .all }

  /// How many of the oldest rows in a table are looked at for `limit` of these, where only their order shows
  /// which are old.
  func depth(for limit: Int) -> Int { isAll ? limit : limit * 64 }

  /// The SQL condition that an app, which a column names, is one of these: `{own column}` in `SQLText`.
  func condition(app: String) -> String {
    switch kind {
    case .all: "1 = 1"
    case .home(let home):
      "EXISTS (SELECT 1 FROM home WHERE home.app_id = \(app) AND home.fence = \(home))"
    case .app(let id): "\(app) = \(id.rawValue)"
    }
  }
}
