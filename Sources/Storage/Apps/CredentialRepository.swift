import BorealisBase
import Model

/// What apps prove themselves with to APNs, and the reminders of their ends.
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
      SELECT apns_credential.id, app_id, app_key, app.name, account_id, environment, topic, expires_at,
        (SELECT min(days) FROM credential_notice WHERE credential_id = apns_credential.id) AS told_days, fingerprint
      FROM apns_credential JOIN app ON app.id = app_id JOIN account ON account.id = account_id
      WHERE expires_at > ? AND expires_at <= ? AND replaced_by IS NULL AND deleted_at IS NULL
        AND app.disabled = 0 AND account.disabled = 0
      ORDER BY expires_at, apns_credential.id
      """, .time(start), .time(end)
    ) { row in
      EndingCredential(
        id: CredentialID(row.integer("id")), app: row.app("app_id"),
        appKey: AppKey(row.text("app_key")) ?? AppKey(high: 0, low: 0), appName: row.text("name"),
        account: row.account("account_id"),
        service: ServiceID(rawValue: row.integer("environment", as: UInt8.self)),
        topic: row.text("topic"),
        fingerprint: row.blob("fingerprint"), expiresAt: row.time("expires_at"),
        remindedDays: row.optionalInteger("told_days").map { Int(clamping: $0) })
    }
  }

  /// All that is stored sealed: only the secret key opens it.
  package func allSealed() throws(StorageError) -> [[UInt8]] {
    try database.all(
      """
      SELECT sealed FROM apns_credential UNION ALL SELECT sealed FROM channel_credential
      UNION ALL SELECT secret FROM callback_setting
      UNION ALL SELECT old_secret FROM callback_setting WHERE old_secret IS NOT NULL
      UNION ALL SELECT secret FROM getui_access
      UNION ALL SELECT totp FROM person WHERE totp IS NOT NULL
      UNION ALL SELECT probe FROM content_sealing_key
      """
    ) { $0.blob() }
  }

  /// The credentials of apps, by number.
  package func all(in rows: AppRows) throws(StorageError) -> [CredentialRow] {
    try database.statement(
      Self.credentials, "WHERE {own apns_credential.app_id} ORDER BY apns_credential.id", in: rows
    ).all([], Self.credential)
  }

  /// The credentials of an app, by number.
  package func all(app: AppID) throws(StorageError) -> [CredentialRow] {
    try database.all(
      Self.credentials, "WHERE app_id = ? ORDER BY apns_credential.id", .app(app), map: Self.credential)
  }

  /// The sealed secret of an app's credential, nil if the app has no such credential.
  package func sealed(app: AppID, id: CredentialID) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT sealed FROM apns_credential WHERE app_id = ? AND id = ?", .app(app), .integer(id.rawValue)
    ) { $0.blob() }
  }

  /// What `credential` reads.
  private static var credentials: StaticString {
    """
    SELECT apns_credential.id, app_id, app_key, kind, environment, topic, team_id, key_id, fingerprint, expires_at,
      apns_credential.created_at, state, reason, changed_at, replaced_by
    FROM apns_credential JOIN app ON app.id = app_id
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
      kind: CredentialKind(rawValue: row.integer("kind", as: UInt8.self)) ?? .token,
      service: ServiceID(rawValue: row.integer("environment", as: UInt8.self)),
      topic: row.text("topic"),
      teamID: row.optionalText("team_id"), keyID: row.optionalText("key_id"),
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
      INSERT INTO apns_credential (app_id, kind, environment, topic, team_id, key_id, fingerprint, expires_at,
        created_at, changed_at, sealed)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)
      RETURNING id
      """, .app(app), .integer(new.kind.rawValue), .integer(new.service.rawValue), .text(new.topic),
      .optional(new.teamID), .optional(new.keyID), .blob(new.fingerprint),
      .optional(new.expiresAt?.milliseconds), .time(now), .blob(new.sealed))
    try database.run(
      """
      UPDATE apns_credential SET replaced_by = ?1, changed_at = ?2, state = CASE state WHEN 0 THEN 1 ELSE state END
      WHERE app_id = ?3 AND environment = ?4 AND id <> ?1 AND replaced_by IS NULL
      """, .integer(id), .time(now), .app(app), .integer(new.service.rawValue))
    return CredentialID(id)
  }

  /// Deletes a credential of an app; false if the app has none of that number. The one that it had replaced
  /// takes its place: if nothing else is newer, it is active again.
  package func remove(
    app: AppID, id: CredentialID, at now: Timestamp
  ) throws(StorageError) -> Bool {
    let removed = try database.first(
      "DELETE FROM apns_credential WHERE app_id = ? AND id = ? RETURNING replaced_by", .app(app),
      .integer(id.rawValue)
    ) { $0.optionalInteger() }
    guard let next = removed else { return false }
    try database.run(
      """
      UPDATE apns_credential SET replaced_by = ?1, changed_at = ?2,
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
      UPDATE apns_credential SET changed_at = CASE state WHEN 2 THEN changed_at ELSE ?1 END,
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
      UPDATE apns_credential SET changed_at = CASE state WHEN 2 THEN ?1 ELSE changed_at END, reason = NULL,
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
      "UPDATE apns_credential SET sealed = ? WHERE app_id = ? AND id = ?", .blob(sealed), .app(app),
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
      SELECT app_id, id FROM apns_credential AS old WHERE state = 1 AND changed_at < ? AND EXISTS (
        SELECT 1 FROM apns_credential AS newest WHERE newest.app_id = old.app_id
          AND newest.environment = old.environment AND newest.state = 0) AND {own old.app_id}
      """, in: rows, .time(limit)
    ) { (app: $0.app("app_id"), id: CredentialID($0.integer("id"))) }
    for one in ended { _ = try remove(app: one.app, id: one.id, at: now) }
    return ended.count
  }
}
