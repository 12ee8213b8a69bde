import PushBase

extension WriteTransaction {
  // MARK: Apps

  /// Adds an app of the standard account. `.constraint` if the key exists or the hash is not of 32 bytes.
  public func createApp(key: AppKey, name: String, secretHash: [UInt8], at now: Timestamp)
    throws(StorageError) -> AppID
  {
    try createApp(NewApp(key: key, name: name, secretHash: secretHash), at: now)
  }

  /// Adds an app. `.constraint` if the key exists, if the account has an app with the package, for an unknown account or
  /// plan, and if the hash is not of 32 bytes.
  public func createApp(_ new: NewApp, at now: Timestamp) throws(StorageError) -> AppID {
    try database.run(
      """
      INSERT INTO app (app_key, name, secret_hash, created_at, account_id, android_package, group_name, plan)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, (SELECT plan FROM account WHERE id = ?5), ?9))
      """, .text(new.key.text), .text(new.name), .blob(new.secretHash), .time(now), .account(new.account),
      .optional(new.androidPackage), .optional(new.groupName), .optional(new.plan), .text(PlanRow.unlimited))
    return AppID(UInt32(truncatingIfNeeded: database.lastInsertedRow))
  }

  /// Replaces the hash of an app's secret; no other is accepted any more. False for an unknown app.
  public func setSecret(app: AppID, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET old_secret_hash = NULL, secret_hash = ? WHERE id = ? AND deleted_at IS NULL",
      .blob(hash), .app(app))
    return database.changes > 0
  }

  /// Sets the networks that an app's calls may come from, with spaces between them; nil for everywhere. False for an
  /// unknown app.
  public func setAllowedNetworks(app: AppID, _ networks: String?) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET allowed_networks = ? WHERE id = ? AND deleted_at IS NULL", .optional(networks),
      .app(app))
    return database.changes > 0
  }

  /// Gives an app another name; false for an unknown app.
  public func rename(app: AppID, _ name: String) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET name = ? WHERE id = ? AND deleted_at IS NULL", .text(name), .app(app))
    return database.changes > 0
  }

  /// Puts an app on a plan; false for an unknown app. `.constraint` for an unknown plan.
  public func setPlan(app: AppID, _ plan: String) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET plan = ? WHERE id = ? AND deleted_at IS NULL", .text(plan), .app(app))
    return database.changes > 0
  }

  // MARK: Deletion of apps

  /// Marks an app as deleted: nobody finds it from now on, and its package is free. False for an unknown app.
  public func deleteApp(_ app: AppID, at now: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", .time(now), .app(app))
    guard database.changes > 0 else { return false }
    // What has ended is swept.
    try database.run(
      "UPDATE file SET expires_at = min(expires_at, ?) WHERE owner = (SELECT app_key FROM app WHERE id = ?)",
      .time(now), .app(app))
    return true
  }

  /// One for each table whose rows belong to an app, but for pushes and what hangs on them, callbacks and tables by
  /// period (`WriteTransaction+Purge.swift`). Each is to find the app's rows by an index, or in a table that stays small.
  static let purgeStatements: [StaticString] = [
    """
    DELETE FROM apns_token WHERE app_id = ?1 AND (number, kind, name) IN (
      SELECT number, kind, name FROM apns_token WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM registration WHERE app_id = ?1 AND number IN (
      SELECT number FROM registration WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM tag WHERE app_id = ?1 AND number IN (SELECT number FROM tag WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM gone_registration WHERE id IN (
      SELECT id FROM gone_registration WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM cid WHERE id IN (SELECT id FROM cid WHERE app_id = ?1 LIMIT ?2)",
    "DELETE FROM apns_credential WHERE id IN (SELECT id FROM apns_credential WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM apns_pending WHERE app_id = ?1 AND msg_id IN (
      SELECT msg_id FROM apns_pending WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM schedule WHERE id IN (SELECT id FROM schedule WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM import_batch WHERE id IN (SELECT id FROM import_batch WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM app_group_member WHERE app_id = ?1 AND group_id IN (
      SELECT group_id FROM app_group_member WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM push_plan WHERE app_id = ?1 AND name IN (
      SELECT name FROM push_plan WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM test_device WHERE app_id = ?1 AND registration_id IN (
      SELECT registration_id FROM test_device WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM broadcast_count WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM callback_setting WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM callback_app WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM callback_bulk WHERE id IN (SELECT id FROM callback_bulk WHERE app_id = ?1 LIMIT ?2)",
  ]

  /// One for each table whose rows belong to a push.
  static let pushDeletions: [StaticString] = [
    "DELETE FROM push WHERE msg_id = ?", "DELETE FROM pending WHERE msg_id = ?",
    "DELETE FROM delivered WHERE msg_id = ?", "DELETE FROM outcome WHERE msg_id = ?",
    "DELETE FROM schedule_run WHERE msg_id = ?", "DELETE FROM apns_result WHERE msg_id = ?",
    "DELETE FROM dropped WHERE msg_id = ?", "DELETE FROM receipt WHERE msg_id = ?",
    "DELETE FROM push_callback WHERE msg_id = ?", "DELETE FROM steady_push WHERE msg_id = ?",
    "DELETE FROM push_sender WHERE msg_id = ?",
  ]

  /// Deletes pushes with all that is known of them.
  public func deletePushes(_ ids: [MessageID]) throws(StorageError) {
    for id in ids {
      for statement in Self.pushDeletions { try database.run(statement, .message(id)) }
    }
  }

  /// Notes that a deleted app has no data left.
  public func markPurged(_ app: AppID, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE app SET purged_at = ? WHERE id = ? AND deleted_at IS NOT NULL", .time(now), .app(app))
  }

  // MARK: Accounts and plans

  /// Adds an account. `.constraint` if the key exists, for an unknown plan, and if the hash is not of 32 bytes.
  public func createAccount(
    key: AppKey, name: String, secretHash: [UInt8], plan: String, at now: Timestamp
  ) throws(StorageError) -> AccountID {
    try database.run(
      "INSERT INTO account (name, dev_key, secret_hash, plan, created_at) VALUES (?, ?, ?, ?, ?)",
      .text(name), .text(key.text), .blob(secretHash), .text(plan), .time(now))
    return AccountID(UInt32(truncatingIfNeeded: database.lastInsertedRow))
  }

  /// Replaces the hash of an account's secret; false for an unknown account.
  public func setSecret(account: AccountID, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run("UPDATE account SET secret_hash = ? WHERE id = ?", .blob(hash), .account(account))
    return database.changes > 0
  }

  /// Disables or enables an account, and with it all its apps; false for an unknown account.
  public func setDisabled(account: AccountID, _ isDisabled: Bool) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE account SET disabled = ? WHERE id = ?", .integer(isDisabled ? 1 : 0), .account(account))
    return database.changes > 0
  }

  /// Puts an account on a plan, for its new apps; false for an unknown account. `.constraint` for an unknown plan.
  public func setPlan(account: AccountID, _ plan: String) throws(StorageError) -> Bool {
    try database.run("UPDATE account SET plan = ? WHERE id = ?", .text(plan), .account(account))
    return database.changes > 0
  }

  /// Adds a plan, or replaces the one of the same name.
  public func setPlan(_ plan: PlanRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO plan (name, push_calls, device_calls, report_calls, schedule_calls, file_calls, broadcasts,
        max_time_to_live, speed, shares_speed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET push_calls = excluded.push_calls, device_calls = excluded.device_calls,
        report_calls = excluded.report_calls, schedule_calls = excluded.schedule_calls,
        file_calls = excluded.file_calls, broadcasts = excluded.broadcasts,
        max_time_to_live = excluded.max_time_to_live, speed = excluded.speed,
        shares_speed = excluded.shares_speed
      """, .text(plan.name), .limit(plan.pushCalls), .limit(plan.deviceCalls), .limit(plan.reportCalls),
      .limit(plan.scheduleCalls), .limit(plan.fileCalls), .limit(plan.broadcasts),
      .limit(plan.maxTimeToLive), .limit(plan.speed), .integer(plan.sharesSpeed ? 1 : 0))
  }

  // MARK: Broadcasts

  /// Counts a push to everybody, unless the app has had `limit` of them on this day (counted from 1970-01-01) already; tells whether
  /// it was counted.
  public func countBroadcast(app: AppID, day: Int64, limit: Int) throws(StorageError) -> Bool {
    guard limit > 0 else { return false }
    try database.run(
      """
      INSERT INTO broadcast_count (app_id, day, count) VALUES (?1, ?2, 1)
      ON CONFLICT (app_id) DO UPDATE SET count = CASE WHEN day = ?2 THEN count + 1 ELSE 1 END, day = ?2
      WHERE day <> ?2 OR count < ?3
      """, .app(app), .integer(day), .integer(limit))
    return database.changes > 0
  }
}

extension SQLValue {
  fileprivate static func limit(_ value: Int?) -> SQLValue { .optional(value.map { Int64($0) }) }
}
