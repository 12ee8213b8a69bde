import BorealisBase

/// Where a database is.
package enum DatabaseLocation: Sendable, Equatable {
  /// A file of SQLite.
  case sqlite(path: String)
  /// A database of PostgreSQL, as a URL that libpq takes. It may hold a password: never for the log.
  case postgres(url: String)

  /// A database of PostgreSQL, nil unless the text is a URL of one. What stands in a password has to be
  /// escaped if it means something in a URL: else other parts of it would be taken for names, and shown.
  package init?(url: String) {
    guard PostgresURL.settings(of: url) != nil else { return nil }
    self = .postgres(url: url)
  }

  /// What people know it by: a path, or a URL without its secrets.
  package var name: String {
    switch self {
    case .sqlite(let path): return path
    case .postgres(let url):
      let settings = PostgresURL.settings(of: url) ?? [:]
      return "postgres://\(PostgresURL.hosts(settings))/\(settings["dbname"] ?? "")"
    }
  }

  var migrations: [Migration] {
    switch self {
    case .sqlite: embeddedMigrations
    case .postgres: embeddedPostgresMigrations
    }
  }

  /// Opens the connection that writes, with the schema of this program. `isEnding` says whether whoever uses
  /// it is about to end, `onDoubt` hears when it becomes unknown whether a transaction was committed, and
  /// why, and with nil when that is over.
  func openWriter(
    log: Log, options: Store.Options, migrations: [Migration], isEnding: @escaping @Sendable () -> Bool,
    onDoubt: @escaping @Sendable (StorageError?) -> Void,
    _ prepare: @Sendable (Database) throws(StorageError) -> Void
  ) throws(StorageError) -> sending (Database, WriteAheadLog?) {
    switch self {
    case .sqlite(let path):
      guard options.home == nil else {
        throw StorageError(.other, "several homes share a database of PostgreSQL")
      }
      let connection = try SQLiteConnection(path: path, mode: .create)
      let database = Database(connection)
      if options.migrates {
        try Migrator.migrate(database, to: migrations, at: options.time.now(), log: log)
      } else {
        try Migrator.expectNewest(database, of: migrations)
      }
      try prepare(database)
      let file = try LogFile(database: path)
      let checkpointer = try Checkpointer(path: path, log: log)
      return (database, WriteAheadLog(connection: connection, checkpointer: checkpointer, file: file))
    case .postgres(let url):
      var settings = PostgresOptions()
      settings.incarnation = options.home?.home ?? options.fence
      settings.replaces = options.replaces
      settings.patience = options.patience
      settings.commitPatience = options.commitPatience
      settings.statementPatience = options.statementPatience
      settings.isEnding = isEnding
      settings.onDoubt = onDoubt
      let role = options.home.map { PostgresConnection.Role.home($0.slot) }
      let connection = try PostgresConnection(
        url: url, role: role ?? (options.isServer ? .server : .writer), settings)
      let database = Database(connection)
      let migrator = PostgresMigrator(database, connection, migrations)
      // Nobody changes the schema beside other homes.
      if options.migrates, options.home == nil {
        // Before anything is changed: who wrote until now may know nothing of what the tables become.
        let isMade = try migrator.applied() > 0
        if isMade { try connection.fence.raise() }
        try migrator.migrate(at: options.time.now(), log: log)
        if !isMade { try connection.fence.raise() }
      } else {
        try migrator.expectNewest()
        try connection.fence.raise()
        // Whatever migrates from now on takes the fence away.
        try migrator.expectNewest()
      }
      try prepare(database)
      return (database, nil)
    }
  }

  /// Opens a connection that only reads; `isEnding` says whether whoever uses it is about to end.
  /// `isLimited`: its statements fail when they take too long.
  func openToRead(
    isLimited: Bool = true, _ isEnding: @escaping @Sendable () -> Bool = { false }
  ) throws(StorageError) -> sending Database {
    switch self {
    case .sqlite(let path): return try Database(path: path, mode: .readOnly)
    case .postgres(let url):
      var settings = PostgresOptions()
      settings.isEnding = isEnding
      settings.isLimited = isLimited
      return Database(try PostgresConnection(url: url, role: .reader, settings))
    }
  }
}
