import BorealisBase
import Model

/// Apps.
package struct AppRepository<Access>: Repository {
  let database: Database
}

extension AppRepository {
  /// All apps that are not deleted, by number.
  package func all(in rows: AppRows) throws(StorageError) -> [AppRow] {
    Self.join(
      try database.all(
        "SELECT * FROM live_app WHERE {own live_app.id} ORDER BY id", in: rows, map: Self.app),
      try transaction.apiKeys.live(in: rows))
  }

  /// The apps of one account that are not deleted, by number.
  package func all(of account: AccountID) throws(StorageError) -> [AppRow] {
    Self.join(
      try database.all(
        "SELECT * FROM live_app WHERE account_id = ? ORDER BY id", .account(account), map: Self.app),
      try transaction.apiKeys.live(of: account))
  }

  /// The app of a key, nil for an unknown or deleted one.
  package func find(key: AppKey) throws(StorageError) -> AppRow? {
    try withKeys(
      try database.first("SELECT * FROM live_app WHERE app_key = ?", .text(key.text), map: Self.app))
  }

  /// An app by its number, nil for an unknown or deleted one.
  package func find(_ id: AppID) throws(StorageError) -> AppRow? {
    try withKeys(try database.first("SELECT * FROM live_app WHERE id = ?", .app(id), map: Self.app))
  }

  private func withKeys(_ row: AppRow?) throws(StorageError) -> AppRow? {
    guard var row else { return nil }
    row.keys = try transaction.apiKeys.live(app: row.id)
    return row
  }

  private static func join(_ rows: [AppRow], _ keys: [APIKeyRow]) -> [AppRow] {
    guard !keys.isEmpty else { return rows }
    let keys = Dictionary(grouping: keys, by: \.app)
    return rows.map { row in
      var row = row
      row.keys = keys[row.id] ?? []
      return row
    }
  }

  /// The key of an account's app with an Android package, nil if there is none.
  package func key(account: AccountID, androidPackage: String) throws(StorageError) -> AppKey? {
    try database.first(
      "SELECT app_key FROM app WHERE account_id = ? AND android_package = ? AND deleted_at IS NULL",
      .account(account), .text(androidPackage)
    ) { AppKey($0.text()) } ?? nil
  }

  /// How many apps an account has, without deleted ones.
  package func count(account: AccountID) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM app WHERE account_id = ? AND deleted_at IS NULL", .account(account)
    ) { $0.count() } ?? 0
  }

  /// The pushes to everybody that an app has sent on a day, counted from 1970-01-01, as `countBroadcast`
  /// counts them.
  package func broadcasts(of app: AppID, on day: Int64) throws(StorageError) -> Int {
    try database.first(
      "SELECT count FROM broadcast_count WHERE app_id = ?1 AND day IN (?2, ?2 + 1)", .app(app), .integer(day)
    ) { Int(clamping: $0.integer()) } ?? 0
  }

  private static func app(_ row: Row) -> AppRow {
    var app = AppRow(
      id: row.app("id"), key: AppKey(row.text("app_key")) ?? AppKey(high: 0, low: 0), name: row.text("name"),
      secretHash: row.blob("secret_hash"), createdAt: row.time("created_at"),
      nextNumber: row.integer("next_number", as: UInt32.self), isDisabled: row.bool("disabled"),
      account: row.account("account_id"),
      oldSecretHash: row.optionalBlob("old_secret_hash"), androidPackage: row.optionalText("android_package"),
      allowedNetworks: row.optionalText("allowed_networks"), importsFrom: row.time("imports_from"),
      facts: DeviceFactSet(rawValue: row.integer("facts", as: UInt16.self)),
      hasErasedFacts: !row.isNull("erased_facts_from"),
      plan: PlanRow(row, name: "plan"))
    (app.brakes, app.caps, app.quietHours) = (BrakesRow(row), CapsRow(row), QuietHours(row))
    return app
  }

  /// When an app's secret was last rotated, if recorded.
  package func secretRotatedAt(app: AppID, of account: AccountID) throws(StorageError) -> Timestamp? {
    try database.first(
      """
      SELECT at FROM audit {sqlite INDEXED BY audit_rotation}
      WHERE account_id = ? AND subject_app = ? AND action = 'app.rotate' ORDER BY id DESC LIMIT 1
      """, .integer(account.rawValue), .app(app)
    ) { $0.time() }
  }
}

extension AppRepository<Writing> {
  /// Gives an app another secret beside the one that its servers have; false for an unknown app, or where
  /// `rotation` does not go with what there is.
  package func rotateSecret(
    app: AppID, hash: [UInt8], _ rotation: SecretRotation
  ) throws(StorageError) -> Bool {
    switch rotation {
    case .begin:
      try database.run(
        """
        UPDATE app SET old_secret_hash = secret_hash, secret_hash = ?
        WHERE id = ? AND deleted_at IS NULL AND old_secret_hash IS NULL
        """, .blob(hash), .app(app))
    case .again:
      try database.run(
        "UPDATE app SET secret_hash = ? WHERE id = ? AND deleted_at IS NULL AND old_secret_hash IS NOT NULL",
        .blob(hash), .app(app))
    case .shift:
      try database.run(
        "UPDATE app SET old_secret_hash = secret_hash, secret_hash = ? WHERE id = ? AND deleted_at IS NULL",
        .blob(hash), .app(app))
    }
    return database.changes > 0
  }

  /// Refuses the secret before the present one from now on; false for an unknown app, and if there is none.
  package func retireSecret(app: AppID) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE app SET old_secret_hash = NULL WHERE id = ? AND deleted_at IS NULL AND old_secret_hash IS NOT NULL
      """, .app(app))
    return database.changes > 0
  }

  /// Adds an app of the standard account. `.constraint` if the key exists or the hash is not of 32 bytes.
  package func create(key: AppKey, name: String, secretHash: [UInt8], at now: Timestamp)
    throws(StorageError) -> AppID
  {
    try create(NewApp(key: key, name: name, secretHash: secretHash), at: now)
  }

  /// Adds an app. `.constraint` if the key exists, if the account has an app with the package, for an unknown
  /// account or plan, and if the hash is not of 32 bytes.
  package func create(_ new: NewApp, at now: Timestamp) throws(StorageError) -> AppID {
    let id = try database.insert(
      """
      INSERT INTO app (app_key, name, secret_hash, created_at, account_id, android_package, group_name, plan)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, (SELECT plan FROM account WHERE id = ?5), ?9))
      RETURNING id
      """, .text(new.key.text), .text(new.name), .blob(new.secretHash), .time(now), .account(new.account),
      .optional(new.androidPackage), .optional(new.groupName), .optional(new.plan), .text(PlanRow.unlimited))
    return AppID(UInt32(truncatingIfNeeded: id))
  }

  /// Replaces the hash of an app's secret; only this one is accepted from now on. False for an unknown app.
  package func setSecret(app: AppID, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET old_secret_hash = NULL, secret_hash = ? WHERE id = ? AND deleted_at IS NULL",
      .blob(hash), .app(app))
    return database.changes > 0
  }

  /// Disables or enables an app; false for an unknown app.
  package func setDisabled(app: AppID, _ isDisabled: Bool) throws(StorageError) -> Bool {
    try database.run("UPDATE app SET disabled = ? WHERE id = ?", .integer(isDisabled ? 1 : 0), .app(app))
    return database.changes > 0
  }

  /// Sets the networks that an app's calls may come from, with spaces between them; nil for everywhere. False
  /// for an unknown app.
  package func setAllowedNetworks(app: AppID, _ networks: String?) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET allowed_networks = ? WHERE id = ? AND deleted_at IS NULL", .optional(networks),
      .app(app))
    return database.changes > 0
  }

  /// Sets from when on imported registrations get pushes although their devices have not come; false for an
  /// unknown app.
  package func setImportsFrom(app: AppID, _ moment: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET imports_from = ? WHERE id = ? AND deleted_at IS NULL", .time(moment), .app(app))
    return database.changes > 0
  }

  /// Gives an app another name; false for an unknown app.
  package func rename(app: AppID, _ name: String) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET name = ? WHERE id = ? AND deleted_at IS NULL", .text(name), .app(app))
    return database.changes > 0
  }

  /// Puts an app on a plan; false for an unknown app. `.constraint` for an unknown plan.
  package func setPlan(app: AppID, _ plan: String) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET plan = ? WHERE id = ? AND deleted_at IS NULL", .text(plan), .app(app))
    return database.changes > 0
  }

  /// Marks an app as deleted: it can no longer be found, and its package is free. False for an unknown app.
  package func delete(_ app: AppID, at now: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", .time(now), .app(app))
    guard database.changes > 0 else { return false }
    // What has ended is swept.
    try database.run(
      """
      UPDATE file SET expires_at = ?1 WHERE owner = (SELECT app_key FROM app WHERE id = ?2) AND expires_at > ?1
      """, .time(now), .app(app))
    return true
  }

  /// Counts a broadcast, unless the app has had `limit` of them on this day (counted from 1970-01-01)
  /// already; returns whether it was counted. The day before the last one counts as that: a clock, or its
  /// zone, may go back over midnight, and must not give the same day twice. One further back has a count of
  /// its own, since the last one was that of a wrong clock.
  package func countBroadcast(app: AppID, day: Int64, limit: Int) throws(StorageError) -> Bool {
    guard limit > 0 else { return false }
    try database.run(
      """
      INSERT INTO broadcast_count (app_id, day, count) VALUES (?1, ?2, 1)
      ON CONFLICT (app_id) DO UPDATE SET
        count = CASE WHEN broadcast_count.day IN (?2, ?2 + 1) THEN broadcast_count.count + 1 ELSE 1 END,
        day = CASE WHEN broadcast_count.day = ?2 + 1 THEN broadcast_count.day ELSE ?2 END
      WHERE broadcast_count.day NOT IN (?2, ?2 + 1) OR broadcast_count.count < ?3
      """, .app(app), .integer(day), .integer(limit))
    return database.changes > 0
  }
}
