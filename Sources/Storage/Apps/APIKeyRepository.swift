import BorealisBase
import Model

/// API keys of apps.
package struct APIKeyRepository<Access>: Repository {
  let database: Database
}

extension APIKeyRepository {
  /// An app's keys by number, revoked ones too.
  package func all(app: AppID) throws(StorageError) -> [APIKeyRow] {
    try database.all("SELECT * FROM api_key WHERE app_id = ? ORDER BY id", .app(app), map: Self.key)
  }

  /// The keys of an app that are not revoked, by number.
  func live(app: AppID) throws(StorageError) -> [APIKeyRow] {
    try database.all(
      "SELECT * FROM api_key WHERE app_id = ? AND revoked_at IS NULL ORDER BY id", .app(app), map: Self.key)
  }

  /// The same of an account's apps.
  func live(of account: AccountID) throws(StorageError) -> [APIKeyRow] {
    try database.all(
      """
      SELECT api_key.* FROM api_key JOIN app ON app.id = api_key.app_id
      WHERE app.account_id = ? AND app.deleted_at IS NULL AND api_key.revoked_at IS NULL ORDER BY api_key.id
      """, .account(account), map: Self.key)
  }

  /// The same of some apps.
  func live(in rows: AppRows) throws(StorageError) -> [APIKeyRow] {
    try database.all(
      "SELECT * FROM api_key WHERE revoked_at IS NULL AND {own api_key.app_id} ORDER BY id", in: rows,
      map: Self.key)
  }

  private static func key(_ row: Row) -> APIKeyRow {
    let networks = row.optionalText("networks")?.split(separator: " ").compactMap { IPNetwork($0) }
    return APIKeyRow(
      id: row.integer("id"), app: row.app("app_id"),
      grant: APIKeyGrant(
        name: row.text("name"), rights: APIRights(rawValue: row.integer("rights", as: UInt8.self)),
        networks: networks, expiresAt: row.optionalTime("expires_at")),
      secretHash: row.blob("secret_hash"), secretEnd: row.text("secret_end"),
      createdAt: row.time("created_at"), lastUsedAt: row.optionalTime("last_used_at"),
      revokedAt: row.optionalTime("revoked_at"))
  }
}

extension APIKeyRepository<Writing> {
  /// Adds a key; nil if the app has `limit` others that are not revoked. `.constraint` for an unknown app.
  package func add(
    _ new: NewAPIKey, to app: AppID, limit: Int, at now: Timestamp
  ) throws(StorageError) -> Int64? {
    guard try live(app: app).count < limit else { return nil }
    return try database.insert(
      """
      INSERT INTO api_key (app_id, name, secret_hash, secret_end, rights, networks, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, .app(app), .text(new.grant.name), .blob(new.secretHash), .text(new.secretEnd),
      .integer(new.grant.rights.rawValue),
      .optional(new.grant.networks?.map(\.text).joined(separator: " ")), .time(now),
      .optional(new.grant.expiresAt?.milliseconds))
  }

  /// Revokes a key; its name, nil if the app has no such key that is not revoked.
  package func revoke(_ id: Int64, of app: AppID, at now: Timestamp) throws(StorageError) -> String? {
    try database.first(
      """
      UPDATE api_key SET revoked_at = ? WHERE id = ? AND app_id = ? AND revoked_at IS NULL RETURNING name
      """, .time(now), .integer(id), .app(app)
    ) { $0.text() }
  }

  /// Notes when a call last came with a key.
  package func noteUse(of id: Int64, app: AppID, at moment: Timestamp) throws(StorageError) {
    try database.run(
      """
      UPDATE api_key SET last_used_at = ?1
      WHERE id = ?2 AND app_id = ?3 AND (last_used_at IS NULL OR last_used_at < ?1)
      """, .time(moment), .integer(id), .app(app))
  }

  /// Deletes an app's keys that were revoked before a moment.
  package func sweep(app: AppID, before moment: Timestamp) throws(StorageError) {
    try database.run("DELETE FROM api_key WHERE app_id = ? AND revoked_at < ?", .app(app), .time(moment))
  }
}
