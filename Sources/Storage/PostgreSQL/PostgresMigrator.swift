import BorealisBase

/// Brings a database of PostgreSQL to the newest schema, or refuses it.
struct PostgresMigrator {
  private let database: Database
  private let connection: PostgresConnection
  private let migrations: [Migration]

  init(_ database: Database, _ connection: PostgresConnection, _ migrations: [Migration]) {
    self.database = database
    self.connection = connection
    self.migrations = migrations
  }

  /// How many of the files are applied. Throws if the database holds others.
  func applied() throws(StorageError) -> Int {
    let isMade = try connection.value("SELECT to_regclass('schema_migration') IS NOT NULL") == "t"
    return isMade ? try Migrator.verify(database, against: migrations) : 0
  }

  /// Runs the missing files, each in its own transaction of any length: a failure leaves the previous
  /// version.
  func migrate(at now: Timestamp, log: Log) throws(StorageError) {
    var applied = try applied()
    let isChanged = applied > 0 && applied < migrations.count
    if isChanged {
      log.info(
        "migrating the database", ["from": .number(Int64(applied)), "to": .number(Int64(migrations.count))])
    }
    while applied < migrations.count { applied = try applyNext(at: now) }
    if isChanged { log.info("database migrated", ["version": .number(Int64(applied))]) }
  }

  /// Refuses a database that lacks any of the files.
  func expectNewest() throws(StorageError) {
    let applied = try applied()
    guard applied == migrations.count else {
      throw StorageError(
        .olderThanProgram(found: applied, known: migrations.count),
        "the database has schema version \(applied), this program needs \(migrations.count)")
    }
  }

  private func applyNext(at now: Timestamp) throws(StorageError) -> Int {
    try connection.beginMigration()
    do throws(StorageError) {
      let applied = try runNext(at: now)
      try connection.endMigration("COMMIT")
      return applied
    } catch {
      try? connection.endMigration("ROLLBACK")
      throw error
    }
  }

  private func runNext(at now: Timestamp) throws(StorageError) -> Int {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS schema_migration (
        version bigint PRIMARY KEY, name text COLLATE "C" NOT NULL, sha256 text COLLATE "C" NOT NULL,
        applied_at bigint NOT NULL)
      """)
    // Looked at again, now that nobody else can change it: another process may have been faster.
    let applied = try Migrator.verify(database, against: migrations)
    guard applied < migrations.count else { return applied }
    let migration = migrations[applied]
    try connection.execute(migration.sql)
    try database.run(
      "INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
      .integer(migration.version), .text(migration.name), .text(migration.checksum),
      .integer(now.milliseconds))
    return applied + 1
  }
}
