import BorealisBase

/// Browsers that are logged in to the console.
package struct ConsoleSessionRepository<Access>: Repository {
  let database: Database
}

extension ConsoleSessionRepository {
  private static var selectConsoleSession: StaticString {
    """
    SELECT id, person_id, created_at, seen_at, address, agent FROM console_session
    """
  }

  /// The session behind a cookie.
  package func find(tokenHash: [UInt8]) throws(StorageError) -> ConsoleSessionRow? {
    try database.first(
      Self.selectConsoleSession, "WHERE token_hash = ?", .blob(tokenHash), map: Self.session)
  }

  /// Where a person is logged in, latest first.
  package func all(of person: PersonID) throws(StorageError) -> [ConsoleSessionRow] {
    try database.all(
      Self.selectConsoleSession, "WHERE person_id = ? ORDER BY seen_at DESC LIMIT 100",
      .integer(person.rawValue),
      map: Self.session)
  }

  private static func session(_ row: Row) -> ConsoleSessionRow {
    ConsoleSessionRow(
      id: row.integer("id"), person: PersonID(row.integer("person_id")), createdAt: row.time("created_at"),
      seenAt: row.time("seen_at"),
      address: row.text("address"), agent: row.text("agent"))
  }
}

extension ConsoleSessionRepository<Writing> {
  /// The key that signs the cookies of known browsers, 32 bytes: the stored one, or `fresh`, which is stored
  /// then.
  package func browserKey(orStore fresh: [UInt8]) throws(StorageError) -> [UInt8] {
    try database.run(
      "INSERT INTO browser_key (id, key) VALUES (1, ?) ON CONFLICT (id) DO NOTHING", .blob(fresh))
    return try database.first("SELECT key FROM browser_key") { $0.blob() } ?? fresh
  }

  /// Logs a browser in.
  package func add(
    tokenHash: [UInt8], of person: PersonID, address: String, agent: String, at now: Timestamp
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO console_session (token_hash, person_id, created_at, seen_at, address, agent)
      VALUES (?1, ?2, ?3, ?3, ?4, ?5)
      """, .blob(tokenHash), .integer(person.rawValue), .time(now), .text(address), .text(agent))
  }

  /// Records that a session is in use.
  package func touch(_ id: Int64, at now: Timestamp) throws(StorageError) {
    try database.run("UPDATE console_session SET seen_at = ? WHERE id = ?", .time(now), .integer(id))
  }

  /// Logs a browser of a person out; false if it was already.
  package func end(_ id: Int64, of person: PersonID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM console_session WHERE id = ? AND person_id = ?", .integer(id), .integer(person.rawValue))
    return database.changes > 0
  }

  /// Deletes sessions that were not used since one moment or began before another; at most `limit`.
  package func sweep(
    unusedSince: Timestamp, begunBefore: Timestamp, limit: Int
  ) throws(StorageError) {
    try database.run(
      """
      DELETE FROM console_session WHERE id IN (
        SELECT id FROM console_session WHERE seen_at < ? OR created_at < ? LIMIT ?)
      """, .time(unusedSince), .time(begunBefore), .integer(limit))
  }
}
