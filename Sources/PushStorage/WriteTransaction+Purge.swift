import PushBase

/// How far the deletion of an app's rows has come: what has no rows left is not looked at again.
public struct PurgePosition: Sendable, Equatable {
  /// The next of `purgeStatements`; behind them come the callbacks, then the tables by period.
  var statement = 0
  /// The next of `PeriodTable`, and the last period in it that is done.
  var table = 0
  var period = Int64.min

  /// At the beginning.
  public init() {}
}

/// A table in which the apps of a period stand next to each other: an app's rows are found by the period, or by looking at
/// everybody's.
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

extension WriteTransaction {
  /// Both together, attempts first: they are found by their batches. The order is the index's own.
  static let callbackPurge: [StaticString] = [
    """
    DELETE FROM callback_attempt WHERE batch_id IN (
      SELECT id FROM callback_batch WHERE app_id = ?1 ORDER BY state, id LIMIT ?2)
    """,
    """
    DELETE FROM callback_batch WHERE id IN (
      SELECT id FROM callback_batch WHERE app_id = ?1 ORDER BY state, id LIMIT ?2)
    """,
  ]

  /// Deletes some `limit` rows that a deleted app has, without its pushes. Returns where the next call goes on; nil when
  /// nothing is left.
  public func purgeRows(
    of app: AppID, limit: Int, from position: PurgePosition
  ) throws(StorageError) -> PurgePosition? {
    var (position, left) = (position, limit)
    while position.statement < Self.purgeStatements.count {
      try database.run(Self.purgeStatements[position.statement], .app(app), .integer(left))
      left -= database.changes
      if left <= 0 { return position }
      position.statement += 1
    }
    if position.statement == Self.purgeStatements.count {
      for statement in Self.callbackPurge { try database.run(statement, .app(app), .integer(left)) }
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
      let next = try database.first(table.next, .integer(position.period)) { $0.optionalInteger(0) } ?? nil
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
