import PushBase

extension WriteTransaction {
  /// Which of a user's acts a device reports.
  public enum Receipt: UInt8, Sendable {
    /// The notification was shown.
    case shown = 1
    /// The user tapped it.
    case tapped = 2
  }

  /// Adds a push with where it comes from. `.constraint` if the ID is taken.
  public func insertPush(_ push: PushRow, from source: PushSource = PushSource()) throws(StorageError) {
    try database.run(
      """
      INSERT INTO push (msg_id, app_id, created_at, expires_at, sendno, platforms, target, targets,
        own_targets, apns_targets, call_targets, ios_targets, unreached, online_only, target_count, strategy,
        overrides, content, traits, object)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .message(push.id), .app(push.app), .time(push.createdAt), .time(push.expiresAt),
      .integer(push.sendno), .integer(push.platforms.rawValue), .optional(push.target?.rawValue),
      .optional(push.targets), .optional(push.ownTargets), .optional(push.apnsTargets),
      .optional(push.callTargets), .optional(push.iosTargets), .optional(push.unreached),
      .integer(push.isOnlineOnly ? 1 : 0), .integer(push.targetCount), .integer(push.strategy),
      .optional(push.overrides?.rawValue), .blob(push.content), .integer(source.traits.rawValue),
      .optional(source.object))
    try insertSender(of: push.id, app: push.app, source.sender)
  }

  /// Notes that something of a push is undelivered; `target` is nil for a group. `.constraint` if it is noted already.
  public func insertPending(id: MessageID, app: AppID, target: RegistrationNumber?, expiresAt: Timestamp)
    throws(StorageError)
  {
    try database.run(
      "INSERT INTO pending (msg_id, app_id, target, expires_at) VALUES (?, ?, ?, ?)", .message(id), .app(app),
      .optional(target?.rawValue), .time(expiresAt))
  }

  /// Notes that something of a push is undelivered again, or still. `delivered` is who acknowledged one that had ended.
  public func reopen(
    id: MessageID, app: AppID, expiresAt: Timestamp, delivered: [UInt8]?
  ) throws(StorageError) {
    try database.run(
      "INSERT OR IGNORE INTO pending (msg_id, app_id, target, expires_at) VALUES (?, ?, NULL, ?)",
      .message(id),
      .app(app), .time(expiresAt))
    try database.run("UPDATE outcome SET status = 0 WHERE msg_id = ?", .message(id))
    if let delivered { try saveDelivered(id: id, targets: delivered) }
  }

  /// Notes that a push was replaced by a later one.
  public func markReplaced(_ id: MessageID, by newer: MessageID) throws(StorageError) {
    try database.run("UPDATE push SET replaced_by = ? WHERE msg_id = ?", .message(newer), .message(id))
  }

  /// Binds a request name to a push. `.constraint` if the app used it before.
  public func insertCID(app: AppID, cid: String, id: MessageID, sendno: Int64, at now: Timestamp)
    throws(StorageError)
  {
    try database.run(
      "INSERT INTO cid (app_id, cid, msg_id, sendno, created_at) VALUES (?, ?, ?, ?, ?)", .app(app),
      .text(cid),
      .message(id), .integer(sendno), .time(now))
  }

  /// Ends the way of pushes over our connection: they are no longer pending and their outcome is noted. The first end of
  /// a push stands, but that all have acknowledged it is true even if it was taken back meanwhile. Returns the pushes
  /// whose earlier end stands.
  @discardableResult
  public func settle(_ ends: [Settlement]) throws(StorageError) -> Set<MessageID> {
    var over: Set<MessageID> = []
    for end in ends {
      try database.run("DELETE FROM pending WHERE msg_id = ?", .message(end.id))
      guard end.status == .delivered else {
        if let delivered = end.delivered { try saveDelivered(end.id, delivered, evenIfOver: true) }
        if try !noteFirstEnd(end) { over.insert(end.id) }
        continue
      }
      try database.run("DELETE FROM delivered WHERE msg_id = ?", .message(end.id))
      try database.run(
        """
        INSERT INTO outcome (msg_id, status, at) VALUES (?, ?, ?)
        ON CONFLICT (msg_id) DO UPDATE SET status = excluded.status, at = excluded.at
        """, .message(end.id), .integer(end.status.rawValue), .time(end.at))
    }
    return over
  }

  /// Notes an end unless there was one before; true if it did.
  func noteFirstEnd(_ end: Settlement) throws(StorageError) -> Bool {
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at) VALUES (?, ?, ?)
      ON CONFLICT (msg_id) DO UPDATE SET status = excluded.status, at = excluded.at WHERE outcome.status = 0
      """, .message(end.id), .integer(end.status.rawValue), .time(end.at))
    return database.changes > 0
  }

  /// Saves who will not get a push to several over our connection, by reason. Does nothing for one that is swept.
  public func saveDropped(id: MessageID, reason: String, targets: [UInt8]) throws(StorageError) {
    try database.run(
      """
      INSERT INTO dropped (msg_id, reason, targets)
      SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM push WHERE msg_id = ?1)
      ON CONFLICT (msg_id, reason) DO UPDATE SET targets = excluded.targets
      """, .message(id), .text(reason), .blob(targets))
  }

  /// Saves who reported an act for a push to several.
  public func saveReceipts(id: MessageID, _ kind: Receipt, targets: [UInt8]) throws(StorageError) {
    try database.run(
      """
      INSERT INTO receipt (msg_id, kind, targets) VALUES (?, ?, ?)
      ON CONFLICT (msg_id, kind) DO UPDATE SET targets = excluded.targets
      """, .message(id), .integer(kind.rawValue), .blob(targets))
  }

  /// Saves who of an open group push acknowledged; does nothing once the push is settled.
  public func saveDelivered(id: MessageID, targets: [UInt8]) throws(StorageError) {
    try saveDelivered(id, targets, evenIfOver: false)
  }

  private func saveDelivered(_ id: MessageID, _ targets: [UInt8], evenIfOver: Bool) throws(StorageError) {
    try database.run(
      """
      INSERT INTO delivered (msg_id, targets)
      SELECT ?1, ?2 WHERE ?3 OR EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1)
      ON CONFLICT (msg_id) DO UPDATE SET targets = excluded.targets
      """, .message(id), .blob(targets), .integer(evenIfOver ? 1 : 0))
  }

  /// Notes that the only target of a push showed it or that its user tapped it; the first report of each kind stands.
  /// Does nothing for a push that is unknown, of another app, or for other devices; true if something was noted.
  public func markReceipt(
    id: MessageID, app: AppID, by number: RegistrationNumber, _ receipt: Receipt, at now: Timestamp
  ) throws(StorageError) -> Bool {
    let shownAt = receipt == .shown ? now.milliseconds : nil
    let tappedAt = receipt == .tapped ? now.milliseconds : nil
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at, shown_at, tapped_at)
      SELECT ?1, 0, ?2, ?3, ?4 FROM push WHERE msg_id = ?1 AND app_id = ?5 AND target = ?6
      ON CONFLICT (msg_id) DO UPDATE SET shown_at = coalesce(shown_at, excluded.shown_at),
        tapped_at = coalesce(tapped_at, excluded.tapped_at)
      WHERE shown_at IS NULL AND excluded.shown_at IS NOT NULL
        OR tapped_at IS NULL AND excluded.tapped_at IS NOT NULL
      """, .message(id), .time(now), .optional(shownAt), .optional(tappedAt), .app(app), .number(number))
    return database.changes > 0
  }

  /// Deletes up to `limit` each of the oldest pushes and outcomes below `id`, except what is pending; tells how many
  /// rows went: less than `limit` when nothing is left to do.
  public func sweepPushes(below id: MessageID, limit: Int) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM push WHERE msg_id IN (
        SELECT msg_id FROM push WHERE msg_id < ?1 AND msg_id NOT IN (SELECT msg_id FROM pending)
          AND NOT EXISTS (
            SELECT 1 FROM apns_pending WHERE apns_pending.app_id = push.app_id AND apns_pending.msg_id = push.msg_id)
        ORDER BY msg_id LIMIT ?2)
      """, .message(id), .integer(limit))
    let pushes = database.changes
    try database.run(
      """
      DELETE FROM outcome WHERE msg_id IN (
        SELECT msg_id FROM outcome WHERE msg_id < ?1 AND msg_id NOT IN (SELECT msg_id FROM pending)
        ORDER BY msg_id LIMIT ?2)
      """, .message(id), .integer(limit))
    let outcomes = database.changes
    // Their pushes are gone or go now; there are no more of them than outcomes.
    try sweepRemains(below: id, limit: limit)
    return pushes + outcomes
  }

  private func sweepRemains(below id: MessageID, limit: Int) throws(StorageError) {
    try database.run(
      """
      DELETE FROM apns_result WHERE msg_id IN (
        SELECT DISTINCT msg_id FROM apns_result WHERE msg_id < ?1
          AND msg_id NOT IN (SELECT msg_id FROM push) LIMIT ?2)
      """, .message(id), .integer(limit))
    try database.run(
      """
      DELETE FROM dropped WHERE msg_id IN (
        SELECT DISTINCT msg_id FROM dropped WHERE msg_id < ?1
          AND msg_id NOT IN (SELECT msg_id FROM push) LIMIT ?2)
      """, .message(id), .integer(limit))
    try database.run(
      """
      DELETE FROM receipt WHERE msg_id IN (
        SELECT DISTINCT msg_id FROM receipt WHERE msg_id < ?1
          AND msg_id NOT IN (SELECT msg_id FROM push) LIMIT ?2)
      """, .message(id), .integer(limit))
    try database.run(
      """
      DELETE FROM delivered WHERE msg_id IN (
        SELECT DISTINCT msg_id FROM delivered WHERE msg_id < ?1
          AND msg_id NOT IN (SELECT msg_id FROM push) LIMIT ?2)
      """, .message(id), .integer(limit))
    try database.run(
      """
      DELETE FROM push_sender WHERE msg_id IN (
        SELECT msg_id FROM push_sender WHERE msg_id < ?1 AND msg_id NOT IN (SELECT msg_id FROM push) LIMIT ?2)
      """, .message(id), .integer(limit))
  }

  /// Deletes request names made before a time, out of the `limit` oldest; tells how many went.
  public func sweepCIDs(before time: Timestamp, limit: Int) throws(StorageError) -> Int {
    try database.run(
      "DELETE FROM cid WHERE id IN (SELECT id FROM cid ORDER BY id LIMIT ?2) AND created_at < ?1",
      .time(time), .integer(limit))
    return database.changes
  }
}
