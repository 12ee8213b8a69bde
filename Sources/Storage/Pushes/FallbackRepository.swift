import BorealisBase
import Model

/// Devices of a push for which a vendor's channel takes over if they do not acknowledge it in time.
package struct FallbackRow: Sendable, Equatable {
  package var push: MessageID
  package var app: AppID
  /// The channel that takes over.
  package var channel: ChannelID
  /// The seconds that the sender gave devices.
  package var seconds: Int64
  /// When the channel takes over, or did.
  package var dueAt: Timestamp
  /// Whether it has.
  package var isDone: Bool
  /// Who is waited for, in the router's encoding; once it is done, whom the channel took over.
  package var targets: [UInt8]

  package init(
    push: MessageID, app: AppID, channel: ChannelID, seconds: Int64, dueAt: Timestamp, isDone: Bool = false,
    targets: [UInt8]
  ) {
    self.push = push
    self.app = app
    self.channel = channel
    self.seconds = seconds
    self.dueAt = dueAt
    self.isDone = isDone
    self.targets = targets
  }

  init(_ row: Row) {
    self.init(
      push: row.message("msg_id"), app: row.app("app_id"),
      channel: ChannelID(rawValue: row.integer("channel", as: UInt8.self)), seconds: row.integer("seconds"),
      dueAt: row.time("due_at"), isDone: row.bool("is_done"), targets: row.blob("targets"))
  }
}

/// A page of what is due.
package struct DueFallbacks: Sendable {
  /// Those that have been due for longest first.
  package let rows: [FallbackRow]
  /// Where the next page begins; nil if this is the last one.
  package let end: FallbackPlace?
}

/// A place among what is due: behind a channel of a push.
package struct FallbackPlace: Sendable {
  let at: Timestamp
  let push: MessageID
  let channel: ChannelID
}

/// Pushes that go to vendors' channels if devices do not acknowledge them in time.
package struct FallbackRepository<Access>: Repository {
  let database: Database
}

extension FallbackRepository {
  private static var selectFallback: StaticString {
    "SELECT msg_id, app_id, channel, seconds, due_at, is_done, targets FROM fallback"
  }

  /// The channels that take over of a push, or have.
  package func rows(of id: MessageID) throws(StorageError) -> [FallbackRow] {
    try database.all(
      Self.selectFallback, "WHERE msg_id = ? ORDER BY channel", .message(id), map: FallbackRow.init)
  }

  /// What is waited for of pushes to several.
  package func openOfSeveral(in rows: AppRows) throws(StorageError) -> [MessageID: [FallbackRow]] {
    let rows = try database.statement(
      Self.selectFallback,
      """
      WHERE is_done = 0 AND {own fallback.app_id}
        AND EXISTS (SELECT 1 FROM push WHERE push.msg_id = fallback.msg_id AND push.target IS NULL)
      """, in: rows
    ).all([], FallbackRow.init)
    return Dictionary(grouping: rows, by: \.push)
  }

  /// The pushes that are due, at most `limit` of them after a place.
  package func due(
    at now: Timestamp, after place: FallbackPlace? = nil, limit: Int, in rows: AppRows
  ) throws(StorageError) -> DueFallbacks {
    let start =
      place
      ?? FallbackPlace(at: Timestamp(milliseconds: .min), push: MessageID(0), channel: ChannelID(rawValue: 0))
    let found = try database.statement(
      Self.selectFallback,
      """
      WHERE is_done = 0 AND due_at <= ? AND (due_at, msg_id, channel) > (?, ?, ?)
        AND {own fallback.app_id}
      ORDER BY due_at, msg_id, channel LIMIT ?
      """, in: rows
    ).all(
      [
        .time(now), .time(start.at), .message(start.push), .integer(start.channel.rawValue), .integer(limit),
      ], FallbackRow.init)
    let end = found.count == limit ? found.last : nil
    return DueFallbacks(
      rows: found, end: end.map { FallbackPlace(at: $0.dueAt, push: $0.push, channel: $0.channel) })
  }

  /// When the next one is due; nil if none is left.
  package func nextDue(in rows: AppRows) throws(StorageError) -> Timestamp? {
    try database.first(
      """
      SELECT due_at FROM fallback WHERE is_done = 0 AND {own fallback.app_id} ORDER BY due_at LIMIT 1
      """, in: rows
    ) { $0.time() }
  }
}

extension FallbackRepository<Writing> {
  /// Records for whom a channel is to take over. `.constraint` if that is recorded already.
  package func insert(_ row: FallbackRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO fallback (msg_id, channel, app_id, seconds, due_at, is_done, targets) VALUES (?, ?, ?, ?, ?, ?, ?)
      """, .message(row.push), .integer(row.channel.rawValue), .app(row.app), .integer(row.seconds),
      .time(row.dueAt), .integer(row.isDone ? 1 : 0), .blob(row.targets))
  }

  /// Records that a channel has taken some devices over.
  package func finish(
    _ id: MessageID, _ channel: ChannelID, targets: [UInt8], at now: Timestamp
  ) throws(StorageError) {
    try database.run(
      "UPDATE fallback SET is_done = 1, due_at = ?3, targets = ?4 WHERE msg_id = ?1 AND channel = ?2",
      .message(id), .integer(channel.rawValue), .time(now), .blob(targets))
  }

  /// A channel takes over nobody of a push: all have acknowledged it, or it does not reach them any more.
  package func drop(_ id: MessageID, _ channel: ChannelID) throws(StorageError) {
    try database.run(
      "DELETE FROM fallback WHERE msg_id = ? AND channel = ? AND is_done = 0", .message(id),
      .integer(channel.rawValue))
  }

  /// Nothing is waited for of a push any more: it was recalled or has ended.
  package func drop(_ id: MessageID) throws(StorageError) {
    try database.run("DELETE FROM fallback WHERE msg_id = ? AND is_done = 0", .message(id))
  }

  /// Lets channels take over later than they were to.
  package func postpone(
    _ id: MessageID, _ channels: [ChannelID], to moment: Timestamp
  ) throws(StorageError) {
    for channel in channels {
      try database.run(
        "UPDATE fallback SET due_at = ? WHERE msg_id = ? AND channel = ? AND is_done = 0", .time(moment),
        .message(id), .integer(channel.rawValue))
    }
  }

  /// Moves what is not due by so many milliseconds, since the clock was set or stood still: what was accepted
  /// through a push, or later but when the clock showed about a moment. Pushes that came after that have the
  /// new time.
  package func shift(
    by milliseconds: Int64, through newest: MessageID, acceptedAbout moment: Timestamp, in rows: AppRows
  ) throws(StorageError) {
    try database.run(
      """
      UPDATE fallback SET due_at = due_at + ?1
      WHERE is_done = 0 AND (msg_id <= ?2 OR due_at - seconds * 1000 BETWEEN ?3 AND ?4)
        AND {own fallback.app_id}
      """, in: rows, .integer(milliseconds), .message(newest), .time(moment.adding(seconds: -1)),
      .time(moment.adding(seconds: 2)))
  }

  /// Has nothing be due before `earliest`, nor later than its seconds after it.
  package func clamp(from earliest: Timestamp, in rows: AppRows) throws(StorageError) {
    try database.run(
      """
      UPDATE fallback SET due_at = ?1 WHERE is_done = 0 AND due_at < ?1 AND {own fallback.app_id}
      """, in: rows, .time(earliest))
    try database.run(
      """
      UPDATE fallback SET due_at = ?1 + seconds * 1000 WHERE is_done = 0 AND due_at > ?1 + seconds * 1000
        AND {own fallback.app_id}
      """, in: rows, .time(earliest))
  }
}
