import BorealisBase
import Model

/// Callbacks: settings, events, batches and attempts.
package struct CallbackRepository<Access>: Repository {
  let database: Database
}

extension CallbackRepository {
  private static var selectCallbackSetting: StaticString {
    """
    SELECT app_id, url, types, format, secret, old_secret, old_until, changed_at FROM callback_setting
    """
  }

  private static var selectCallbackBatch: StaticString {
    """
    SELECT id, app_id, origin, url, events, created_at, ends_at, state, attempts, next_at, status, error,
      done_at, body FROM callback_batch
    """
  }

  /// What goes wrong with telling an app's server of events whose names begin with something, which happened
  /// after a moment. Looks at no more than the `depth` latest batches of those that wait, and of those that
  /// were given up: a body may have hundreds of kilobytes.
  package func failure(
    app: AppID, naming start: String, since moment: Timestamp, depth: Int
  ) throws(StorageError) -> CallbackFailure {
    // As in bodies: `CallbackEvent.write`.
    let text = Array("\"event_id\":\"\(start)".utf8)
    let waiting = try batch(app, state: 0, text, since: moment, depth)
    if let waiting {
      var error = waiting.error
      if error == nil { error = try failure(of: waiting.origin, of: app) }
      if let error { return .waiting(error: error, since: waiting.createdAt) }
    }
    let lost = try batch(app, state: 2, text, since: moment, depth)
    if let lost { return .givenUp(error: lost.error ?? "", at: lost.doneAt ?? lost.createdAt) }
    guard waiting == nil else { return .none }
    for state in [0, 2] where try isDeep(app, state: state, since: moment, depth) { return .unknown }
    return .none
  }

  /// A batch that contains an event.
  private struct Batch {
    /// Where it goes: '' for the app's own address.
    let origin: String
    /// Why the latest attempt failed; nil if there was none.
    let error: String?
    let createdAt: Timestamp
    let doneAt: Timestamp?
  }

  /// The oldest batch that holds a text.
  private func batch(
    _ app: AppID, state: Int, _ text: [UInt8], since moment: Timestamp, _ depth: Int
  ) throws(StorageError) -> Batch? {
    let statement = try database.statement(
      """
      SELECT error, created_at, done_at, status, attempts, origin,
        CASE WHEN substr(body, 1, 1) = {bytes ff} THEN body ELSE {bytes} END AS sealed
      FROM callback_batch
      WHERE id IN (SELECT id FROM callback_batch {sqlite INDEXED BY callback_batch_list}
          WHERE app_id = ?1 AND state = ?2 ORDER BY id DESC LIMIT ?3)
        AND created_at >= ?4 AND (instr(body, ?5) > 0 OR substr(body, 1, 1) = {bytes ff})
      ORDER BY id
      """)
    var found: Batch?
    let values: [SQLValue] = [.app(app), .integer(state), .integer(depth), .time(moment), .blob(text)]
    try statement.scan(values) { row throws(StorageError) in
      let sealed = row.blob("sealed")
      // Only here can a sealed body be searched.
      if !sealed.isEmpty {
        guard Self.holds(try database.opened(sealed, of: app, .callbackBody), text) else { return true }
      }
      let error =
        row.integer("attempts") == 0 ? nil : row.optionalText("error") ?? "HTTP \(row.integer("status"))"
      found = Batch(
        origin: row.text("origin"), error: error, createdAt: row.time("created_at"),
        doneAt: row.optionalTime("done_at"))
      return false
    }
    return found
  }

  /// Whether bytes hold a text, which is not empty.
  private static func holds(_ bytes: [UInt8], _ text: [UInt8]) -> Bool {
    var rest = bytes[...]
    while let start = rest.firstIndex(of: text[0]), bytes.count - start >= text.count {
      if bytes[start..<start + text.count].elementsEqual(text) { return true }
      rest = bytes[(start + 1)...]
    }
    return false
  }

  /// Why nothing is sent to a URL: while it fails, only the oldest batch is tried, and the others wait behind
  /// it.
  private func failure(of origin: String, of app: AppID) throws(StorageError) -> String? {
    try database.first(
      """
      SELECT error, status FROM (
        SELECT error, status, attempts FROM callback_batch {sqlite INDEXED BY callback_batch_due}
        WHERE state = 0 AND app_id = ?1 AND origin = ?2 ORDER BY next_at DESC LIMIT 200) AS latest
      WHERE attempts > 0 LIMIT 1
      """, .app(app), .text(origin)
    ) { $0.optionalText("error") ?? "HTTP \($0.integer("status"))" }
  }

  /// Whether there are more batches that may contain an event after a time.
  private func isDeep(
    _ app: AppID, state: Int, since moment: Timestamp, _ depth: Int
  ) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT created_at >= ?4 FROM callback_batch {sqlite INDEXED BY callback_batch_list}
      WHERE app_id = ?1 AND state = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3
      """, .app(app), .integer(state), .integer(depth), .time(moment)
    ) { $0.bool() } ?? false
  }

  /// What an app has set up for callbacks, nil for nothing.
  package func setting(app: AppID) throws(StorageError) -> CallbackSettingRow? {
    try database.first(
      Self.selectCallbackSetting, "WHERE app_id = ?", .app(app), map: Self.setting)
  }

  /// What apps have set up for callbacks, by app.
  package func settings(in rows: AppRows) throws(StorageError) -> [CallbackSettingRow] {
    try database.statement(
      Self.selectCallbackSetting, "WHERE {own callback_setting.app_id} ORDER BY app_id", in: rows
    ).all([], Self.setting)
  }

  private static func setting(_ row: Row) -> CallbackSettingRow {
    CallbackSettingRow(
      app: row.app("app_id"), url: row.optionalText("url"),
      types: CallbackTypes(rawValue: row.integer("types", as: UInt8.self)),
      format: CallbackFormat(rawValue: row.integer("format", as: UInt8.self)) ?? .borealis,
      secret: row.blob("secret"), old: row.optionalBlob("old_secret").map { ($0, row.time("old_until")) },
      changedAt: row.time("changed_at"))
  }

  /// What is told of a push of an app, nil for nothing.
  package func push(of id: MessageID, app: AppID) throws(StorageError) -> PushCallbackRow? {
    let found = try database.first(
      "SELECT msg_id, url, types, sendno, params FROM push_callback WHERE msg_id = ?", .message(id)
    ) {
      PushCallbackRow(
        id: $0.message("msg_id"), url: $0.optionalText("url"),
        types: CallbackTypes(rawValue: $0.integer("types", as: UInt8.self) & 127),
        sendno: $0.integer("sendno"), params: $0.blob("params"))
    }
    guard var found else { return nil }
    found.params = try database.opened(found.params, of: app, .callbackParams)
    return found
  }

  /// Whether all who will not get a push were reported after its end.
  package func isRestReported(of id: MessageID) throws(StorageError) -> Bool {
    // The bit is no type of an event.
    try database.first("SELECT types & 128 <> 0 FROM push_callback WHERE msg_id = ?", .message(id)) {
      $0.bool()
    } ?? false
  }

  /// Apps that have ever had a push with callbacks.
  package func apps(in rows: AppRows) throws(StorageError) -> [AppID] {
    try database.all(
      "SELECT app_id FROM callback_app WHERE {own callback_app.app_id}", in: rows
    ) { $0.app() }
  }

  /// What is to be told of many registrations, the oldest in front, after the row of a number; of those who
  /// will not get a push, only if it was over before a moment.
  package func bulks(
    restBefore moment: Timestamp, after id: Int64 = 0, limit: Int, in rows: AppRows
  ) throws(StorageError) -> [CallbackBulkRow] {
    try database.all(
      """
      SELECT id, msg_id, app_id, at, types, channel, targets, next FROM callback_bulk
      WHERE id > ? AND (targets IS NOT NULL OR at < ?) AND {own callback_bulk.app_id}
      ORDER BY id LIMIT ?
      """, in: rows, .integer(id), .time(moment), .integer(limit)
    ) {
      CallbackBulkRow(
        id: $0.integer("id"), push: $0.message("msg_id"), app: $0.app("app_id"), at: $0.time("at"),
        types: CallbackTypes(rawValue: $0.integer("types", as: UInt8.self)),
        channel: $0.isNull("channel") ? nil : ChannelID(rawValue: $0.integer("channel", as: UInt8.self)),
        targets: $0.optionalBlob("targets"),
        next: $0.number("next"))
    }
  }

  /// Apps for which batches wait, by number, after a given one; at most `limit`.
  package func senders(
    after last: AppID, limit: Int, in rows: AppRows
  ) throws(StorageError) -> [CallbackSender] {
    guard rows.isAll else {
      return try database.all(
        WaitingCallbacks.sendersOfSome, in: rows, .app(last), .integer(limit), map: Self.sender)
    }
    var senders: [CallbackSender] = []
    var last = last
    // A step of the index for each, however many batches each has.
    while senders.count < limit,
      let next = try database.first(WaitingCallbacks.nextSender, .app(last), map: Self.sender)
    {
      senders.append(next)
      last = next.app
    }
    return senders
  }

  /// The same of one account.
  package func senders(
    of account: AccountID, after last: AppID, limit: Int, in rows: AppRows
  ) throws(StorageError) -> [CallbackSender] {
    try database.all(
      WaitingCallbacks.sendersOfAccount, in: rows, .account(account), .app(last), .integer(limit),
      map: Self.sender)
  }

  private static func sender(_ row: Row) -> CallbackSender {
    CallbackSender(app: row.app("app_id"), account: row.optionalAccount("account_id"))
  }

  /// Origins of an app for which batches wait, in order, after a given one; at most `limit`.
  package func origins(
    app: AppID, after last: String?, limit: Int
  ) throws(StorageError) -> [String] {
    var origins: [String] = []
    var last = last
    while origins.count < limit {
      let sql = last == nil ? WaitingCallbacks.firstOrigin : WaitingCallbacks.nextOrigin
      let next = try database.first(sql, .app(app), .text(last ?? "")) { $0.text("origin") }
      guard let next else { break }
      origins.append(next)
      last = next
    }
    return origins
  }

  /// Batches of a destination that are to be sent now, those that have waited longest in front, with their
  /// bodies.
  package func due(
    _ destination: CallbackDestination, at now: Timestamp, limit: Int
  ) throws(StorageError) -> [CallbackBatchRow] {
    let found = try database.all(
      Self.selectCallbackBatch,
      "WHERE state = 0 AND app_id = ? AND origin = ? AND next_at <= ? ORDER BY next_at LIMIT ?",
      .app(destination.app), .text(destination.origin), .time(now), .integer(limit), map: Self.batch)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// Batches of an app below an ID, the newest in front, without their bodies.
  package func batches(
    app: AppID, state: CallbackState, before id: Int64, limit: Int
  ) throws(StorageError) -> [CallbackBatchRow] {
    try database.all(
      """
      SELECT id, app_id, origin, url, events, created_at, ends_at, state, attempts, next_at, status, error, done_at, {bytes} AS body
      FROM callback_batch WHERE app_id = ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ?
      """, .app(app), .integer(state.rawValue), .integer(id), .integer(limit), map: Self.batch)
  }

  /// A batch of an app with its body, nil if the app has none of that number.
  package func batch(app: AppID, id: Int64) throws(StorageError) -> CallbackBatchRow? {
    let found = try database.first(
      Self.selectCallbackBatch, "WHERE app_id = ? AND id = ?", .app(app), .integer(id), map: Self.batch)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// What came of sending a batch, the first attempt in front.
  package func attempts(of id: Int64) throws(StorageError) -> [CallbackAttemptRow] {
    try database.all(
      "SELECT at, milliseconds, status, error FROM callback_attempt WHERE batch_id = ? ORDER BY number",
      .integer(id)
    ) {
      CallbackAttemptRow(
        at: $0.time("at"), milliseconds: $0.integer("milliseconds"), status: $0.count("status"),
        error: $0.optionalText("error"))
    }
  }

  /// When the oldest of an app's batches that wait was made; nil if none waits.
  package func oldestWaiting(of app: AppID) throws(StorageError) -> Timestamp? {
    try database.first(
      "SELECT created_at FROM callback_batch WHERE app_id = ? AND state = 0 ORDER BY id LIMIT 1", .app(app)
    ) { $0.time() }
  }

  /// How many batches wait, counted up to `limit`.
  package func waiting(limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM (
        SELECT 1 FROM callback_batch {sqlite INDEXED BY callback_batch_due}
        WHERE state = 0 AND {own callback_batch.app_id} LIMIT ?) AS waiting
      """, in: rows, .integer(limit)
    ) { $0.count() } ?? 0
  }

  private func opened(_ row: CallbackBatchRow) throws(StorageError) -> CallbackBatchRow {
    var row = row
    row.body = try database.opened(row.body, of: row.app, .callbackBody)
    return row
  }

  private static func batch(_ row: Row) -> CallbackBatchRow {
    CallbackBatchRow(
      id: row.integer("id"), app: row.app("app_id"), origin: row.text("origin"), url: row.optionalText("url"),
      events: row.count("events"), createdAt: row.time("created_at"), endsAt: row.time("ends_at"),
      state: CallbackState(rawValue: row.integer("state", as: UInt8.self)) ?? .failed,
      attempts: row.count("attempts"), nextAt: row.time("next_at"), status: row.count("status"),
      error: row.optionalText("error"), doneAt: row.optionalTime("done_at"),
      body: row.blob("body"))
  }
}

/// What finds the next app, and the next origin of an app, for which batches wait.
private enum WaitingCallbacks {
  static let nextSender: StaticString = """
    SELECT app_id, (SELECT account_id FROM app WHERE app.id = callback_batch.app_id) AS account_id
    FROM callback_batch {sqlite INDEXED BY callback_batch_due}
    WHERE state = 0 AND app_id > ?1 ORDER BY app_id, origin LIMIT 1
    """

  /// The same of some apps, one app after the other. In PostgreSQL only.
  static let sendersOfSome: StaticString = """
    SELECT batch.app_id, app.account_id FROM app JOIN LATERAL (
      SELECT app_id FROM callback_batch WHERE state = 0 AND app_id = app.id ORDER BY app_id, origin LIMIT 1
    ) AS batch ON batch.app_id = app.id
    WHERE app.id > ?1 AND {own app.id} ORDER BY app.id LIMIT ?2
    """

  static let sendersOfAccount: StaticString = """
    SELECT app.id AS app_id, app.account_id FROM app {sqlite INDEXED BY app_account}
    WHERE app.account_id = ?1 AND app.id > ?2 AND {own app.id}
      AND EXISTS (SELECT 1 FROM callback_batch WHERE state = 0 AND app_id = app.id)
    ORDER BY app.id LIMIT ?3
    """

  /// '' is an origin, too.
  static let firstOrigin: StaticString = """
    SELECT origin FROM callback_batch {sqlite INDEXED BY callback_batch_due}
    WHERE state = 0 AND app_id = ?1 AND origin >= ?2 ORDER BY app_id, origin LIMIT 1
    """

  static let nextOrigin: StaticString = """
    SELECT origin FROM callback_batch {sqlite INDEXED BY callback_batch_due}
    WHERE state = 0 AND app_id = ?1 AND origin > ?2 ORDER BY app_id, origin LIMIT 1
    """
}
