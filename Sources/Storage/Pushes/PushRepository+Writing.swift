import BorealisBase
import Model

extension PushRepository<Writing> {
  /// Records who made a push, unless it was the app's server.
  private func insertSender(of id: MessageID, app: AppID, _ source: PushSource) throws(StorageError) {
    guard let number = source.sender.number else { return }
    try database.runLater(
      "INSERT INTO push_sender (msg_id, app_id, kind, number, forecast) VALUES (?, ?, ?, ?, ?)", .message(id),
      .app(app), .integer(source.sender.kind.rawValue), .integer(number), .optional(source.forecast))
  }

  /// Deletes pushes with all that is known of them.
  package func delete(_ ids: [MessageID]) throws(StorageError) {
    for id in ids {
      for statement in PushDeletions.all { try database.run(statement, .message(id)) }
    }
  }

  /// Adds a push with where it comes from. The job fails if the ID is taken.
  package func insert(_ push: PushRow, from source: PushSource = PushSource()) throws(StorageError) {
    let content = try database.stored(push.content, of: push.app, .pushContent)
    let languages = try database.stored(ifAny: push.languages, of: push.app, .pushLanguages)
    let object = try database.stored(ifAny: source.object, of: push.app, .pushObject)
    try database.runLater(
      """
      INSERT INTO push (msg_id, app_id, created_at, expires_at, sendno, platforms, target, targets,
        own_targets, ios_targets, unreached, left_out, capped, quiet, online_only, target_count, strategy,
        overrides, content, languages, traits, object)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .message(push.id), .app(push.app), .time(push.createdAt), .time(push.expiresAt),
      .integer(push.sendno), .integer(push.platforms.rawValue), .optional(push.target?.rawValue),
      .optional(push.targets), .optional(push.ownTargets), .optional(push.iosTargets),
      .optional(push.unreached), .optional(push.leftOut), .optional(push.capped), .optional(push.quiet),
      .integer(push.isOnlineOnly ? 1 : 0), .integer(push.targetCount), .integer(push.strategy),
      .optional(push.overrides?.rawValue), .blob(content), .optional(languages),
      .integer(source.traits.rawValue), .optional(object))
    for row in push.legs { try transaction.channelQueue.setTargets(of: push.id, row) }
    try insertSender(of: push.id, app: push.app, source)
  }

  /// Records that a push was replaced by a later one.
  package func markReplaced(_ id: MessageID, by newer: MessageID) throws(StorageError) {
    try database.run("UPDATE push SET replaced_by = ? WHERE msg_id = ?", .message(newer), .message(id))
  }

  /// Binds a request name to a push, or to what else the request made. `.constraint` if the app used it
  /// before.
  package func insertCID(
    app: AppID, cid: String, id: MessageID, sendno: Int64, at now: Timestamp, digest: [UInt8]? = nil
  ) throws(StorageError) {
    try database.run(
      "INSERT INTO cid (app_id, cid, msg_id, sendno, created_at, digest) VALUES (?, ?, ?, ?, ?, ?)",
      .app(app), .text(cid), .message(id), .integer(sendno), .time(now), .optional(digest))
  }

  /// A step through the pushes below an ID: of the next `limit` after another ID it deletes those of which
  /// nothing is pending, and what is left there of pushes that are gone. However many are pending, it looks
  /// at no more. Returns how many pushes went, and after which the next step goes on; nil at the end.
  package func sweep(
    after first: MessageID, below end: MessageID, limit: Int, in rows: AppRows
  ) throws(StorageError) -> (deleted: Int, next: MessageID?) {
    guard first < end else { return (0, nil) }
    let next = try database.first(
      "SELECT msg_id FROM push WHERE msg_id > ?1 AND msg_id < ?2 ORDER BY msg_id LIMIT 1 OFFSET ?3",
      .message(first), .message(end), .integer(max(limit, 1) - 1)
    ) { $0.message() }
    let range: [SQLValue] = [.message(first), .message(next ?? MessageID(end.rawValue - 1))]
    // Beside other homes, what belongs to a push goes with it, since it does not say whose it is. What no
    // push is left of is the installation's.
    for table in rows.isAll ? [PushDeletions.pushes] : PushDeletions.swept {
      try database.statement(table, PushDeletions.ended, in: rows).run(range)
    }
    let deleted = database.changes
    for statement in PushDeletions.remains {
      try database.statement(statement, PushDeletions.gone, in: rows).run(range + [.integer(limit)])
    }
    return (deleted, next)
  }

  /// Deletes up to `limit` `cid`s stored before a time, out of the oldest; returns how many went.
  package func sweepCIDs(before time: Timestamp, limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM cid WHERE id IN (
        SELECT id FROM (SELECT id, app_id, created_at FROM cid ORDER BY id LIMIT ?2) AS oldest
        WHERE created_at < ?1 AND {own oldest.app_id} LIMIT ?3)
      """, in: rows, .time(time), .integer(rows.depth(for: limit)), .integer(limit))
    return database.changes
  }
}

/// What deletes a push and all that is known of it.
enum PushDeletions {
  /// One for each table whose rows belong to a push.
  static let all: [StaticString] = [
    "DELETE FROM push WHERE msg_id = ?", "DELETE FROM pending WHERE msg_id = ?",
    "DELETE FROM delivered WHERE msg_id = ?", "DELETE FROM outcome WHERE msg_id = ?",
    "DELETE FROM schedule_run WHERE msg_id = ?", "DELETE FROM channel_targets WHERE msg_id = ?",
    "DELETE FROM dropped WHERE msg_id = ?", "DELETE FROM receipt WHERE msg_id = ?",
    "DELETE FROM push_callback WHERE msg_id = ?", "DELETE FROM steady_push WHERE msg_id = ?",
    "DELETE FROM push_sender WHERE msg_id = ?", "DELETE FROM channel_taken WHERE msg_id = ?",
    "DELETE FROM fallback WHERE msg_id = ?", "DELETE FROM held_push WHERE msg_id = ?",
  ]

  static let pushes: StaticString = "DELETE FROM push WHERE msg_id IN"

  /// The tables that are swept with `push`, which is the last, each to be followed by `ended`.
  static let swept: [StaticString] = [
    "DELETE FROM outcome WHERE msg_id IN", "DELETE FROM delivered WHERE msg_id IN",
    "DELETE FROM dropped WHERE msg_id IN", "DELETE FROM receipt WHERE msg_id IN",
    "DELETE FROM channel_targets WHERE msg_id IN", "DELETE FROM channel_taken WHERE msg_id IN",
    "DELETE FROM push_callback WHERE msg_id IN", "DELETE FROM push_sender WHERE msg_id IN",
    "DELETE FROM fallback WHERE msg_id IN", "DELETE FROM held_push WHERE msg_id IN", pushes,
  ]

  /// The pushes in a range of IDs of which nothing is pending: the same ones as long as they are there,
  /// whatever else of theirs is gone.
  static let ended: StaticString = """
    (SELECT msg_id FROM push
      WHERE msg_id > ?1 AND msg_id <= ?2
        AND NOT EXISTS (SELECT 1 FROM pending WHERE pending.msg_id = push.msg_id)
        AND NOT EXISTS (
          SELECT 1 FROM channel_targets JOIN channel_pending USING (channel, msg_id)
          WHERE channel_targets.msg_id = push.msg_id AND channel_pending.app_id = push.app_id)
        AND {own push.app_id})
    """

  /// What deletes what is left of up to so many pushes each in a range of IDs that are gone, each to be
  /// followed by `gone`.
  static let remains: [StaticString] = [
    "DELETE FROM outcome WHERE msg_id IN (SELECT msg_id FROM outcome AS rest",
    "DELETE FROM channel_targets WHERE msg_id IN (SELECT DISTINCT msg_id FROM channel_targets AS rest",
    "DELETE FROM channel_taken WHERE msg_id IN (SELECT DISTINCT msg_id FROM channel_taken AS rest",
    "DELETE FROM dropped WHERE msg_id IN (SELECT DISTINCT msg_id FROM dropped AS rest",
    "DELETE FROM receipt WHERE msg_id IN (SELECT DISTINCT msg_id FROM receipt AS rest",
    "DELETE FROM delivered WHERE msg_id IN (SELECT msg_id FROM delivered AS rest",
    "DELETE FROM fallback WHERE msg_id IN (SELECT DISTINCT msg_id FROM fallback AS rest",
    "DELETE FROM held_push WHERE msg_id IN (SELECT DISTINCT msg_id FROM held_push AS rest",
    "DELETE FROM push_sender WHERE msg_id IN (SELECT msg_id FROM push_sender AS rest",
    "DELETE FROM push_callback WHERE msg_id IN (SELECT msg_id FROM push_callback AS rest",
  ]

  static let gone: StaticString = """
    WHERE msg_id > ?1 AND msg_id <= ?2
      AND NOT EXISTS (SELECT 1 FROM push WHERE push.msg_id = rest.msg_id) AND {own 0} LIMIT ?3)
    """
}
