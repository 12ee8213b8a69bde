import BorealisBase
import COpenSSL

/// One file of `Migrations/`.
struct Migration: Sendable {
  /// Counts up from 1 without gaps.
  let version: Int
  let name: String
  let sql: String

  /// Lower-case hexadecimal SHA-256 of the text.
  var checksum: String {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    let text = Array(sql.utf8)
    _ = SHA256(text, text.count, &digest)
    return Hex.encode(digest)
  }
}

/// Brings a database to the newest schema, or refuses it.
enum Migrator {
  /// Runs the missing files, each in its own transaction: a failure leaves the previous version.
  static func migrate(
    _ database: Database, to migrations: [Migration], at now: Timestamp, log: Log = .silent
  ) throws(StorageError) {
    try database.run(
      """
      CREATE TABLE IF NOT EXISTS schema_migration (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT
      """)
    var applied = try verify(database, against: migrations)
    // A new database is made in no time; one that holds much may take some seconds.
    let isChanged = applied > 0 && applied < migrations.count
    if isChanged {
      log.info(
        "migrating the database", ["from": .number(Int64(applied)), "to": .number(Int64(migrations.count))])
    }
    // The pragma is ignored inside a transaction; a file may have to rebuild a table that others refer to.
    try database.run("PRAGMA foreign_keys = OFF")
    while applied < migrations.count { applied = try applyNext(of: migrations, to: database, at: now) }
    try database.run("PRAGMA foreign_keys = ON")
    if isChanged { log.info("database migrated", ["version": .number(Int64(applied))]) }
  }

  /// Refuses a database that lacks any of the files.
  static func expectNewest(_ database: Database, of migrations: [Migration]) throws(StorageError) {
    let isMade = try database.first(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration'"
    ) { _ in true }
    let applied = isMade == nil ? 0 : try verify(database, against: migrations)
    guard applied == migrations.count else {
      throw StorageError(
        .olderThanProgram(found: applied, known: migrations.count),
        "the database has schema version \(applied), this program needs \(migrations.count)")
    }
  }

  /// Compares the applied migrations with those of the program; returns how many are applied.
  static func verify(_ database: Database, against migrations: [Migration]) throws(StorageError) -> Int {
    let rows = try database.all("SELECT version, sha256 FROM schema_migration ORDER BY version") {
      ($0.count("version"), $0.text("sha256"))
    }
    let isFile = database.sqlite != nil
    let noted = isFile ? try database.first("PRAGMA user_version") { $0.count() } ?? 0 : 0
    let newest = max(rows.last?.0 ?? 0, noted)
    guard newest <= migrations.count else {
      throw StorageError(
        .newerThanProgram(found: newest, known: migrations.count),
        "the database has schema version \(newest), this program knows up to \(migrations.count)")
    }
    for (index, row) in rows.enumerated() {
      guard row.0 == index + 1, row.1 == migrations[index].checksum else {
        throw StorageError(
          .migrationChanged(version: index + 1),
          "migration \(index + 1) was applied with another text than this program carries")
      }
    }
    return rows.count
  }

  /// Runs the first file that is missing, if one is; returns how many are applied then. Whether every row has
  /// its parent is checked with the last one, for all of them: it takes a look at every row, which is nearly
  /// two seconds for a million registrations in memory, and more if they are read from a disk.
  static func applyNext(
    of migrations: [Migration], to database: Database, at now: Timestamp
  ) throws(StorageError) -> Int {
    try database.begin(.writing)
    defer { database.rollBack() }
    // Looked at again, now that nobody else can write: another process may have been faster.
    let applied = try verify(database, against: migrations)
    guard applied < migrations.count else { return applied }
    let migration = migrations[applied]
    try database.run(script: migration.sql) { () throws(StorageError) in
      guard database.isInTransaction else {
        throw StorageError(.other, "migration \(migration.version) ended its own transaction")
      }
    }
    if applied + 1 == migrations.count,
      try database.first("PRAGMA foreign_key_check", map: { $0.text() }) != nil
    {
      throw StorageError(
        .constraint, "the migrations up to \(migration.version) left rows without their parent")
    }
    try database.run(
      "INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
      .integer(migration.version), .text(migration.name), .text(migration.checksum),
      .integer(now.milliseconds))
    try database.run(script: "PRAGMA user_version = \(migration.version)")
    try database.commit()
    return applied + 1
  }
}
