import PushBase

/// Files that apps uploaded for pushes by file.
public struct FileRepository<Access>: Repository {
  let database: Database
}

extension FileRepository {
  private static var selectFile: StaticString {
    """
    SELECT id, file_id, kind, name, count, pieces, created_at, expires_at FROM file
    """
  }

  /// The complete files of an app that have not ended, the oldest first.
  public func all(owner: String, at now: Timestamp) throws(StorageError) -> [FileRow] {
    try database.all(
      Self.selectFile, "WHERE owner = ? AND expires_at > ? AND is_complete = 1 ORDER BY id", .text(owner),
      .time(now), map: Self.file)
  }

  /// A complete file of an app, nil if there is none of that name or if it has ended.
  public func find(owner: String, _ fileID: String, at now: Timestamp) throws(StorageError) -> FileRow? {
    try database.first(
      Self.selectFile, "WHERE owner = ? AND file_id = ? AND expires_at > ? AND is_complete = 1", .text(owner),
      .text(fileID), .time(now), map: Self.file)
  }

  /// A piece of a file, nil if the file no longer exists.
  public func piece(_ file: Int64, _ number: Int) throws(StorageError) -> [UInt8]? {
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
  /// Begins to store a file; it is not there before `completeFile`. Nil if the app has as many as `limit` that have not
  /// ended, those included that are being stored.
  public func begin(
    _ file: NewFile, limit: Int, at now: Timestamp, expiresAt: Timestamp
  ) throws(StorageError) -> Int64? {
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

  /// Adds a piece of a file.
  public func addPiece(_ file: Int64, number: Int, lines: [UInt8]) throws(StorageError) {
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

  /// All pieces of a file are there: from now on it can be used.
  public func complete(_ file: Int64) throws(StorageError) {
    try database.run("UPDATE file SET is_complete = 1 WHERE id = ?", .integer(file))
  }

  /// Ends a file; does nothing for one that has ended or that the app does not have. Its pieces go with the next sweep.
  public func end(owner: String, _ fileID: String, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE file SET expires_at = ?3 WHERE owner = ?1 AND file_id = ?2 AND expires_at > ?3", .text(owner),
      .text(fileID), .time(now))
  }

  /// Deletes up to `limit` pieces of one file that has ended, or was begun before a moment and never completed; the file
  /// itself with its last piece. Those that are no app's, as of groups, are the installation's. Returns whether there is more to do.
  public func sweep(
    endedBefore end: Timestamp, begunBefore begin: Timestamp, limit: Int, in rows: AppRows
  ) throws(StorageError) -> Bool {
    let found = try database.first(
      """
      SELECT id FROM file WHERE (expires_at <= ? OR is_complete = 0 AND created_at < ?)
        /* own: AND (EXISTS (SELECT 1 FROM app WHERE app.app_key = file.owner AND own(app.id))
          OR NOT EXISTS (SELECT 1 FROM app WHERE app.app_key = file.owner) AND own(0)) */
      ORDER BY id LIMIT 1
      """, in: rows, .time(end), .time(begin)
    ) { $0.integer() }
    guard let file = found else { return false }
    try database.run(
      """
      DELETE FROM file_piece WHERE file = ?1 AND number IN (
        SELECT number FROM file_piece WHERE file = ?1 ORDER BY number LIMIT ?2)
      """, .integer(file), .integer(limit))
    if database.changes < limit { try database.run("DELETE FROM file WHERE id = ?", .integer(file)) }
    return true
  }
}
