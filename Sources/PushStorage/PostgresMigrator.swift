import PushBase

/// Brings a database of PostgreSQL to the newest schema, or refuses it.
enum PostgresMigrator {
  private static let lock = "7238547403"

  /// Runs the missing files, each in its own transaction: a failure leaves the previous version.
  static func migrate(
    _ database: Database, _ connection: PostgresConnection, to migrations: [Migration], at now: Timestamp,
    log: Log
  ) throws(StorageError) {
    var applied = try isMade(connection) ? try Migrator.verify(database, against: migrations) : 0
    let isChanged = applied > 0 && applied < migrations.count
    if isChanged {
      log.info(
        "migrating the database", ["from": .number(Int64(applied)), "to": .number(Int64(migrations.count))])
    }
    while applied < migrations.count {
      applied = try applyNext(of: migrations, database, connection, at: now)
    }
    if isChanged { log.info("database migrated", ["version": .number(Int64(applied))]) }
  }

  /// Refuses a database that lacks any of the files.
  static func expectNewest(
    _ database: Database, _ connection: PostgresConnection, of migrations: [Migration]
  ) throws(StorageError) {
    let applied = try isMade(connection) ? try Migrator.verify(database, against: migrations) : 0
    guard applied == migrations.count else {
      throw StorageError(
        .olderThanProgram(found: applied, known: migrations.count),
        "the database has schema version \(applied), this program needs \(migrations.count)")
    }
  }

  private static func isMade(_ connection: PostgresConnection) throws(StorageError) -> Bool {
    try connection.value("SELECT to_regclass('schema_migration') IS NOT NULL") == "t"
  }

  private static func applyNext(
    of migrations: [Migration], _ database: Database, _ connection: PostgresConnection, at now: Timestamp
  ) throws(StorageError) -> Int {
    try connection.execute("BEGIN; SELECT pg_advisory_xact_lock(\(lock))")
    defer { database.rollBack() }
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
    try connection.execute("COMMIT")
    return applied + 1
  }
}
