import BorealisBase
import Model

/// What apps authenticate with at the services of channels, and the reminders of their ends.
package struct CredentialRepository<Access>: Repository {
  let database: Database
}

extension CredentialRepository {
  /// Credentials in use that expire between two times, the first one first: of enabled apps and accounts, and
  /// not replaced by newer ones.
  package func ending(
    after start: Timestamp, before end: Timestamp
  ) throws(StorageError) -> [EndingCredential] {
    try database.all(
      """
      SELECT credential.id, app_id, app_key, app.name, account_id, service, subject, expires_at,
        (SELECT min(days) FROM credential_notice WHERE credential_id = credential.id) AS told_days, fingerprint
      FROM credential JOIN app ON app.id = app_id JOIN account ON account.id = account_id
      WHERE expires_at > ? AND expires_at <= ? AND replaced_by IS NULL AND deleted_at IS NULL
        AND app.disabled = 0 AND account.disabled = 0
      ORDER BY expires_at, credential.id
      """, .time(start), .time(end)
    ) { row in
      EndingCredential(
        id: CredentialID(row.integer("id")), app: row.app("app_id"),
        appKey: AppKey(row.text("app_key")) ?? AppKey(high: 0, low: 0), appName: row.text("name"),
        account: row.account("account_id"),
        service: ServiceID(rawValue: row.integer("service", as: UInt8.self)),
        topic: row.text("subject"),
        fingerprint: row.blob("fingerprint"), expiresAt: row.time("expires_at"),
        remindedDays: row.optionalInteger("told_days").map { Int(clamping: $0) })
    }
  }

  /// All that is stored sealed: only the secret key opens it.
  package func allSealed() throws(StorageError) -> [[UInt8]] {
    try database.all(
      """
      SELECT sealed FROM credential
      UNION ALL SELECT secret FROM callback_setting
      UNION ALL SELECT old_secret FROM callback_setting WHERE old_secret IS NOT NULL
      UNION ALL SELECT secret FROM getui_access
      UNION ALL SELECT totp FROM person WHERE totp IS NOT NULL
      UNION ALL SELECT probe FROM content_sealing_key
      """
    ) { $0.blob() }
  }

  /// The credentials of apps, all or for one channel, by number.
  package func all(
    of channel: ChannelID? = nil, in rows: AppRows
  ) throws(StorageError) -> [CredentialRow] {
    try database.statement(
      Self.credentials,
      """
      WHERE (CAST(?1 AS BIGINT) IS NULL OR channel = ?1) AND {own credential.app_id} ORDER BY credential.id
      """, in: rows
    ).all([.optional(channel.map { Int64($0.rawValue) })], Self.credential)
  }

  /// The credentials of apps for one channel, by number, with the sealed secrets of those that are not known
  /// yet.
  package func sealed(
    of channel: ChannelID, except known: Set<CredentialID>, in own: AppRows
  ) throws(StorageError) -> (rows: [CredentialRow], sealed: [CredentialID: [UInt8]]) {
    let rows = try all(of: channel, in: own)
    var found: [CredentialID: [UInt8]] = [:]
    for row in rows where !known.contains(row.id) { found[row.id] = try sealed(app: row.app, id: row.id) }
    return (rows, found)
  }

  /// The credentials of an app, all or for one channel, by number.
  package func all(app: AppID, of channel: ChannelID? = nil) throws(StorageError) -> [CredentialRow] {
    try database.all(
      Self.credentials,
      "WHERE app_id = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR channel = ?2) ORDER BY credential.id", .app(app),
      .optional(channel.map { Int64($0.rawValue) }), map: Self.credential)
  }

  /// The sealed secret of an app's credential, nil if the app has no such credential.
  package func sealed(app: AppID, id: CredentialID) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT sealed FROM credential WHERE app_id = ? AND id = ?", .app(app), .integer(id.rawValue)
    ) { $0.blob() }
  }

  /// The newest credential of an app for a channel, with its sealed secret.
  package func latest(
    of app: AppID, for channel: ChannelID
  ) throws(StorageError) -> (row: CredentialRow, sealed: [UInt8])? {
    guard let row = try all(app: app, of: channel).last, let sealed = try sealed(app: app, id: row.id) else {
      return nil
    }
    return (row, sealed)
  }

  /// What `credential` reads.
  private static var credentials: StaticString {
    """
    SELECT credential.id, app_id, app_key, channel, kind, service, subject, team_id, credential.name, fingerprint, expires_at,
      credential.created_at, state, reason, changed_at, replaced_by
    FROM credential JOIN app ON app.id = app_id
    """
  }

  private static func credential(_ row: Row) -> CredentialRow {
    let state: CredentialState =
      switch row.integer("state") {
      case 0: .active
      case 1: .retiring
      default: .paused(row.text("reason"))
      }
    return CredentialRow(
      id: CredentialID(row.integer("id")), app: row.app("app_id"),
      appKey: AppKey(row.text("app_key")) ?? AppKey(high: 0, low: 0),
      channel: ChannelID(rawValue: row.integer("channel", as: UInt8.self)),
      kind: CredentialKind(rawValue: row.integer("kind", as: UInt8.self)) ?? .token,
      service: ServiceID(rawValue: row.integer("service", as: UInt8.self)),
      subject: row.text("subject"), teamID: row.optionalText("team_id"), name: row.text("name"),
      fingerprint: row.blob("fingerprint"),
      expiresAt: row.optionalTime("expires_at"), createdAt: row.time("created_at"),
      state: state, changedAt: row.time("changed_at"),
      replacedBy: row.optionalInteger("replaced_by").map { CredentialID($0) })
  }
}

extension CredentialRepository<Writing> {
  /// Records that a reminder was given; false if it was before.
  package func noteReminder(
    of id: CredentialID, days: Int, at now: Timestamp
  ) throws(StorageError) -> Bool {
    try database.run(
      """
      INSERT INTO credential_notice (credential_id, days, at) VALUES (?, ?, ?)
      ON CONFLICT (credential_id, days) DO NOTHING
      """, .integer(id.rawValue), .integer(days), .time(now))
    return database.changes > 0
  }

  /// Stores a credential. Those of the app for the same service that are active begin to retire, so that both
  /// are there while the new one proves itself. `.constraint` for an unknown app or a service of none.
  package func add(
    app: AppID, _ new: NewCredential, at now: Timestamp
  ) throws(StorageError) -> CredentialID {
    let id = try database.insert(
      """
      INSERT INTO credential (app_id, channel, kind, service, subject, team_id, name, fingerprint, expires_at,
        created_at, changed_at, sealed)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11)
      RETURNING id
      """, .app(app), .integer(new.channel.rawValue), .integer(new.kind.rawValue),
      .integer(new.service.rawValue), .text(new.subject), .optional(new.teamID), .text(new.name),
      .blob(new.fingerprint), .optional(new.expiresAt?.milliseconds), .time(now), .blob(new.sealed))
    try database.run(
      """
      UPDATE credential SET replaced_by = ?1, changed_at = ?2, state = CASE state WHEN 0 THEN 1 ELSE state END
      WHERE app_id = ?3 AND channel = ?4 AND service = ?5 AND id <> ?1 AND replaced_by IS NULL
      """, .integer(id), .time(now), .app(app), .integer(new.channel.rawValue), .integer(new.service.rawValue)
    )
    return CredentialID(id)
  }

  /// Stores a credential in place of all that the app has for the channel.
  @discardableResult
  package func replace(
    app: AppID, _ new: NewCredential, at now: Timestamp
  ) throws(StorageError) -> CredentialID {
    try database.run(
      "DELETE FROM credential WHERE app_id = ? AND channel = ?", .app(app), .integer(new.channel.rawValue))
    return try add(app: app, new, at: now)
  }

  /// Deletes a credential of an app; false if the app has none of that number. The one that it had replaced
  /// takes its place: if nothing else is newer, it is active again.
  package func remove(
    app: AppID, id: CredentialID, at now: Timestamp
  ) throws(StorageError) -> Bool {
    let removed = try database.first(
      "DELETE FROM credential WHERE app_id = ? AND id = ? RETURNING replaced_by", .app(app),
      .integer(id.rawValue)
    ) { $0.optionalInteger() }
    guard let next = removed else { return false }
    try database.run(
      """
      UPDATE credential SET replaced_by = ?1, changed_at = ?2,
        state = CASE WHEN CAST(?1 AS BIGINT) IS NULL AND state = 1 THEN 0 ELSE state END
      WHERE app_id = ?3 AND replaced_by = ?4
      """, .optional(next), .time(now), .app(app), .integer(id.rawValue))
    return true
  }

  /// Pauses a credential of an app for a reason of 1 to 500 bytes, which people read; false if the app has
  /// none of that number. One that is paused already keeps its reason.
  package func pause(
    app: AppID, id: CredentialID, reason: String, at now: Timestamp
  ) throws(StorageError) -> Bool {
    guard (1...500).contains(reason.utf8.count) else {
      throw StorageError(.constraint, "a reason has 1 to 500 bytes")
    }
    try database.run(
      """
      UPDATE credential SET changed_at = CASE state WHEN 2 THEN changed_at ELSE ?1 END,
        reason = CASE state WHEN 2 THEN reason ELSE ?2 END, state = 2
      WHERE app_id = ?3 AND id = ?4
      """, .time(now), .text(reason), .app(app), .integer(id.rawValue))
    return database.changes > 0
  }

  /// Resumes a paused credential of an app; false if the app has no such credential. One that was replaced in
  /// the meantime retires.
  package func resume(
    app: AppID, id: CredentialID, at now: Timestamp
  ) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE credential SET changed_at = CASE state WHEN 2 THEN ?1 ELSE changed_at END, reason = NULL,
        state = CASE WHEN state <> 2 THEN state WHEN replaced_by IS NULL THEN 0 ELSE 1 END
      WHERE app_id = ?2 AND id = ?3
      """, .time(now), .app(app), .integer(id.rawValue))
    return database.changes > 0
  }

  /// Replaces the sealed secret of an app's credential; false if the app has none of that number.
  package func reseal(
    app: AppID, id: CredentialID, sealed: [UInt8]
  ) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE credential SET sealed = ? WHERE app_id = ? AND id = ?", .blob(sealed), .app(app),
      .integer(id.rawValue))
    return database.changes > 0
  }

  /// Deletes credentials that have been retiring since before a moment while the newest one for the same
  /// service of the app is active; returns how many.
  package func sweep(
    retiringSince limit: Timestamp, at now: Timestamp, in rows: AppRows
  ) throws(StorageError) -> Int {
    let ended = try database.all(
      """
      SELECT app_id, id FROM credential AS old WHERE state = 1 AND changed_at < ? AND EXISTS (
        SELECT 1 FROM credential AS newest WHERE newest.app_id = old.app_id
          AND newest.channel = old.channel AND newest.service = old.service AND newest.state = 0) AND {own old.app_id}
      """, in: rows, .time(limit)
    ) { (app: $0.app("app_id"), id: CredentialID($0.integer("id"))) }
    for one in ended { _ = try remove(app: one.app, id: one.id, at: now) }
    return ended.count
  }
}
