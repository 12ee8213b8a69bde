import BorealisBase
import Model

/// Pushes whose delivery is spread over some time.
package struct PacedPushRepository<Access>: Repository {
  let database: Database
}

extension PacedPushRepository {
  /// Over how many minutes a push is being paced, nil for one that is not, or no more.
  package func minutes(of id: MessageID) throws(StorageError) -> Int64? {
    try database.first("SELECT minutes FROM steady_push WHERE msg_id = ?", .message(id)) { $0.integer() }
  }

  /// Over how many minutes from their acceptance pushes are spread, of those that are not all released.
  package func all(in rows: AppRows) throws(StorageError) -> [MessageID: Int64] {
    var minutes: [MessageID: Int64] = [:]
    let found = try database.all(
      "SELECT msg_id, minutes FROM steady_push WHERE {own steady_push.app_id}", in: rows
    ) { ($0.message("msg_id"), $0.integer("minutes")) }
    for (id, value) in found { minutes[id] = value }
    return minutes
  }

  /// How many pushes of an app are being paced.
  package func count(app: AppID, at now: Timestamp) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM steady_push WHERE app_id = ? AND ends_at > ?", .app(app), .time(now)
    ) { $0.count() } ?? 0
  }
}

extension PacedPushRepository<Writing> {
  /// Records that a push is paced from its acceptance to an end.
  package func insert(
    id: MessageID, app: AppID, minutes: Int64, endsAt: Timestamp
  ) throws(StorageError) {
    try database.run(
      "INSERT INTO steady_push (msg_id, app_id, minutes, ends_at) VALUES (?, ?, ?, ?)", .message(id),
      .app(app), .integer(minutes), .time(endsAt))
  }

  /// A push is no longer paced, because it was recalled.
  package func end(id: MessageID) throws(StorageError) {
    try database.run("DELETE FROM steady_push WHERE msg_id = ?", .message(id))
  }

  /// Deletes the pushes that are completely released.
  package func sweep(endedBy now: Timestamp, in rows: AppRows) throws(StorageError) {
    try database.run(
      "DELETE FROM steady_push WHERE ends_at <= ? AND {own steady_push.app_id}", in: rows,
      .time(now))
  }
}
