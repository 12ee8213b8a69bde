import BorealisBase
import Model

/// What makes two troubles of an app the same one.
package struct TroubleIdentity: Hashable, Sendable {
  package let kind: TroubleKind
  /// Of which channel; nil for none.
  package let channel: ChannelID?
  /// Of which of the channel's services; empty if it has only one.
  package let service: String

  package init(_ kind: TroubleKind, of channel: ChannelID? = nil, service: String = "") {
    (self.kind, self.channel, self.service) = (kind, channel, service)
  }
}

/// A trouble of an app with its begin and its end.
package struct IncidentRow: Sendable, Equatable {
  package let id: Int64
  package let app: AppID
  package let identity: TroubleIdentity
  /// What was said when it began.
  package let phrase: Phrase
  package let beganAt: Timestamp
  /// Nil as long as it lasts.
  package let endedAt: Timestamp?

  package init(
    id: Int64, app: AppID, identity: TroubleIdentity, phrase: Phrase, beganAt: Timestamp, endedAt: Timestamp?
  ) {
    (self.id, self.app, self.identity) = (id, app, identity)
    (self.phrase, self.beganAt, self.endedAt) = (phrase, beganAt, endedAt)
  }
}

/// The troubles that apps have and had.
package struct IncidentRepository<Access>: Repository {
  let database: Database
}

extension IncidentRepository {
  private static var select: StaticString {
    "SELECT id, app_id, kind, channel, service, english, chinese, began_at, ended_at FROM incident"
  }

  /// Incidents that last, or that have ended so lately that they may go on.
  package func unsettled(in rows: AppRows) throws(StorageError) -> [IncidentRow] {
    try database.all(
      """
      SELECT id, app_id, kind, channel, service, english, chinese, began_at, ended_at
      FROM incident {sqlite INDEXED BY incident_unsettled} WHERE is_settled = 0 AND {own incident.app_id}
      """, in: rows, map: Self.incident
    ).compactMap { $0 }
  }

  /// An app's incidents, the newest first, older than `before`.
  package func list(app: AppID, before id: Int64, limit: Int) throws(StorageError) -> [IncidentRow] {
    try database.all(
      Self.select, "WHERE app_id = ? AND id < ? ORDER BY id DESC LIMIT ?", .app(app), .integer(id),
      .integer(limit), map: Self.incident
    ).compactMap { $0 }
  }

  /// How many pushes an app accepted in a time, counted up to `limit`.
  package func pushes(
    app: AppID, from: Timestamp, to end: Timestamp, limit: Int
  ) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM (
        SELECT 1 FROM push {sqlite INDEXED BY push_app}
        WHERE app_id = ? AND msg_id >= ? AND msg_id < ? LIMIT ?) AS accepted
      """, .app(app), .message(MessageID(firstAt: from)), .message(MessageID(firstAt: end)), .integer(limit)
    ) { $0.count() } ?? 0
  }

  private static func incident(_ row: Row) -> IncidentRow? {
    TroubleKind(rawValue: row.integer("kind", as: UInt8.self)).map { kind in
      let channel = row.integer("channel", as: UInt8.self)
      return IncidentRow(
        id: row.integer("id"), app: row.app("app_id"),
        identity: TroubleIdentity(
          kind, of: channel == 0 ? nil : ChannelID(rawValue: channel), service: row.text("service")),
        phrase: Phrase(row.text("english"), row.text("chinese")), beganAt: row.time("began_at"),
        endedAt: row.optionalTime("ended_at"))
    }
  }
}

extension IncidentRepository<Writing> {
  /// Notes that something went wrong with an app, which has no unsettled incident like it, unless the app is
  /// deleted.
  package func begin(
    _ identity: TroubleIdentity, _ phrase: Phrase, of app: AppID, at now: Timestamp
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO incident (app_id, kind, channel, service, english, chinese, began_at)
      SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM app WHERE id = ?1 AND deleted_at IS NULL
      """, .app(app), .integer(identity.kind.rawValue), .integer(identity.channel?.rawValue ?? 0),
      .text(identity.service), .text(phrase.english), .text(phrase.chinese), .time(now))
  }

  /// Notes that an incident is over, or that it goes on (nil).
  package func setEnd(_ end: Timestamp?, of id: Int64) throws(StorageError) {
    try database.run(
      "UPDATE incident SET ended_at = ? WHERE id = ?", end.map { .time($0) } ?? .null, .integer(id))
  }

  /// Notes that an incident that is over does not go on.
  package func settle(_ id: Int64) throws(StorageError) {
    try database.run("UPDATE incident SET is_settled = 1 WHERE id = ?", .integer(id))
  }

  /// Deletes incidents that were over before a moment; returns how many.
  package func sweep(before moment: Timestamp, limit: Int) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM incident WHERE id IN (
        SELECT id FROM incident WHERE is_settled = 1 AND ended_at < ? ORDER BY ended_at LIMIT ?)
      """, .time(moment), .integer(limit))
    return database.changes
  }
}
