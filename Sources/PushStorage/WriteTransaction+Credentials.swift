import PushBase

extension WriteTransaction {
  /// Stores an APNs credential. Those of the app for the same environment that are active begin to retire, so that both
  /// are there while the new one proves itself. `.constraint` for an unknown app or an environment of none.
  public func addAPNsCredential(
    app: AppID, _ new: NewAPNsCredential, at now: Timestamp
  ) throws(StorageError) -> APNsCredentialID {
    try database.run(
      """
      INSERT INTO apns_credential (app_id, kind, environment, topic, team_id, key_id, fingerprint, expires_at,
        created_at, changed_at, sealed)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)
      """, .app(app), .integer(new.kind.rawValue), .integer(new.environment.rawValue), .text(new.topic),
      .optional(new.teamID), .optional(new.keyID), .blob(new.fingerprint),
      .optional(new.expiresAt?.milliseconds), .time(now), .blob(new.sealed))
    let id = database.lastInsertedRow
    try database.run(
      """
      UPDATE apns_credential SET replaced_by = ?1, changed_at = ?2, state = CASE state WHEN 0 THEN 1 ELSE state END
      WHERE app_id = ?3 AND environment = ?4 AND id <> ?1 AND replaced_by IS NULL
      """, .integer(id), .time(now), .app(app), .integer(new.environment.rawValue))
    return APNsCredentialID(id)
  }

  /// Deletes a credential of an app; false if the app has none of that number. The one that it had replaced takes its
  /// place: if nothing else is newer, it is active again.
  public func removeAPNsCredential(
    app: AppID, id: APNsCredentialID, at now: Timestamp
  ) throws(StorageError) -> Bool {
    let removed = try database.first(
      "DELETE FROM apns_credential WHERE app_id = ? AND id = ? RETURNING replaced_by", .app(app),
      .integer(id.rawValue)
    ) { $0.optionalInteger(0) }
    guard let next = removed else { return false }
    try database.run(
      """
      UPDATE apns_credential SET replaced_by = ?1, changed_at = ?2,
        state = CASE WHEN ?1 IS NULL AND state = 1 THEN 0 ELSE state END
      WHERE app_id = ?3 AND replaced_by = ?4
      """, .optional(next), .time(now), .app(app), .integer(id.rawValue))
    return true
  }

  /// Pauses a credential of an app for a reason of 1 to 500 bytes, which people read; false if the app has none of that
  /// number. One that is paused already keeps its reason.
  public func pauseAPNsCredential(
    app: AppID, id: APNsCredentialID, reason: String, at now: Timestamp
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

  /// Lets a paused credential of an app be used again; false if the app has none of that number. One that was replaced
  /// meanwhile retires.
  public func resumeAPNsCredential(
    app: AppID, id: APNsCredentialID, at now: Timestamp
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
  public func resealAPNsCredential(
    app: AppID, id: APNsCredentialID, sealed: [UInt8]
  ) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE apns_credential SET sealed = ? WHERE app_id = ? AND id = ?", .blob(sealed), .app(app),
      .integer(id.rawValue))
    return database.changes > 0
  }

  /// Deletes credentials that have been retiring since before a moment while the newest one for the same environment of
  /// the app is active; tells how many.
  public func sweepAPNsCredentials(
    retiringSince limit: Timestamp, at now: Timestamp
  ) throws(StorageError) -> Int {
    let ended = try database.all(
      """
      SELECT app_id, id FROM apns_credential AS old WHERE state = 1 AND changed_at < ? AND EXISTS (
        SELECT 1 FROM apns_credential AS newest WHERE newest.app_id = old.app_id
          AND newest.environment = old.environment AND newest.state = 0)
      """, .time(limit)
    ) { (app: $0.app(0), id: APNsCredentialID($0.integer(1))) }
    for one in ended { _ = try removeAPNsCredential(app: one.app, id: one.id, at: now) }
    return ended.count
  }
}
