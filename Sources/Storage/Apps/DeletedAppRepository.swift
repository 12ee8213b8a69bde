import BorealisBase

/// How far the deletion of an app's rows has come: what has no rows left is not looked at again.
package struct PurgePosition: Sendable, Equatable {
  /// Uploaded files come first.
  var areFilesGone = false
  /// The next of `PurgeStatements.byApp`; behind them come the callbacks, then the tables by period.
  var statement = 0
  /// The next of `PeriodTable`, and the last period in it that is done.
  var table = 0
  var period = Int64.min

  /// At the beginning.
  package init() {}
}

/// A table in which the rows of a period are adjacent: an app's rows are found by the period, or by a scan of
/// all rows.
enum PeriodTable: CaseIterable {
  case hours, days, newcomers, statistics

  /// The first period after one.
  fileprivate var next: StaticString {
    switch self {
    case .hours: "SELECT min(period) FROM activity WHERE unit = 1 AND period > ?"
    case .days: "SELECT min(period) FROM activity WHERE unit = 2 AND period > ?"
    case .newcomers: "SELECT min(hour) FROM newcomers WHERE hour > ?"
    case .statistics: "SELECT min(hour) FROM statistics WHERE hour > ?"
    }
  }

  /// Deletes what an app has in a period.
  var deletion: StaticString {
    switch self {
    case .hours: "DELETE FROM activity WHERE unit = 1 AND period = ?1 AND app_id = ?2"
    case .days: "DELETE FROM activity WHERE unit = 2 AND period = ?1 AND app_id = ?2"
    case .newcomers: "DELETE FROM newcomers WHERE hour = ?1 AND app_id = ?2"
    case .statistics: "DELETE FROM statistics WHERE hour = ?1 AND app_id = ?2"
    }
  }
}

/// What deletes the rows of an app. `?1` is the app, `?2` the number of rows.
enum PurgeStatements {
  /// A file that the app `?1` uploaded. Pieces of files are large, and go a few at a time.
  static let file: StaticString =
    "SELECT id FROM file WHERE owner = (SELECT app_key FROM app WHERE id = ?1) ORDER BY id LIMIT 1"

  /// One for each table whose rows belong to an app, but for pushes and what hangs on them, callbacks and
  /// tables by period (below). Each is to find the app's rows by an index, or in a table that stays small.
  static let byApp: [StaticString] = [
    """
    DELETE FROM channel_token WHERE app_id = ?1 AND (number, channel, kind, name) IN (
      SELECT number, channel, kind, name FROM channel_token WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM device_key WHERE app_id = ?1 AND number IN (
      SELECT number FROM device_key WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM content_key WHERE app_id = ?1 AND (number, key_id) IN (
      SELECT number, key_id FROM content_key WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM registration WHERE app_id = ?1 AND number IN (
      SELECT number FROM registration WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM tag WHERE app_id = ?1 AND number IN (SELECT number FROM tag WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM fact_value WHERE app_id = ?1 AND number IN (
      SELECT number FROM fact_value WHERE app_id = ?1 LIMIT ?2)
    """,
    """
    DELETE FROM gone_registration WHERE id IN (
      SELECT id FROM gone_registration WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM erasure WHERE id IN (SELECT id FROM erasure WHERE app_id = ?1 LIMIT ?2)",
    "DELETE FROM cid WHERE id IN (SELECT id FROM cid WHERE app_id = ?1 LIMIT ?2)",
    "DELETE FROM token_proof WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM credential WHERE id IN (SELECT id FROM credential WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM channel_pending WHERE app_id = ?1 AND (channel, msg_id) IN (
      SELECT channel, msg_id FROM channel_pending WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM schedule WHERE id IN (SELECT id FROM schedule WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM abtest_push WHERE run_id IN (SELECT id FROM abtest_run WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM abtest_run WHERE id IN (SELECT id FROM abtest_run WHERE app_id = ?1 LIMIT ?2)",
    "DELETE FROM canary WHERE msg_id IN (SELECT msg_id FROM canary WHERE app_id = ?1 LIMIT ?2)",
    // Behind the schedules, which refer to them.
    "DELETE FROM abtest WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM segment WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM template WHERE app_id = ?1 AND ?2 > 0",
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
    "DELETE FROM api_key WHERE id IN (SELECT id FROM api_key WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM api_request WHERE app_id = ?1 AND (kind, seq) IN (
      SELECT kind, seq FROM api_request WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM incident WHERE id IN (SELECT id FROM incident WHERE app_id = ?1 LIMIT ?2)",
    "DELETE FROM broadcast_count WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM counted_push WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM app_figures WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM callback_setting WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM callback_app WHERE app_id = ?1 AND ?2 > 0",
    "DELETE FROM getui_access WHERE app_id = ?1 AND ?2 > 0",
    """
    DELETE FROM getui_revoked_token WHERE app_id = ?1 AND token IN (
      SELECT token FROM getui_revoked_token WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM getui_task WHERE id IN (SELECT id FROM getui_task WHERE app_id = ?1 LIMIT ?2)",
    """
    DELETE FROM getui_push WHERE push_id IN (SELECT push_id FROM getui_push WHERE app_id = ?1 LIMIT ?2)
    """,
    "DELETE FROM callback_bulk WHERE id IN (SELECT id FROM callback_bulk WHERE app_id = ?1 LIMIT ?2)",
  ]

  /// Both together, attempts first: they are found by their batches. The order is the index's own.
  static let callbacks: [StaticString] = [
    """
    DELETE FROM callback_attempt WHERE batch_id IN (
      SELECT id FROM callback_batch WHERE app_id = ?1 ORDER BY state, id LIMIT ?2)
    """,
    """
    DELETE FROM callback_batch WHERE id IN (
      SELECT id FROM callback_batch WHERE app_id = ?1 ORDER BY state, id LIMIT ?2)
    """,
  ]
}

/// Deleted apps whose rows are not all gone.
package struct DeletedAppRepository<Access>: Repository {
  let database: Database
}

extension DeletedAppRepository {
  /// Deleted apps that have data left, by number.
  package func all(in rows: AppRows) throws(StorageError) -> [DeletedApp] {
    try database.all(
      """
      SELECT id, app_key FROM app
      WHERE deleted_at IS NOT NULL AND purged_at IS NULL AND {own app.id} ORDER BY id
      """, in: rows
    ) { DeletedApp(id: $0.app("id"), key: AppKey($0.text("app_key")) ?? AppKey(high: 0, low: 0)) }
  }
}

extension DeletedAppRepository<Writing> {
  /// Records that a deleted app has no data left.
  package func markPurged(_ app: AppID, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE app SET purged_at = ? WHERE id = ? AND deleted_at IS NOT NULL", .time(now), .app(app))
    try database.run("DELETE FROM home WHERE app_id = ?", .app(app))
  }

  /// Pieces of files, of about 256 KiB, that one call deletes.
  private static var filePieces: Int { 4 }

  /// Deletes about `limit` rows of a deleted app, without its pushes. Returns where the next call continues;
  /// nil when nothing is left.
  package func purge(
    of app: AppID, limit: Int, from position: PurgePosition
  ) throws(StorageError) -> PurgePosition? {
    var (position, left) = (position, limit)
    if !position.areFilesGone {
      if try transaction.files.purge(of: app, limit: Self.filePieces) { return position }
      position.areFilesGone = true
    }
    while position.statement < PurgeStatements.byApp.count {
      try database.run(PurgeStatements.byApp[position.statement], .app(app), .integer(left))
      left -= database.changes
      if left <= 0 { return position }
      position.statement += 1
    }
    if position.statement == PurgeStatements.byApp.count {
      for statement in PurgeStatements.callbacks { try database.run(statement, .app(app), .integer(left)) }
      if database.changes >= left { return position }
      position.statement += 1
    }
    return try purgePeriods(of: app, limit: left, from: position)
  }

  private func purgePeriods(
    of app: AppID, limit: Int, from position: PurgePosition
  ) throws(StorageError) -> PurgePosition? {
    var (position, left) = (position, limit)
    let tables = PeriodTable.allCases
    while position.table < tables.count {
      let table = tables[position.table]
      let next = try database.first(table.next, .integer(position.period)) { $0.optionalInteger() } ?? nil
      guard let next else {
        position.table += 1
        position.period = .min
        continue
      }
      guard left > 0 else { return position }
      try database.run(table.deletion, .integer(next), .app(app))
      position.period = next
      left -= 1
    }
    return nil
  }
}
