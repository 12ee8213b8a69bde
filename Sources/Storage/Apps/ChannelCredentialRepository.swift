import BorealisBase
import Model

/// What apps authenticate with at the services of channels other than APNs.
package struct ChannelCredentialRepository<Access>: Repository {
  let database: Database
}

extension ChannelCredentialRepository {
  /// Those of apps, all or for one channel, by app and channel.
  package func all(
    of channel: ChannelID? = nil, in rows: AppRows
  ) throws(StorageError) -> [ChannelCredentialRow] {
    try database.all(
      """
      SELECT channel_credential.app_id, channel, channel_credential.id, subject, channel_credential.name,
        channel_credential.created_at, reason, changed_at, sealed
      FROM channel_credential JOIN app ON app.id = channel_credential.app_id
      WHERE (CAST(?1 AS BIGINT) IS NULL OR channel = ?1) AND {own channel_credential.app_id}
      ORDER BY channel_credential.app_id, channel
      """, in: rows, .optional(channel.map { Int64($0.rawValue) }), map: Self.credential)
  }

  /// That of an app for a channel.
  package func find(app: AppID, channel: ChannelID) throws(StorageError) -> ChannelCredentialRow? {
    try database.first(
      """
      SELECT app_id, channel, id, subject, name, created_at, reason, changed_at, sealed FROM channel_credential
      WHERE app_id = ? AND channel = ?
      """, .app(app), .integer(channel.rawValue), map: Self.credential)
  }

  private static func credential(_ row: Row) -> ChannelCredentialRow {
    var found = ChannelCredentialRow(
      app: row.app("app_id"), channel: ChannelID(rawValue: row.integer("channel", as: UInt8.self)),
      subject: row.text("subject"), name: row.text("name"), sealed: row.blob("sealed"),
      at: row.time("created_at"))
    found.id = row.text("id")
    found.pause = row.optionalText("reason")
    found.changedAt = row.time("changed_at")
    return found
  }
}

extension ChannelCredentialRepository<Writing> {
  /// Stores a credential in place of the app's one for the channel. `.constraint` for an unknown app.
  package func set(_ row: ChannelCredentialRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO channel_credential (app_id, channel, id, subject, name, created_at, reason, changed_at, sealed)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      ON CONFLICT (app_id, channel) DO UPDATE SET id = excluded.id, subject = excluded.subject, name = excluded.name,
        created_at = excluded.created_at, reason = excluded.reason, changed_at = excluded.changed_at,
        sealed = excluded.sealed
      """, .app(row.app), .integer(row.channel.rawValue), .text(row.id), .text(row.subject), .text(row.name),
      .time(row.createdAt), .optional(row.pause), .time(row.changedAt), .blob(row.sealed))
  }

  /// Deletes an app's credential for a channel; false if that has another ID, or none.
  package func remove(app: AppID, channel: ChannelID, id: String) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM channel_credential WHERE app_id = ? AND channel = ? AND id = ?", .app(app),
      .integer(channel.rawValue), .text(id))
    return database.changes > 0
  }

  /// Pauses a credential for a reason of 1 to 500 bytes, which people read, or with nil resumes it; false if
  /// the app's credential for the channel has another ID, or none. One that is paused already keeps its
  /// reason.
  package func pause(
    app: AppID, channel: ChannelID, id: String, reason: String?, at now: Timestamp
  ) throws(StorageError) -> Bool {
    guard reason.map({ (1...500).contains($0.utf8.count) }) ?? true else {
      throw StorageError(.constraint, "a reason has 1 to 500 bytes")
    }
    try database.run(
      """
      UPDATE channel_credential SET
        changed_at = CASE WHEN (reason IS NULL) = (CAST(?1 AS TEXT) IS NULL) THEN changed_at ELSE ?2 END,
        reason = CASE WHEN CAST(?1 AS TEXT) IS NULL THEN NULL WHEN reason IS NULL THEN ?1 ELSE reason END
      WHERE app_id = ?3 AND channel = ?4 AND id = ?5
      """, .optional(reason), .time(now), .app(app), .integer(channel.rawValue), .text(id))
    return database.changes > 0
  }

  /// Replaces what is sealed.
  package func reseal(app: AppID, channel: ChannelID, id: String, sealed: [UInt8]) throws(StorageError) {
    try database.run(
      "UPDATE channel_credential SET sealed = ? WHERE app_id = ? AND channel = ? AND id = ?", .blob(sealed),
      .app(app), .integer(channel.rawValue), .text(id))
  }
}
