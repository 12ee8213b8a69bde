import PushBase

/// What the values of a file are. Raw values stand in the database.
public enum FileKind: UInt8, Sendable {
  /// Aliases.
  case aliases = 1
  /// Registration IDs.
  case registrationIDs = 2
}

/// A file of names of devices, without its values.
public struct FileRow: Sendable, Equatable {
  /// Row number.
  public var id: Int64
  /// Its public name.
  public var fileID: String
  /// What its values are.
  public var kind: FileKind
  /// The name that it was sent with, for people.
  public var name: String
  /// How many values it has, and in how many pieces.
  public var count, pieces: Int
  /// When it was stored, and when it ends.
  public var createdAt, expiresAt: Timestamp
}

/// A file on its way into the database.
public struct NewFile: Sendable {
  /// The key of the app.
  public var owner: String
  /// Its public name, the caller's to choose.
  public var fileID: String
  /// What its values are.
  public var kind: FileKind
  /// The name that it was sent with.
  public var name: String
  /// How many values it has.
  public var count: Int
  /// Its values, one a line, in pieces that end with a line.
  public var pieces: [[UInt8]]

  /// All fields.
  public init(
    owner: String, fileID: String, kind: FileKind, name: String, count: Int, pieces: [[UInt8]]
  ) {
    self.owner = owner
    self.fileID = fileID
    self.kind = kind
    self.name = name
    self.count = count
    self.pieces = pieces
  }
}

extension ReadTransaction {
  /// The complete files of an app that have not ended, the oldest first.
  public func files(owner: String, at now: Timestamp) throws(StorageError) -> [FileRow] {
    try database.all(
      """
      SELECT id, file_id, kind, name, count, pieces, created_at, expires_at FROM file
      WHERE owner = ? AND expires_at > ? AND is_complete = 1 ORDER BY id
      """, .text(owner), .time(now), map: Self.file)
  }

  /// A complete file of an app, nil if there is none of that name or if it has ended.
  public func file(owner: String, _ fileID: String, at now: Timestamp) throws(StorageError) -> FileRow? {
    try database.first(
      """
      SELECT id, file_id, kind, name, count, pieces, created_at, expires_at FROM file
      WHERE owner = ? AND file_id = ? AND expires_at > ? AND is_complete = 1
      """, .text(owner), .text(fileID), .time(now), map: Self.file)
  }

  /// A piece of a file, nil if it is not there any more.
  public func filePiece(_ file: Int64, _ number: Int) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT lines FROM file_piece WHERE file = ? AND number = ?", .integer(file), .integer(number)
    ) { $0.blob(0) }
  }

  private static func file(_ row: Statement) -> FileRow {
    FileRow(
      id: row.integer(0), fileID: row.text(1),
      kind: FileKind(rawValue: row.integer(2, as: UInt8.self)) ?? .aliases, name: row.text(3),
      count: Int(row.integer(4)), pieces: Int(row.integer(5)), createdAt: row.time(6), expiresAt: row.time(7))
  }
}

extension WriteTransaction {
  /// Begins to store a file; it is not there before `completeFile`. Nil if the app has as many as `limit` that have not
  /// ended, those included that are being stored.
  public func beginFile(
    _ file: NewFile, limit: Int, at now: Timestamp, expiresAt: Timestamp
  ) throws(StorageError) -> Int64? {
    let count = try database.first(
      "SELECT count(*) FROM file WHERE owner = ? AND expires_at > ?", .text(file.owner), .time(now)
    ) { Int($0.integer(0)) }
    guard count ?? 0 < limit else { return nil }
    try database.run(
      """
      INSERT INTO file (owner, file_id, kind, name, count, pieces, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(file.owner), .text(file.fileID), .integer(file.kind.rawValue), .text(file.name),
      .integer(file.count), .integer(file.pieces.count), .time(now), .time(expiresAt))
    return database.lastInsertedRow
  }

  /// Adds a piece of a file.
  public func addFilePiece(_ file: Int64, number: Int, lines: [UInt8]) throws(StorageError) {
    try database.run(
      "INSERT INTO file_piece (file, number, lines) VALUES (?, ?, ?)", .integer(file), .integer(number),
      .blob(lines))
  }

  /// All pieces of a file are there: from now on it can be used.
  public func completeFile(_ file: Int64) throws(StorageError) {
    try database.run("UPDATE file SET is_complete = 1 WHERE id = ?", .integer(file))
  }

  /// Ends a file; does nothing for one that has ended or that the app does not have. Its pieces go with the next sweep.
  public func endFile(owner: String, _ fileID: String, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE file SET expires_at = ?3 WHERE owner = ?1 AND file_id = ?2 AND expires_at > ?3", .text(owner),
      .text(fileID), .time(now))
  }

  /// Deletes up to `limit` pieces of one file that has ended, or was begun before a moment and never completed; the file
  /// itself with its last piece. Returns whether there is more to do.
  public func sweepFiles(
    endedBefore end: Timestamp, begunBefore begin: Timestamp, limit: Int
  ) throws(StorageError) -> Bool {
    let found = try database.first(
      """
      SELECT id FROM file WHERE expires_at <= ? OR is_complete = 0 AND created_at < ? ORDER BY id LIMIT 1
      """, .time(end), .time(begin)
    ) { $0.integer(0) }
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
