import BorealisBase
import Model

/// A push that went to a share of its audience first, and what became of the rest.
package struct CanaryRow: Sendable, Equatable {
  /// How far it has come. The raw values are stored in the database.
  package enum State: Int64, CaseIterable, Sendable {
    case waiting = 0
    /// The rest got the push after the wait.
    case sent = 1
    /// A person sent it to the rest.
    case released = 2
    /// The rest was to get it, and nobody of it was left.
    case nobodyLeft = 3
    /// It failed for too many.
    case tooManyFailures = 4
    /// Too little became known.
    case tooLittleKnown = 5
    /// It was recalled.
    case recalled = 6
    /// A person, or the app's server, stopped it.
    case stopped = 7
    /// The rest was to get it, and could not be sent.
    case failed = 8

    /// Its name in the API.
    package var name: String {
      switch self {
      case .waiting: "waiting"
      case .sent: "sent"
      case .released: "released"
      case .nobodyLeft: "nobody_left"
      case .tooManyFailures: "too_many_failures"
      case .tooLittleKnown: "too_little_known"
      case .recalled: "recalled"
      case .stopped: "stopped"
      case .failed: "failed"
      }
    }

    /// Whether the rest does not get the push.
    package var isStop: Bool { ![.waiting, .sent, .released, .nobodyLeft].contains(self) }
  }

  /// How it ended.
  package struct End: Sendable, Equatable {
    package let state: State
    package let at: Timestamp
    /// For how many devices the push had succeeded and failed by then; nil if nobody looked.
    package var figures: (succeeded: Int, failed: Int)?
    /// The push to the rest; nil if there is none.
    package var rest: MessageID?
    /// Why the rest could not be sent; of one that is read, the code and the message are right.
    package var fault: APIError?

    package init(
      _ state: State, at: Timestamp, figures: (succeeded: Int, failed: Int)? = nil, rest: MessageID? = nil,
      fault: APIError? = nil
    ) {
      (self.state, self.at, self.figures) = (state, at, figures)
      (self.rest, self.fault) = (rest, fault)
    }

    /// Why the rest could not be sent, for callers of the API.
    package var message: String? { fault?.message }

    package static func == (left: End, right: End) -> Bool {
      left.state == right.state && left.at == right.at && left.rest == right.rest
        && left.fault?.code == right.fault?.code && left.message == right.message
        && left.figures?.succeeded == right.figures?.succeeded
        && left.figures?.failed == right.figures?.failed
    }
  }

  /// The others of an audience.
  package struct Rest: Sendable, Equatable {
    /// The push object for them, as JSON; empty once the canary is over, and where it is not read.
    package var body: [UInt8]
    /// Who they are, in the router's encoding; empty once they get the push, and where it is not read.
    package var members: [UInt8]
    /// How many they were at the start.
    package let count: Int

    package init(body: [UInt8], members: [UInt8], count: Int) {
      (self.body, self.members, self.count) = (body, members, count)
    }
  }

  /// The push to the share.
  package let id: MessageID
  package let app: AppID
  package let terms: Canary
  package var rest: Rest
  /// Who sent it.
  package let sender: PushSender
  package let startedAt: Timestamp
  /// The number of the next look at the figures, from 1 on.
  package var look = 1
  /// When that is; nil once it is over.
  package var lookAt: Timestamp?
  package var end: End?

  /// One that starts.
  package init(
    _ id: MessageID, app: AppID, _ terms: Canary, rest: Rest, sender: PushSender, at start: Timestamp
  ) {
    (self.id, self.app, self.terms, self.rest) = (id, app, terms, rest)
    (self.sender, startedAt) = (sender, start)
    lookAt = start.adding(seconds: terms.wait)
  }

  /// How far it has come.
  package var state: State { end?.state ?? .waiting }
}

/// Pushes that go to a share of their audience first.
package struct CanaryRepository<Access>: Repository {
  let database: Database
}

extension CanaryRepository {
  /// What `canary(_:)` reads.
  private static var select: StaticString {
    """
    SELECT msg_id, app_id, rest_count, sender_kind, sender_number, share, wait, max_failures, started_at,
      look, look_at, state, ended_at, rest_msg_id, succeeded, failed, code, message
    """
  }

  /// Canaries whose next look has come, those that wait longest first, at most `limit` of them after a place.
  package func due(
    at now: Timestamp, after place: DuePlace? = nil, limit: Int, in rows: AppRows
  ) throws(StorageError) -> [(id: MessageID, app: AppID, place: DuePlace)] {
    let start = place ?? DuePlace(at: Timestamp(milliseconds: .min), id: 0)
    return try database.statement(
      """
      SELECT msg_id, app_id, look_at FROM canary
      WHERE look_at IS NOT NULL AND look_at <= ? AND (look_at, msg_id) > (?, ?) AND {own canary.app_id}
      ORDER BY look_at, msg_id LIMIT ?
      """, in: rows
    ).all([.time(now), .time(start.at), .integer(start.id), .integer(limit)]) { row in
      let place = DuePlace(at: row.time("look_at"), id: row.integer("msg_id"))
      return (row.message("msg_id"), row.app("app_id"), place)
    }
  }

  /// A canary of an app that waits, with all that is stored of it; nil if there is none of the number.
  package func open(_ id: MessageID, app: AppID) throws(StorageError) -> CanaryRow? {
    let found = try database.first(
      Self.select, ", body, rest FROM canary WHERE msg_id = ? AND app_id = ? AND look_at IS NOT NULL",
      .message(id), .app(app)
    ) { Self.canary($0, body: $0.blob("body"), members: $0.blob("rest")) }
    guard var canary = found else { return nil }
    canary.rest.body = try database.opened(canary.rest.body, of: app, .canary)
    return canary
  }

  /// The canary of a push of an app, without the push object and the others: of the push to the share, or to
  /// the rest.
  package func find(_ id: MessageID, app: AppID) throws(StorageError) -> CanaryRow? {
    if let found = try database.first(
      Self.select, "FROM canary WHERE msg_id = ? AND app_id = ?", .message(id), .app(app),
      map: { Self.canary($0) })
    {
      return found
    }
    return try database.first(
      Self.select, "FROM canary WHERE rest_msg_id = ? AND app_id = ?", .message(id), .app(app),
      map: { Self.canary($0) })
  }

  /// The push to the rest that followed a push to a share; nil if none did.
  package func pushToRest(after id: MessageID, app: AppID) throws(StorageError) -> MessageID? {
    try database.first(
      "SELECT rest_msg_id FROM canary WHERE msg_id = ? AND app_id = ? AND rest_msg_id IS NOT NULL",
      .message(id), .app(app)
    ) { $0.message("rest_msg_id") }
  }

  /// The others of the audience of a push of an app, in the router's encoding; empty once they get the push.
  package func rest(of id: MessageID, app: AppID) throws(StorageError) -> [UInt8] {
    try database.first(
      "SELECT rest FROM canary WHERE msg_id = ? AND app_id = ?", .message(id), .app(app)
    ) { $0.blob("rest") } ?? []
  }

  /// The apps with canaries that stopped in some time without being asked to.
  package func appsInTrouble(
    from start: Timestamp, to end: Timestamp, in rows: AppRows
  ) throws(StorageError) -> Set<AppID> {
    Set(
      try database.statement(
        """
        SELECT DISTINCT app_id FROM canary {sqlite INDEXED BY canary_stopped}
        WHERE state IN (4, 5, 8) AND ended_at >= ? AND ended_at <= ? AND {own canary.app_id}
        """, in: rows
      ).all([.time(start), .time(end)]) { $0.app("app_id") })
  }

  /// The newest canaries of an app that stopped in some time without being asked to, at most `limit`.
  package func troubles(
    of app: AppID, from start: Timestamp, to end: Timestamp, limit: Int
  ) throws(StorageError) -> [CanaryRow] {
    try database.all(
      Self.select,
      """
      FROM canary {sqlite INDEXED BY canary_stopped_of_app}
      WHERE app_id = ? AND state IN (4, 5, 8) AND ended_at >= ? AND ended_at <= ?
      ORDER BY ended_at DESC, msg_id DESC LIMIT ?
      """, .app(app), .time(start), .time(end), .integer(limit)
    ) { Self.canary($0) }
  }

  private static func canary(_ row: Row, body: [UInt8] = [], members: [UInt8] = []) -> CanaryRow {
    let terms = Canary(
      share: row.count("share"), wait: row.integer("wait"), maxFailures: row.count("max_failures"))
    var canary = CanaryRow(
      row.message("msg_id"), app: row.app("app_id"), terms,
      rest: CanaryRow.Rest(body: body, members: members, count: row.count("rest_count")),
      sender: PushSender(row), at: row.time("started_at"))
    (canary.look, canary.lookAt) = (row.count("look"), row.optionalTime("look_at"))
    if let at = row.optionalTime("ended_at"), let state = CanaryRow.State(rawValue: row.integer("state")) {
      var end = CanaryRow.End(state, at: at)
      if let code = row.optionalInteger("code"), let message = row.optionalText("message") {
        end.fault = APIError(code: Int(code), httpStatus: 400, message: message)
      }
      if let succeeded = row.optionalInteger("succeeded"), let failed = row.optionalInteger("failed") {
        end.figures = (Int(succeeded), Int(failed))
      }
      end.rest = row.optionalInteger("rest_msg_id").map { MessageID(UInt64(truncatingIfNeeded: $0)) }
      canary.end = end
    }
    return canary
  }
}

extension CanaryRepository<Writing> {
  /// Adds one that starts.
  package func insert(_ canary: CanaryRow) throws(StorageError) {
    let body = try database.stored(canary.rest.body, of: canary.app, .canary)
    let sender: Int64 = canary.sender.number ?? 0
    try database.run(
      """
      INSERT INTO canary (msg_id, app_id, body, rest, rest_count, sender_kind, sender_number, share, wait,
        max_failures, started_at, look, look_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .message(canary.id), .app(canary.app), .blob(body), .blob(canary.rest.members),
      .integer(canary.rest.count), .integer(canary.sender.kind.rawValue), .integer(sender),
      .integer(canary.terms.share), .integer(canary.terms.wait), .integer(canary.terms.maxFailures),
      .time(canary.startedAt), .integer(canary.look), .optional(canary.lookAt?.milliseconds))
  }

  /// Puts the next look off.
  package func wait(_ id: MessageID, look: Int, at: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE canary SET look = ?, look_at = ? WHERE msg_id = ? AND look_at IS NOT NULL", .integer(look),
      .time(at), .message(id))
  }

  /// Moves the next looks of the canaries up to a push, since the clock was set.
  package func shift(
    by milliseconds: Int64, upTo newest: MessageID, in rows: AppRows
  ) throws(StorageError) {
    try database.run(
      """
      UPDATE canary SET look_at = look_at + ?1
      WHERE look_at IS NOT NULL AND msg_id <= ?2 AND {own canary.app_id}
      """, in: rows, .integer(milliseconds), .message(newest))
  }

  /// Ends the canary of a push of an app; false if it has none that waits. Who does not get the push stays
  /// known.
  @discardableResult
  package func finish(
    _ id: MessageID, app: AppID, _ end: CanaryRow.End
  ) throws(StorageError) -> Bool {
    let rest: Int64? = end.rest.map { Int64(truncatingIfNeeded: $0.rawValue) }
    try database.run(
      """
      UPDATE canary SET state = ?1, ended_at = ?2, rest_msg_id = ?3, succeeded = ?4, failed = ?5,
        code = ?6, message = ?7, look_at = NULL, body = ?8, rest = CASE WHEN ?9 <> 0 THEN rest ELSE ?8 END
      WHERE msg_id = ?10 AND app_id = ?11 AND look_at IS NOT NULL
      """, .integer(end.state.rawValue), .time(end.at), .optional(rest),
      .optional(end.figures?.succeeded), .optional(end.figures?.failed), .optional(end.fault?.code),
      .optional(end.message), .blob([]),
      .integer(end.state.isStop ? 1 : 0), .message(id), .app(app))
    return database.changes > 0
  }

  /// Deletes up to `limit` canaries that were over before a moment; returns how many went.
  package func sweep(before moment: Timestamp, limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM canary WHERE msg_id IN (
        SELECT msg_id FROM canary WHERE ended_at IS NOT NULL AND ended_at < ? AND {own canary.app_id}
        ORDER BY ended_at, msg_id LIMIT ?)
      """, in: rows, .time(moment), .integer(limit))
    return database.changes
  }
}
