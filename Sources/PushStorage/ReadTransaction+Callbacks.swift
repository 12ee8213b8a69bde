import PushBase
import PushDomain

extension ReadTransaction {
  /// What an app has set up for callbacks, nil for nothing.
  public func callbackSetting(app: AppID) throws(StorageError) -> CallbackSettingRow? {
    try database.first(
      """
      SELECT app_id, url, types, secret, old_secret, old_until, changed_at FROM callback_setting WHERE app_id = ?
      """, .app(app), map: Self.setting)
  }

  /// What all apps have set up for callbacks, by app.
  public func callbackSettings() throws(StorageError) -> [CallbackSettingRow] {
    try database.all(
      """
      SELECT app_id, url, types, secret, old_secret, old_until, changed_at FROM callback_setting ORDER BY app_id
      """, map: Self.setting)
  }

  /// How many things are stored that only the secret key opens.
  public func sealedCount() throws(StorageError) -> Int {
    try database.first(
      """
      SELECT (SELECT count(*) FROM callback_setting) + (SELECT count(*) FROM apns_credential)
        + (SELECT count(*) FROM person WHERE totp IS NOT NULL)
      """
    ) { Int($0.integer(0)) } ?? 0
  }

  private static func setting(_ row: Statement) -> CallbackSettingRow {
    CallbackSettingRow(
      app: row.app(0), url: row.optionalText(1),
      types: CallbackTypes(rawValue: row.integer(2, as: UInt8.self)),
      secret: row.blob(3), old: row.optionalBlob(4).map { ($0, row.time(5)) }, changedAt: row.time(6))
  }

  /// What is told of a push, nil for nothing.
  public func pushCallback(of id: MessageID) throws(StorageError) -> PushCallbackRow? {
    try database.first(
      "SELECT msg_id, url, types, sendno, params FROM push_callback WHERE msg_id = ?", .message(id)
    ) {
      PushCallbackRow(
        id: $0.message(0), url: $0.optionalText(1),
        types: CallbackTypes(rawValue: $0.integer(2, as: UInt8.self)),
        sendno: $0.integer(3, as: Int32.self), params: $0.blob(4))
    }
  }

  /// Apps that have ever had a push of which something is told.
  public func tellingApps() throws(StorageError) -> [AppID] {
    try database.all("SELECT app_id FROM callback_app") { $0.app(0) }
  }

  /// Whether a push waits for nobody any more, whatever the channel.
  public func isOver(_ id: MessageID, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT NOT EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1)
        AND NOT EXISTS (SELECT 1 FROM apns_pending WHERE app_id = ?2 AND msg_id = ?1)
      """, .message(id), .app(app)
    ) { $0.integer(0) != 0 } ?? false
  }

  /// Whether a push is to one registration only.
  public func isToOne(_ id: MessageID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT target IS NOT NULL AND target_count = 1 FROM push WHERE msg_id = ?", .message(id)
    ) { $0.integer(0) != 0 } ?? false
  }

  /// What is to be told of many registrations, the oldest in front; of those who will not get a push, only if it was over
  /// before a moment.
  public func callbackBulks(restBefore moment: Timestamp, limit: Int) throws(StorageError)
    -> [CallbackBulkRow]
  {
    try database.all(
      """
      SELECT id, msg_id, app_id, at, types, channel, targets, next FROM callback_bulk
      WHERE targets IS NOT NULL OR at < ? ORDER BY id LIMIT ?
      """, .time(moment), .integer(limit)
    ) {
      CallbackBulkRow(
        id: $0.integer(0), push: $0.message(1), app: $0.app(2), at: $0.time(3),
        types: CallbackTypes(rawValue: $0.integer(4, as: UInt8.self)),
        channel: Channel(rawValue: $0.integer(5, as: UInt8.self)), targets: $0.optionalBlob(6),
        next: $0.number(7))
    }
  }

  /// Destinations for which batches wait, in order, after a given one; at most `limit`.
  public func callbackLanes(
    after last: CallbackLane?, limit: Int
  ) throws(StorageError) -> [CallbackLane] {
    var lanes: [CallbackLane] = []
    var last = last ?? CallbackLane(app: AppID(0), origin: "")
    // A step of the index for each, however many batches each has.
    while lanes.count < limit {
      let next = try database.first(
        """
        SELECT app_id, origin FROM callback_batch WHERE state = 0 AND (app_id, origin) > (?, ?)
        ORDER BY app_id, origin LIMIT 1
        """, .app(last.app), .text(last.origin)
      ) { CallbackLane(app: $0.app(0), origin: $0.text(1)) }
      guard let next else { break }
      lanes.append(next)
      last = next
    }
    return lanes
  }

  /// Batches of a destination that are to be sent now, those that have waited longest in front, with their bodies.
  public func dueCallbacks(
    _ lane: CallbackLane, at now: Timestamp, limit: Int
  ) throws(StorageError) -> [CallbackBatchRow] {
    try database.all(
      """
      SELECT id, app_id, origin, url, events, created_at, ends_at, state, attempts, next_at, status, error, done_at, body
      FROM callback_batch WHERE state = 0 AND app_id = ? AND origin = ? AND next_at <= ? ORDER BY next_at LIMIT ?
      """, .app(lane.app), .text(lane.origin), .time(now), .integer(limit), map: Self.batch)
  }

  /// Batches of an app below an ID, the newest in front, without their bodies.
  public func callbackBatches(
    app: AppID, state: CallbackState, before id: Int64, limit: Int
  ) throws(StorageError) -> [CallbackBatchRow] {
    try database.all(
      """
      SELECT id, app_id, origin, url, events, created_at, ends_at, state, attempts, next_at, status, error, done_at, x''
      FROM callback_batch WHERE app_id = ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ?
      """, .app(app), .integer(state.rawValue), .integer(id), .integer(limit), map: Self.batch)
  }

  /// A batch of an app with its body, nil if the app has none of that number.
  public func callbackBatch(app: AppID, id: Int64) throws(StorageError) -> CallbackBatchRow? {
    try database.first(
      """
      SELECT id, app_id, origin, url, events, created_at, ends_at, state, attempts, next_at, status, error, done_at, body
      FROM callback_batch WHERE app_id = ? AND id = ?
      """, .app(app), .integer(id), map: Self.batch)
  }

  /// What came of sending a batch, the first attempt in front.
  public func callbackAttempts(of id: Int64) throws(StorageError) -> [CallbackAttemptRow] {
    try database.all(
      "SELECT at, milliseconds, status, error FROM callback_attempt WHERE batch_id = ? ORDER BY number",
      .integer(id)
    ) {
      CallbackAttemptRow(
        at: $0.time(0), milliseconds: $0.integer(1), status: Int($0.integer(2)), error: $0.optionalText(3))
    }
  }

  /// How many batches wait, counted up to `limit`.
  public func waitingCallbacks(limit: Int) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM (
        SELECT 1 FROM callback_batch INDEXED BY callback_batch_due WHERE state = 0 LIMIT ?)
      """, .integer(limit)
    ) { Int($0.integer(0)) } ?? 0
  }

  private static func batch(_ row: Statement) -> CallbackBatchRow {
    CallbackBatchRow(
      id: row.integer(0), app: row.app(1), origin: row.text(2), url: row.optionalText(3),
      events: Int(row.integer(4)), createdAt: row.time(5), endsAt: row.time(6),
      state: CallbackState(rawValue: row.integer(7, as: UInt8.self)) ?? .failed,
      attempts: Int(row.integer(8)), nextAt: row.time(9), status: Int(row.integer(10)),
      error: row.optionalText(11), doneAt: row.optionalInteger(12).map { Timestamp(milliseconds: $0) },
      body: row.blob(13))
  }
}
