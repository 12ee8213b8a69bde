import BorealisBase
import Model

/// Targets of a push that wait for the end of their quiet hours, which is the same for all of them.
package struct HeldPushRow: Sendable, Equatable {
  package var push: MessageID
  package var app: AppID
  /// When their quiet hours end.
  package var until: Timestamp
  /// In the router's encoding.
  package var targets: [UInt8]

  package init(push: MessageID, app: AppID, until: Timestamp, targets: [UInt8]) {
    (self.push, self.app, self.until, self.targets) = (push, app, until, targets)
  }

  init(_ row: Row) {
    self.init(
      push: row.message("msg_id"), app: row.app("app_id"), until: row.time("until"),
      targets: row.blob("targets"))
  }
}

/// Pushes that wait for the end of quiet hours.
package struct HeldPushRepository<Access>: Repository {
  let database: Database
}

extension HeldPushRepository {
  private static var selectHeld: StaticString { "SELECT msg_id, app_id, until, targets FROM held_push" }

  /// Who waits for a push, the earliest end first.
  package func rows(of id: MessageID) throws(StorageError) -> [HeldPushRow] {
    try database.all(
      Self.selectHeld, "WHERE msg_id = ? ORDER BY until", .message(id), map: HeldPushRow.init)
  }

  /// Who waits for a push until a moment; nil if nobody does.
  package func find(_ id: MessageID, until moment: Timestamp) throws(StorageError) -> HeldPushRow? {
    try database.first(
      Self.selectHeld, "WHERE msg_id = ? AND until = ?", .message(id), .time(moment), map: HeldPushRow.init)
  }

  /// Calls `body` with all of them.
  package func all(in rows: AppRows, each body: (HeldPushRow) -> Void) throws(StorageError) {
    let statement = try database.statement(Self.selectHeld, "WHERE {own held_push.app_id}", in: rows)
    try statement.each([]) { body(HeldPushRow($0)) }
  }

  /// What waits of an app for quiet hours that have ended, the earliest end first: at most `limit` rows after
  /// a given one.
  package func due(
    of app: AppID, at now: Timestamp, after last: HeldPushRow? = nil, limit: Int
  ) throws(StorageError) -> [HeldPushRow] {
    try database.all(
      Self.selectHeld,
      """
      WHERE app_id = ? AND until <= ? AND (until, msg_id) > (?, ?) ORDER BY until, msg_id LIMIT ?
      """, .app(app), .time(now), .time(last?.until ?? Timestamp(milliseconds: .min)),
      .message(last?.push ?? MessageID(0)), .integer(limit), map: HeldPushRow.init)
  }

  /// When the next quiet hours end for which something waits of an app; nil if nothing waits.
  package func next(of app: AppID) throws(StorageError) -> Timestamp? {
    try database.first(
      "SELECT until FROM held_push WHERE app_id = ? ORDER BY until LIMIT 1", .app(app)
    ) { $0.time() }
  }

  /// The same for each app of which something waits.
  package func next(in rows: AppRows) throws(StorageError) -> [AppID: Timestamp] {
    let found = try database.all(
      "SELECT app_id, min(until) AS until FROM held_push WHERE {own held_push.app_id} GROUP BY app_id",
      in: rows
    ) { ($0.app("app_id"), $0.time("until")) }
    return Dictionary(found) { first, _ in first }
  }
}

extension HeldPushRepository<Writing> {
  /// Records who waits. `.constraint` if somebody is recorded for that moment already.
  package func insert(_ row: HeldPushRow) throws(StorageError) {
    try database.run(
      "INSERT INTO held_push (msg_id, until, app_id, targets) VALUES (?, ?, ?, ?)", .message(row.push),
      .time(row.until), .app(row.app), .blob(row.targets))
  }

  /// Nobody waits for a push until a moment any more.
  package func remove(_ id: MessageID, until moment: Timestamp) throws(StorageError) {
    try database.run(
      "DELETE FROM held_push WHERE msg_id = ? AND until = ?", .message(id), .time(moment))
  }

  /// Nobody waits for a push any more: it was recalled or has ended.
  package func drop(_ id: MessageID) throws(StorageError) {
    try database.run("DELETE FROM held_push WHERE msg_id = ?", .message(id))
  }
}
