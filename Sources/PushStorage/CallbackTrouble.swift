import PushBase

/// What goes wrong with telling an app's server of something.
public enum CallbackTrouble: Sendable, Equatable {
  /// Nothing.
  case none
  /// It waits, after an attempt that failed; since when it waits.
  case waiting(error: String, since: Timestamp)
  /// It was given up; when.
  case givenUp(error: String, at: Timestamp)
  /// More goes wrong than was looked at.
  case unknown
}

extension ReadTransaction {
  /// What goes wrong with telling an app's server of events whose names begin with something, which happened after a
  /// moment. Looks at no more than the `depth` latest batches of those that wait, and of those that were given up: a body
  /// may have hundreds of kilobytes.
  public func callbackTrouble(
    app: AppID, naming start: String, since moment: Timestamp, depth: Int = 200
  ) throws(StorageError) -> CallbackTrouble {
    // As it stands in bodies: `CallbackEvent.write`.
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

  /// A batch that tells of something.
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
    try database.first(
      """
      SELECT error, created_at, done_at, status, attempts, origin FROM callback_batch
      WHERE id IN (SELECT id FROM callback_batch INDEXED BY callback_batch_list
          WHERE app_id = ?1 AND state = ?2 ORDER BY id DESC LIMIT ?3)
        AND created_at >= ?4 AND instr(body, ?5) > 0
      ORDER BY id LIMIT 1
      """, .app(app), .integer(state), .integer(depth), .time(moment), .blob(text)
    ) { row in
      let error = row.integer(4) == 0 ? nil : row.optionalText(0) ?? "HTTP \(row.integer(3))"
      return Batch(origin: row.text(5), error: error, createdAt: row.time(1), doneAt: row.moment(2))
    }
  }

  /// Why nothing goes to an address: while it fails only the oldest batch is tried, and the others wait behind it.
  private func failure(of origin: String, of app: AppID) throws(StorageError) -> String? {
    try database.first(
      """
      SELECT error, status FROM (
        SELECT error, status, attempts FROM callback_batch INDEXED BY callback_batch_due
        WHERE state = 0 AND app_id = ?1 AND origin = ?2 ORDER BY next_at DESC LIMIT 200)
      WHERE attempts > 0 LIMIT 1
      """, .app(app), .text(origin)
    ) { $0.optionalText(0) ?? "HTTP \($0.integer(1))" }
  }

  /// Whether there are more batches that may tell of something after a moment.
  private func isDeep(
    _ app: AppID, state: Int, since moment: Timestamp, _ depth: Int
  ) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT created_at >= ?4 FROM callback_batch INDEXED BY callback_batch_list
      WHERE app_id = ?1 AND state = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3
      """, .app(app), .integer(state), .integer(depth), .time(moment)
    ) { $0.integer(0) != 0 } ?? false
  }
}
