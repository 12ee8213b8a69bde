import PushBase

extension ReadTransaction {
  /// The APNs credentials of all apps, by number.
  public func apnsCredentials() throws(StorageError) -> [APNsCredentialRow] {
    try database.all(
      """
      SELECT apns_credential.id, app_id, app_key, kind, environment, topic, team_id, key_id, fingerprint, expires_at,
        apns_credential.created_at, state, reason, changed_at, replaced_by
      FROM apns_credential JOIN app ON app.id = app_id ORDER BY apns_credential.id
      """, map: Self.credential)
  }

  /// The APNs credentials of an app, by number.
  public func apnsCredentials(app: AppID) throws(StorageError) -> [APNsCredentialRow] {
    try database.all(
      """
      SELECT apns_credential.id, app_id, app_key, kind, environment, topic, team_id, key_id, fingerprint, expires_at,
        apns_credential.created_at, state, reason, changed_at, replaced_by
      FROM apns_credential JOIN app ON app.id = app_id WHERE app_id = ? ORDER BY apns_credential.id
      """, .app(app), map: Self.credential)
  }

  /// The sealed secret of an app's credential, nil if the app has no such credential.
  public func sealedAPNsCredential(app: AppID, id: APNsCredentialID) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT sealed FROM apns_credential WHERE app_id = ? AND id = ?", .app(app), .integer(id.rawValue)
    ) { $0.blob(0) }
  }

  private static func credential(_ row: Statement) -> APNsCredentialRow {
    let state: APNsCredentialState =
      switch row.integer(11) {
      case 0: .active
      case 1: .retiring
      default: .paused(row.text(12))
      }
    return APNsCredentialRow(
      id: APNsCredentialID(row.integer(0)), app: row.app(1),
      appKey: AppKey(row.text(2)) ?? AppKey(high: 0, low: 0),
      kind: APNsCredentialKind(rawValue: row.integer(3, as: UInt8.self)) ?? .token,
      environment: APNsEnvironment(rawValue: row.integer(4, as: UInt8.self)) ?? .none, topic: row.text(5),
      teamID: row.optionalText(6), keyID: row.optionalText(7), fingerprint: row.blob(8),
      expiresAt: row.optionalInteger(9).map { Timestamp(milliseconds: $0) }, createdAt: row.time(10),
      state: state, changedAt: row.time(13),
      replacedBy: row.optionalInteger(14).map { APNsCredentialID($0) })
  }
}
