import BorealisBase
import BorealisCrypto

/// A content that is sealed with a key that is to go.
package struct SealedContent: Sendable {
  let column: ContentColumn
  /// Whose it is; nil for a callback whose push is gone, and for the file of an app group.
  let app: AppID?
  /// The numbers of its row; the second is that of a file's piece, else 0.
  let row: (Int64, Int64)
  let bytes: [UInt8]
}

/// A content that is to be replaced by the same one, sealed with another key.
package struct ResealedContent: Sendable {
  let old: SealedContent
  let sealed: [UInt8]
}

/// How far the search for such contents has come.
package struct SealedContentPlace: Sendable {
  /// An index of `ContentColumn.allCases`.
  var column = 0
  var row: (Int64, Int64) = (-1, -1)

  /// The beginning.
  package init() {}

  /// Whether all was looked at.
  package var isEnd: Bool { column == ContentColumn.allCases.count }
}

/// Which apps' contents are sealed, and with what.
package struct SealingRepository<Access>: Repository {
  let database: Database
}

extension SealingRepository {
  /// Whether an app's contents are sealed from now on, and since when that is as it is; nil if it was never
  /// changed.
  package func setting(app: AppID) throws(StorageError) -> (isOn: Bool, changedAt: Timestamp?)? {
    try database.first("SELECT seals_contents, seals_changed_at FROM app WHERE id = ?", .app(app)) {
      ($0.bool("seals_contents"), $0.optionalTime("seals_changed_at"))
    }
  }

  /// The apps whose contents are sealed.
  package func apps() throws(StorageError) -> [AppID] {
    try database.all(
      "SELECT id FROM app {sqlite INDEXED BY app_seals_contents} WHERE seals_contents = 1 ORDER BY id"
    ) { $0.app() }
  }

  /// Contents that are sealed with a key whose ID is this one, or is another one than this one, behind a
  /// place, which moves on: at most `limit`, and none after those that make up `bytes`. May read all contents
  /// that there are.
  package func contents(
    _ which: SealingKeyMatch, behind place: inout SealedContentPlace, limit: Int, bytes: Int = .max
  ) throws(StorageError) -> [SealedContent] {
    var found: [SealedContent] = []
    let head = [ContentVault.mark, 1] + which.id
    while found.isEmpty, !place.isEnd {
      let column = ContentColumn.allCases[place.column]
      var size = 0
      let values: [SQLValue] = [
        .integer(place.row.0), .integer(place.row.1), .blob(head), .integer(which.isThis ? 1 : 0),
        .integer(limit),
      ]
      try database.statement(column.search).scan(values) { row in
        let content = SealedContent(
          column: column, app: row.isNull("app_id") ? nil : row.app("app_id"),
          row: (row.integer("id"), row.integer("part")), bytes: row.blob("bytes"))
        found.append(content)
        size += content.bytes.count
        return size < bytes
      }
      if let last = found.last, found.count == limit || size >= bytes {
        place.row = last.row
      } else {
        place = SealedContentPlace(column: place.column + 1)
      }
    }
    return found
  }

  /// The same contents, sealed with the first key of the file, whose ID, eight bytes, is given; those that
  /// cannot be opened, which are left as they are, are missing. `.noSecretKey` if another key is the first
  /// one by now.
  package func resealed(_ contents: [SealedContent], with id: [UInt8]) throws(StorageError)
    -> [ResealedContent]
  {
    let name = Hex.encode(id)
    let keys = try database.vault.keys(inUse: [name]) { $0.currentID == name }
    guard keys.currentID == name else {
      throw StorageError(.noSecretKey, "the first line of the secret key file has changed: run this again")
    }
    var resealed: [ResealedContent] = []
    for content in contents {
      for context in try contexts(of: content) {
        let plain = try database.opened(content.bytes, for: context)
        guard !plain.isEmpty else { continue }
        resealed.append(
          ResealedContent(old: content, sealed: ContentVault.seal(plain, for: context, with: keys)))
        break
      }
    }
    return resealed
  }

  /// What a content may have been sealed for.
  private func contexts(of content: SealedContent) throws(StorageError) -> [SealingKeys.Context] {
    if let app = content.app { return [content.column.context(app)] }
    guard content.column == .callbackParams else { return [ContentColumn.groupFile(content.row.0)] }
    // The push that knew its app is gone: one of those that have any callbacks.
    let apps = try database.all("SELECT app_id FROM callback_app ORDER BY app_id") { $0.app() }
    return apps.map { content.column.context($0) }
  }
}

extension SealedContentPlace {
  fileprivate init(column: Int) { self.column = column }
}

/// Which contents are looked for.
package enum SealingKeyMatch: Sendable {
  /// Those sealed with the key of this ID, eight bytes.
  case with([UInt8])
  /// Those sealed with any other.
  case without([UInt8])

  fileprivate var id: [UInt8] {
    switch self {
    case .with(let id), .without(let id): id
    }
  }

  fileprivate var isThis: Bool {
    if case .with = self { true } else { false }
  }
}

extension SealingRepository<Writing> {
  /// Seals an app's contents that are stored from now on, or no longer. What is stored stays as it is. False
  /// for an unknown app. `.noSecretKey` if there is no key to seal with.
  package func set(app: AppID, _ isOn: Bool, at now: Timestamp) throws(StorageError) -> Bool {
    // The app's first content must not be refused for lack of a key.
    if isOn { _ = try database.sealingKeys(makes: true) }
    try database.run(
      """
      UPDATE app SET seals_contents = ?1, seals_changed_at = CASE WHEN seals_contents = ?1 THEN seals_changed_at ELSE ?2 END
      WHERE id = ?3 AND deleted_at IS NULL
      """, .integer(isOn ? 1 : 0), .time(now), .app(app))
    database.sealing.apps = nil
    return database.changes > 0
  }

  /// Names the first key of the file as the one in use, unless one is named; makes it if there is none.
  package func nameKey() throws(StorageError) {
    guard try database.first("SELECT 1 FROM content_sealing_key LIMIT 1", map: { _ in true }) == nil else {
      return
    }
    _ = try database.sealingKeys(makes: true)
  }

  /// Has contents sealed with the first key of the file from now on, also by other processes; tells its ID,
  /// eight bytes. Nil if no content was ever sealed.
  package func useFirstKey() throws(StorageError) -> [UInt8]? {
    let isUsed = try database.first("SELECT 1 FROM content_sealing_key LIMIT 1") { _ in true } ?? false
    guard isUsed else { return nil }
    return Hex.decode(try database.sealingKeys(readsAgain: true).currentID)
  }

  /// Replaces contents that are still the ones that were sealed again with the key of this ID, eight bytes;
  /// the others were changed or deleted meanwhile. `.noSecretKey` if contents are sealed with yet another key
  /// by now.
  package func replace(_ contents: [ResealedContent], sealedWith id: [UInt8]) throws(StorageError) {
    let newest = try database.first(
      "SELECT key_id FROM content_sealing_key ORDER BY number DESC LIMIT 1"
    ) { $0.blob() }
    guard newest == id else {
      throw StorageError(.noSecretKey, "the secret key was replaced meanwhile: run this again")
    }
    for content in contents {
      let (old, row) = (content.old, content.old.row)
      try database.run(
        old.column.replacement, .blob(content.sealed), .integer(row.0), .integer(row.1), .blob(old.bytes))
    }
  }

  /// Deletes the rows of contents that nobody can open any more: pushes with all that is known of them,
  /// schedules, stored messages, callbacks, files.
  package func delete(_ contents: [SealedContent]) throws(StorageError) {
    for content in contents {
      let id = content.row.0
      switch content.column {
      case .pushContent, .pushLanguages, .pushObject:
        try transaction.pushes.delete([MessageID(UInt64(truncatingIfNeeded: id))])
        try database.run("DELETE FROM getui_push WHERE push_id = ?", .integer(id))
        if let app = content.app {
          try database.run(
            "DELETE FROM channel_pending WHERE app_id = ? AND msg_id = ?", .app(app), .integer(id))
        }
      case .schedule: try database.run("DELETE FROM schedule WHERE id = ?", .integer(id))
      case .template:
        try database.run("UPDATE schedule SET template = NULL WHERE template = ?", .integer(id))
        try database.run("DELETE FROM template WHERE id = ?", .integer(id))
      case .abTest:
        try database.run("UPDATE schedule SET abtest = NULL WHERE abtest = ?", .integer(id))
        try database.run("DELETE FROM abtest WHERE id = ?", .integer(id))
      case .abTestRun: try database.run("DELETE FROM abtest_run WHERE id = ?", .integer(id))
      case .canary: try database.run("DELETE FROM canary WHERE msg_id = ?", .integer(id))
      case .task: try database.run("DELETE FROM getui_task WHERE id = ?", .integer(id))
      case .callbackParams: try database.run("DELETE FROM push_callback WHERE msg_id = ?", .integer(id))
      case .callbackBody:
        try database.run("DELETE FROM callback_attempt WHERE batch_id = ?", .integer(id))
        try database.run("DELETE FROM callback_batch WHERE id = ?", .integer(id))
      case .file:
        try database.run("DELETE FROM file_piece WHERE file = ?", .integer(id))
        try database.run("DELETE FROM file WHERE id = ?", .integer(id))
      }
    }
  }

  /// Forgets that contents need keys that sealed before the one with this ID, eight bytes; the caller has
  /// made sure that none does.
  package func forgetKeys(before id: [UInt8]) throws(StorageError) {
    try database.run(
      """
      DELETE FROM content_sealing_key
      WHERE number < (SELECT number FROM content_sealing_key WHERE key_id = ?)
      """, .blob(id))
  }

  /// Forgets that contents need the key with this ID, eight bytes. Apps that seal do so with the next key.
  package func forgetKey(_ id: [UInt8]) throws(StorageError) {
    try database.run("DELETE FROM content_sealing_key WHERE key_id = ?", .blob(id))
  }
}

extension ContentColumn {
  /// Finds rows behind (?1, ?2) that are sealed, and whose head is ?3 or, if ?4 is 0, another: at most ?5.
  fileprivate var search: StaticString {
    switch self {
    case .pushContent:
      """
      SELECT msg_id AS id, 0 AS part, app_id, content AS bytes FROM push WHERE msg_id > ?1 AND ?2 <= 0
        AND substr(content, 1, 1) = {bytes ff} AND (substr(content, 1, 10) = ?3) = (?4 <> 0) ORDER BY msg_id LIMIT ?5
      """
    case .pushLanguages:
      """
      SELECT msg_id AS id, 0 AS part, app_id, languages AS bytes FROM push WHERE msg_id > ?1 AND ?2 <= 0
        AND substr(languages, 1, 1) = {bytes ff} AND (substr(languages, 1, 10) = ?3) = (?4 <> 0)
      ORDER BY msg_id LIMIT ?5
      """
    case .pushObject:
      """
      SELECT msg_id AS id, 0 AS part, app_id, object AS bytes FROM push WHERE msg_id > ?1 AND ?2 <= 0
        AND substr(object, 1, 1) = {bytes ff} AND (substr(object, 1, 10) = ?3) = (?4 <> 0) ORDER BY msg_id LIMIT ?5
      """
    case .schedule:
      """
      SELECT id, 0 AS part, app_id, push_json AS bytes FROM schedule WHERE id > ?1 AND ?2 <= 0
        AND substr(push_json, 1, 1) = {bytes ff} AND (substr(push_json, 1, 10) = ?3) = (?4 <> 0) ORDER BY id LIMIT ?5
      """
    case .template:
      """
      SELECT id, 0 AS part, app_id, body AS bytes FROM template WHERE id > ?1 AND ?2 <= 0
        AND substr(body, 1, 1) = {bytes ff} AND (substr(body, 1, 10) = ?3) = (?4 <> 0) ORDER BY id LIMIT ?5
      """
    case .abTest:
      """
      SELECT id, 0 AS part, app_id, body AS bytes FROM abtest WHERE id > ?1 AND ?2 <= 0
        AND substr(body, 1, 1) = {bytes ff} AND (substr(body, 1, 10) = ?3) = (?4 <> 0) ORDER BY id LIMIT ?5
      """
    case .abTestRun:
      """
      SELECT id, 0 AS part, app_id, body AS bytes FROM abtest_run WHERE id > ?1 AND ?2 <= 0
        AND substr(body, 1, 1) = {bytes ff} AND (substr(body, 1, 10) = ?3) = (?4 <> 0) ORDER BY id LIMIT ?5
      """
    case .canary:
      """
      SELECT msg_id AS id, 0 AS part, app_id, body AS bytes FROM canary WHERE msg_id > ?1 AND ?2 <= 0
        AND substr(body, 1, 1) = {bytes ff} AND (substr(body, 1, 10) = ?3) = (?4 <> 0) ORDER BY msg_id LIMIT ?5
      """
    case .task:
      """
      SELECT id, 0 AS part, app_id, body AS bytes FROM getui_task WHERE id > ?1 AND ?2 <= 0
        AND substr(body, 1, 1) = {bytes ff} AND (substr(body, 1, 10) = ?3) = (?4 <> 0) ORDER BY id LIMIT ?5
      """
    case .callbackParams:
      """
      SELECT push_callback.msg_id AS id, 0 AS part, push.app_id, params AS bytes
      FROM push_callback LEFT JOIN push ON push.msg_id = push_callback.msg_id
      WHERE push_callback.msg_id > ?1 AND ?2 <= 0
        AND substr(params, 1, 1) = {bytes ff} AND (substr(params, 1, 10) = ?3) = (?4 <> 0)
      ORDER BY push_callback.msg_id LIMIT ?5
      """
    case .callbackBody:
      """
      SELECT id, 0 AS part, app_id, body AS bytes FROM callback_batch WHERE id > ?1 AND ?2 <= 0
        AND substr(body, 1, 1) = {bytes ff} AND (substr(body, 1, 10) = ?3) = (?4 <> 0) ORDER BY id LIMIT ?5
      """
    case .file:
      """
      SELECT file_piece.file AS id, file_piece.number AS part, app.id AS app_id, lines AS bytes
      FROM file_piece LEFT JOIN file ON file.id = file_piece.file LEFT JOIN app ON app.app_key = file.owner
      WHERE (file_piece.file, file_piece.number) > (?1, ?2)
        AND substr(lines, 1, 1) = {bytes ff} AND (substr(lines, 1, 10) = ?3) = (?4 <> 0)
      ORDER BY file_piece.file, file_piece.number LIMIT ?5
      """
    }
  }

  /// Puts ?1 in the place of ?4 in the row (?2, ?3).
  fileprivate var replacement: StaticString {
    switch self {
    case .pushContent: "UPDATE push SET content = ?1 WHERE msg_id = ?2 AND ?3 <= 0 AND content = ?4"
    case .pushLanguages: "UPDATE push SET languages = ?1 WHERE msg_id = ?2 AND ?3 <= 0 AND languages = ?4"
    case .pushObject: "UPDATE push SET object = ?1 WHERE msg_id = ?2 AND ?3 <= 0 AND object = ?4"
    case .schedule: "UPDATE schedule SET push_json = ?1 WHERE id = ?2 AND ?3 <= 0 AND push_json = ?4"
    case .template: "UPDATE template SET body = ?1 WHERE id = ?2 AND ?3 <= 0 AND body = ?4"
    case .abTest: "UPDATE abtest SET body = ?1 WHERE id = ?2 AND ?3 <= 0 AND body = ?4"
    case .abTestRun: "UPDATE abtest_run SET body = ?1 WHERE id = ?2 AND ?3 <= 0 AND body = ?4"
    case .canary: "UPDATE canary SET body = ?1 WHERE msg_id = ?2 AND ?3 <= 0 AND body = ?4"
    case .task: "UPDATE getui_task SET body = ?1 WHERE id = ?2 AND ?3 <= 0 AND body = ?4"
    case .callbackParams:
      "UPDATE push_callback SET params = ?1 WHERE msg_id = ?2 AND ?3 <= 0 AND params = ?4"
    case .callbackBody: "UPDATE callback_batch SET body = ?1 WHERE id = ?2 AND ?3 <= 0 AND body = ?4"
    case .file: "UPDATE file_piece SET lines = ?1 WHERE file = ?2 AND number = ?3 AND lines = ?4"
    }
  }
}
