import BorealisBase

/// Who did something in an hour or a day.
package struct ActivityRepository<Access>: Repository {
  let database: Database
}

extension ActivityRepository {
  /// Who did something in a range of periods, by period.
  package func find(
    app: AppID, _ unit: ActivityUnit, _ periods: Range<Int64>
  ) throws(StorageError) -> [ActivityRow] {
    var rows: [ActivityRow] = []
    // One query for each period: the rows of apps are adjacent within a period.
    for period in periods {
      rows += try database.all(
        "SELECT kind, targets FROM activity WHERE unit = ? AND period = ? AND app_id = ?",
        .integer(unit.rawValue), .integer(period), .app(app)
      ) { row in
        ActivityKind(number: row.count("kind")).map {
          ActivityRow(period: period, kind: $0, targets: row.blob("targets"))
        }
      }.compactMap { $0 }
    }
    return rows
  }

  /// The registrations of one activity in a period, in the router's encoding; nil for none.
  package func find(
    app: AppID, _ unit: ActivityUnit, _ period: Int64, _ kind: ActivityKind
  ) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT targets FROM activity WHERE unit = ? AND period = ? AND app_id = ? AND kind = ?",
      .integer(unit.rawValue), .integer(period), .app(app), .integer(kind.number)
    ) { $0.blob() }
  }
}

extension ActivityRepository<Writing> {
  /// Saves who did something in a period.
  package func save(
    app: AppID, _ unit: ActivityUnit, _ period: Int64, _ kind: ActivityKind, targets: [UInt8]
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO activity (unit, period, app_id, kind, targets) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (unit, period, app_id, kind) DO UPDATE SET targets = excluded.targets
      """, .integer(unit.rawValue), .integer(period), .app(app), .integer(kind.number), .blob(targets))
  }

  /// Deletes rows below some periods, at most `limit` of each kind; returns whether a kind may have more.
  package func sweep(
    hours: Int64, days: Int64, statistics: Int64, limit: Int, in rows: AppRows
  ) throws(StorageError) -> Bool {
    var hasMore = false
    for (unit, period) in [(ActivityUnit.hour, hours), (.day, days)] {
      try database.run(
        """
        DELETE FROM activity WHERE (unit, period, app_id, kind) IN (
          SELECT unit, period, app_id, kind FROM activity
          WHERE unit = ? AND period < ? AND {own activity.app_id} LIMIT ?)
        """, in: rows, .integer(unit.rawValue), .integer(period), .integer(limit))
      hasMore = hasMore || database.changes >= limit
    }
    try database.run(
      """
      DELETE FROM newcomers WHERE (hour, app_id, platform) IN (
        SELECT hour, app_id, platform FROM newcomers
        WHERE hour < ? AND {own newcomers.app_id} LIMIT ?)
      """, in: rows, .integer(statistics), .integer(limit))
    hasMore = hasMore || database.changes >= limit
    try database.run(
      """
      DELETE FROM statistics WHERE (hour, app_id) IN (
        SELECT hour, app_id FROM statistics WHERE hour < ? AND {own statistics.app_id} LIMIT ?)
      """, in: rows, .integer(statistics), .integer(limit))
    return hasMore || database.changes >= limit
  }
}
