import BorealisBase
import Model

extension CallbackRepository<Writing> {
  /// Stores an app's callback settings, replacing earlier ones. `.constraint` for an unknown app.
  package func set(_ row: CallbackSettingRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO callback_setting (app_id, url, types, format, secret, old_secret, old_until, changed_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (app_id) DO UPDATE SET url = excluded.url, types = excluded.types, format = excluded.format,
        secret = excluded.secret, old_secret = excluded.old_secret, old_until = excluded.old_until,
        changed_at = excluded.changed_at
      """, .app(row.app), .optional(row.url), .integer(row.types.rawValue), .integer(row.format.rawValue),
      .blob(row.secret),
      .optional(row.old?.secret), .optional(row.old?.until.milliseconds), .time(row.changedAt))
  }

  /// Deletes an app's callback settings; false if it has none.
  package func remove(app: AppID) throws(StorageError) -> Bool {
    try database.run("DELETE FROM callback_setting WHERE app_id = ?", .app(app))
    return database.changes > 0
  }

  /// Records the callback settings of a push of an app. `.constraint` if the push has a row.
  package func insertPush(_ row: PushCallbackRow, app: AppID) throws(StorageError) {
    let params = try database.stored(row.params, of: app, .callbackParams)
    try database.run(
      "INSERT INTO callback_app (app_id) VALUES (?) ON CONFLICT (app_id) DO NOTHING", .app(app))
    try database.run(
      "INSERT INTO push_callback (msg_id, url, types, sendno, params) VALUES (?, ?, ?, ?, ?)",
      .message(row.id),
      .optional(row.url), .integer(row.types.rawValue), .integer(row.sendno), .blob(params))
  }

  /// Records that something is to be told of many registrations. Does nothing if it is of those who will not
  /// get a push, and that is noted already.
  package func insertBulk(_ row: CallbackBulkRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO callback_bulk (msg_id, app_id, at, types, channel, targets) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (msg_id) WHERE targets IS NULL DO NOTHING
      """, .message(row.push), .app(row.app), .time(row.at), .integer(row.types.rawValue),
      .optional(row.channel?.rawValue), .optional(row.targets))
  }

  /// Records up to where many registrations were reported; nil for all. False if another step did it before.
  package func advanceBulk(
    _ row: CallbackBulkRow, to next: RegistrationNumber?
  ) throws(StorageError) -> Bool {
    if let next {
      try database.run(
        "UPDATE callback_bulk SET next = ? WHERE id = ? AND next = ?", .number(next), .integer(row.id),
        .number(row.next))
    } else {
      try database.run(
        "DELETE FROM callback_bulk WHERE id = ? AND next = ?", .integer(row.id), .number(row.next))
    }
    return database.changes > 0
  }

  /// Records that all who will not get a push that has ended were reported: it may be noted once more that it
  /// has.
  package func markRestReported(of id: MessageID) throws(StorageError) {
    try database.run("UPDATE push_callback SET types = types | 128 WHERE msg_id = ?", .message(id))
  }

  /// Stores a batch of events for an address, nil for the app's own, to be sent at once and tried until
  /// `end`.
  package func insertBatch(
    app: AppID, to address: CallbackAddress?, events: Int, body: [UInt8], at now: Timestamp,
    until end: Timestamp
  ) throws(StorageError) {
    let body = try database.stored(body, of: app, .callbackBody)
    try database.run(
      """
      INSERT INTO callback_batch (app_id, origin, url, events, created_at, ends_at, next_at, body)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5, ?7)
      """, .app(app), .text(address?.origin ?? ""), .optional(address?.text), .integer(events), .time(now),
      .time(end), .blob(body))
  }

  /// Notes what came of sending a batch: it is taken, or sent again at `next`, or given up.
  package func noteAttempt(
    batch id: Int64, _ attempt: CallbackAttemptRow, next: Timestamp?
  ) throws(StorageError) {
    let state: CallbackState = attempt.error == nil ? .done : next == nil ? .failed : .pending
    let doneAt = state == .pending ? nil : attempt.at.milliseconds
    let number = try database.first(
      """
      UPDATE callback_batch SET state = ?1, attempts = attempts + 1, next_at = coalesce(?2, next_at), status = ?3,
        error = ?4, done_at = ?5 WHERE id = ?6 RETURNING attempts
      """, .integer(state.rawValue), .optional(next?.milliseconds), .integer(attempt.status),
      .optional(attempt.error), .optional(doneAt), .integer(id)
    ) { $0.integer() }
    guard let number else { return }
    try database.run(
      "INSERT INTO callback_attempt (batch_id, number, at, milliseconds, status, error) VALUES (?, ?, ?, ?, ?, ?)",
      .integer(id), .integer(number), .time(attempt.at), .integer(attempt.milliseconds),
      .integer(attempt.status),
      .optional(attempt.error))
  }

  /// Has a batch of an app sent at once and tried until `end`, whether it was taken, given up, or waits. It
  /// is not tried for longer than `seconds` after it was made; false if that is over, or if the app has none
  /// of that number.
  package func resend(
    app: AppID, id: Int64, at now: Timestamp, until end: Timestamp, keptFor seconds: Int64
  ) throws(StorageError) -> Bool {
    let kept: Int64 = seconds &* 1000
    let oldest = now.adding(seconds: -seconds)
    let shortened = end.adding(seconds: -seconds)
    try database.run(
      """
      UPDATE callback_batch SET state = 0, next_at = ?1, done_at = NULL,
        ends_at = CASE WHEN created_at < ?3 THEN created_at + ?4 ELSE ?2 END
      WHERE app_id = ?5 AND id = ?6 AND created_at > ?7
      """, .time(now), .time(end), .time(shortened), .integer(kept), .app(app), .integer(id),
      .time(oldest))
    return database.changes > 0
  }

  /// Deletes up to `limit` batches made before a time that are accepted or given up, of the apps after one.
  /// Returns the app after which the next step continues, nil if there are no more.
  package func sweep(
    before moment: Timestamp, after last: AppID = .installation, limit: Int, in rows: AppRows
  ) throws(StorageError) -> AppID? {
    // The oldest of each app, by the index: neither what waits nor what is too young is looked at, however
    // much of it there is.
    let apps = try database.all(
      """
      SELECT app.id,
        (SELECT created_at FROM callback_batch {sqlite INDEXED BY callback_batch_list}
          WHERE app_id = app.id AND state = 1 ORDER BY app_id, state, id LIMIT 1) AS done,
        (SELECT created_at FROM callback_batch {sqlite INDEXED BY callback_batch_list}
          WHERE app_id = app.id AND state = 2 ORDER BY app_id, state, id LIMIT 1) AS failed
      FROM app WHERE app.id > ?1 AND {own app.id} ORDER BY app.id LIMIT ?2
      """, in: rows, .app(last), .integer(Self.appsPerSweep)
    ) { (app: $0.app("id"), oldest: [$0.optionalTime("done"), $0.optionalTime("failed")]) }
    var left = limit
    for (app, oldest) in apps {
      for (state, oldest) in zip([CallbackState.done, .failed], oldest) {
        guard let oldest, oldest < moment else { continue }
        left -= try sweep(app, state, before: moment, limit: left)
        // There may be more of the same app.
        if left <= 0 { return AppID(app.rawValue &- 1) }
      }
    }
    return apps.count < Self.appsPerSweep ? nil : apps.last?.app
  }

  private static var appsPerSweep: Int { 256 }

  private func sweep(
    _ app: AppID, _ state: CallbackState, before moment: Timestamp, limit: Int
  ) throws(StorageError) -> Int {
    let ids = try database.all(
      """
      SELECT id FROM (SELECT id, created_at FROM callback_batch {sqlite INDEXED BY callback_batch_list}
        WHERE app_id = ?1 AND state = ?2 ORDER BY app_id, state, id LIMIT ?3) AS oldest
      WHERE created_at < ?4
      """, .app(app), .integer(state.rawValue), .integer(limit), .time(moment)
    ) { $0.integer() }
    for id in ids {
      try database.run("DELETE FROM callback_attempt WHERE batch_id = ?", .integer(id))
      try database.run("DELETE FROM callback_batch WHERE id = ?", .integer(id))
    }
    return ids.count
  }
}
