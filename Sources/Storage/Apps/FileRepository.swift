import BorealisBase

/// Files that apps uploaded for pushes by file.
package struct FileRepository<Access>: Repository {
  let database: Database
}

extension FileRepository {
  private static var selectFile: StaticString {
    """
    SELECT id, file_id, kind, name, count, pieces, created_at, expires_at FROM file
    """
  }

  /// The complete files of an app that have not ended, the oldest first.
  package func all(owner: String, at now: Timestamp) throws(StorageError) -> [FileRow] {
    try database.all(
      Self.selectFile, "WHERE owner = ? AND expires_at > ? AND is_complete = 1 ORDER BY id", .text(owner),
      .time(now), map: Self.file)
  }

  /// A complete file of an app, nil if there is none of that name or if it has ended.
  package func find(owner: String, _ fileID: String, at now: Timestamp) throws(StorageError) -> FileRow? {
    try database.first(
      Self.selectFile, "WHERE owner = ? AND file_id = ? AND expires_at > ? AND is_complete = 1", .text(owner),
      .text(fileID), .time(now), map: Self.file)
  }

  /// A piece of a file, nil if the file no longer exists.
  package func piece(_ file: Int64, _ number: Int) throws(StorageError) -> [UInt8]? {
    let found = try database.first(
      "SELECT lines FROM file_piece WHERE file = ? AND number = ?", .integer(file), .integer(number)
    ) { $0.blob() }
    guard let lines = found, lines.first == ContentVault.mark else { return found }
    guard let app = try app(of: file) else {
      return try database.opened(lines, for: ContentColumn.groupFile(file))
    }
    return try database.opened(lines, of: app, .file)
  }

  /// Whose a file is, nil if it is a group's.
  func app(of file: Int64) throws(StorageError) -> AppID? {
    try database.first(
      "SELECT app.id FROM file JOIN app ON app.app_key = file.owner WHERE file.id = ?", .integer(file)
    ) { $0.app() }
  }

  private static func file(_ row: Row) -> FileRow {
    FileRow(
      id: row.integer("id"), fileID: row.text("file_id"),
      kind: FileKind(rawValue: row.integer("kind", as: UInt8.self)) ?? .aliases, name: row.text("name"),
      count: row.count("count"), pieces: row.count("pieces"), createdAt: row.time("created_at"),
      expiresAt: row.time("expires_at"))
  }
}

extension FileRepository<Writing> {
  /// Begins to store a file; it is not there before `complete`. Files of its owner that were begun and are
  /// not among those that are being stored, by public name, are given up. Nil if the owner has as many as
  /// `limit` that have not ended, those included that are being stored. `.constraint` if the owner is no app
  /// or group, or is deleted.
  package func begin(
    _ file: NewFile, limit: Int, underWay: Set<String> = [], at now: Timestamp, expiresAt: Timestamp
  ) throws(StorageError) -> Int64? {
    let isOwner = try database.first(
      """
      SELECT EXISTS (SELECT 1 FROM app WHERE app_key = ?1 AND deleted_at IS NULL)
        OR EXISTS (SELECT 1 FROM app_group WHERE group_key = ?1)
      """, .text(file.owner)
    ) { $0.bool() }
    guard isOwner == true else { throw StorageError(.constraint, "a file's owner is gone") }
    let begun = try database.all(
      "SELECT id, file_id FROM file WHERE owner = ? AND is_complete = 0 AND expires_at > ?",
      .text(file.owner), .time(now)
    ) { (id: $0.integer("id"), name: $0.text("file_id")) }
    for other in begun where !underWay.contains(other.name) { try giveUp(other.id, at: now) }
    let count = try database.first(
      "SELECT count(*) FROM file WHERE owner = ? AND expires_at > ?", .text(file.owner), .time(now)
    ) { $0.count() }
    guard count ?? 0 < limit else { return nil }
    return try database.insert(
      """
      INSERT INTO file (owner, file_id, kind, name, count, pieces, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, .text(file.owner), .text(file.fileID), .integer(file.kind.rawValue), .text(file.name),
      .integer(file.count), .integer(file.pieces.count), .time(now), .time(expiresAt))
  }

  /// Adds a piece of a file. `.constraint` if the file is gone.
  package func addPiece(_ file: Int64, number: Int, lines: [UInt8]) throws(StorageError) {
    let isThere = try database.first("SELECT 1 FROM file WHERE id = ?", .integer(file)) { _ in true }
    guard isThere == true else { throw StorageError(.constraint, "a file is gone") }
    let lines =
      if let app = try app(of: file) {
        try database.stored(lines, of: app, .file)
      } else {
        try database.storedPiece(lines, ofGroupFile: file)
      }
    try database.run(
      "INSERT INTO file_piece (file, number, lines) VALUES (?, ?, ?)", .integer(file), .integer(number),
      .blob(lines))
  }

  /// All pieces of a file are there: from now on it can be used. `.constraint` if it has ended, so that
  /// pieces may be gone.
  package func complete(_ file: Int64, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE file SET is_complete = 1 WHERE id = ? AND expires_at > ?", .integer(file), .time(now))
    guard database.changes > 0 else { throw StorageError(.constraint, "a file has ended") }
  }

  /// Ends a file that could not be stored.
  package func giveUp(_ file: Int64, at now: Timestamp) throws(StorageError) {
    try database.run("UPDATE file SET expires_at = ? WHERE id = ?", .time(now), .integer(file))
  }

  /// Ends all files of a group.
  func endAll(ofGroup group: Int64, at now: Timestamp) throws(StorageError) {
    try database.run(
      """
      UPDATE file SET expires_at = ?2
      WHERE owner = (SELECT group_key FROM app_group WHERE id = ?1) AND expires_at > ?2
      """, .integer(group), .time(now))
  }

  /// Ends a file; does nothing for one that has ended or that the app does not have. Its pieces go with the
  /// next sweep.
  package func end(owner: String, _ fileID: String, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE file SET expires_at = ?3 WHERE owner = ?1 AND file_id = ?2 AND expires_at > ?3", .text(owner),
      .text(fileID), .time(now))
  }

  /// Deletes up to `limit` pieces of one file that has ended, or was begun before a moment and never
  /// completed; the file itself with its last piece. Those that are no app's, as of groups, are the
  /// installation's. Returns whether there is more to do.
  package func sweep(
    endedBefore end: Timestamp, begunBefore begin: Timestamp, limit: Int, in rows: AppRows
  ) throws(StorageError) -> Bool {
    let ended = try database.first(
      """
      SELECT id FROM file WHERE expires_at <= ?
        AND (EXISTS (SELECT 1 FROM app WHERE app.app_key = file.owner AND {own app.id})
          OR NOT EXISTS (SELECT 1 FROM app WHERE app.app_key = file.owner) AND {own 0})
      ORDER BY expires_at, id LIMIT 1
      """, in: rows, .time(end)
    ) { $0.integer() }
    let begun =
      try ended == nil
      ? database.first(
        """
        SELECT id FROM file WHERE is_complete = 0 AND created_at < ?
          AND (EXISTS (SELECT 1 FROM app WHERE app.app_key = file.owner AND {own app.id})
            OR NOT EXISTS (SELECT 1 FROM app WHERE app.app_key = file.owner) AND {own 0})
        ORDER BY created_at, id LIMIT 1
        """, in: rows, .time(begin)
      ) { $0.integer() } : nil
    guard let file = ended ?? begun else { return false }
    try deletePieces(of: file, limit: limit)
    return true
  }

  /// Deletes up to `limit` pieces of one of an app's files, whether or not it has ended; the file itself with
  /// its last piece. Returns whether there may be more to do.
  func purge(of app: AppID, limit: Int) throws(StorageError) -> Bool {
    let found = try database.first(PurgeStatements.file, .app(app)) { $0.integer() }
    guard let file = found else { return false }
    try deletePieces(of: file, limit: limit)
    return true
  }

  private func deletePieces(of file: Int64, limit: Int) throws(StorageError) {
    try database.run(
      """
      DELETE FROM file_piece WHERE file = ?1 AND number IN (
        SELECT number FROM file_piece WHERE file = ?1 ORDER BY number LIMIT ?2)
      """, .integer(file), .integer(limit))
    if database.changes < limit { try database.run("DELETE FROM file WHERE id = ?", .integer(file)) }
  }
}
