import PushBase

extension Store {
  /// Where a database is.
  public enum Location: Sendable, Equatable {
    /// A file of SQLite.
    case sqlite(path: String)

    var migrations: [Migration] {
      switch self {
      case .sqlite: embeddedMigrations
      }
    }
  }

  /// Opens the connection that writes, with the schema of this program.
  func openWriter(
    log: Log, options: Options, migrations: [Migration],
    _ prepare: @Sendable (Database) throws(StorageError) -> Void
  ) throws(StorageError) -> sending (Database, WriteAheadLog?) {
    switch location {
    case .sqlite(let path):
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
    }
  }

  /// Opens a connection that only reads.
  func openReader() throws(StorageError) -> sending Database {
    switch location {
    case .sqlite(let path): try Database(path: path, mode: .readOnly)
    }
  }
}
