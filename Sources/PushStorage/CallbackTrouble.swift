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
    let waiting = try trouble(app, state: 0, text, since: moment, depth)
    if let waiting { return .waiting(error: waiting.error, since: waiting.createdAt) }
    let lost = try trouble(app, state: 2, text, since: moment, depth)
    if let lost { return .givenUp(error: lost.error, at: lost.doneAt ?? lost.createdAt) }
    for state in [0, 2] where try isDeep(app, state: state, since: moment, depth) { return .unknown }
    return .none
  }

  /// The oldest batch that holds a text and was tried in vain.
  private func trouble(
    _ app: AppID, state: Int, _ text: [UInt8], since moment: Timestamp, _ depth: Int
  ) throws(StorageError) -> (error: String, createdAt: Timestamp, doneAt: Timestamp?)? {
    try database.first(
      """
      SELECT error, created_at, done_at, status FROM callback_batch
      WHERE id IN (SELECT id FROM callback_batch INDEXED BY callback_batch_list
          WHERE app_id = ?1 AND state = ?2 ORDER BY id DESC LIMIT ?3)
        AND attempts > 0 AND created_at >= ?4 AND instr(body, ?5) > 0
      ORDER BY id LIMIT 1
      """, .app(app), .integer(state), .integer(depth), .time(moment), .blob(text)
    ) { ($0.optionalText(0) ?? "HTTP \($0.integer(3))", $0.time(1), $0.moment(2)) }
  }

  /// Whether there are more batches that may tell of something after a moment.
  private func isDeep(
    _ app: AppID, state: Int, since moment: Timestamp, _ depth: Int
  ) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT created_at >= ?4 AND attempts > 0 FROM callback_batch INDEXED BY callback_batch_list
      WHERE app_id = ?1 AND state = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3
      """, .app(app), .integer(state), .integer(depth), .time(moment)
    ) { $0.integer(0) != 0 } ?? false
  }
}
