import BorealisBase
import Model

extension DeliveryRepository<Writing> {
  /// Records how a push ended for which nobody waits over the direct connection, nor did before.
  @discardableResult
  package func settleUnlessPending(_ end: Settlement) throws(StorageError) -> Bool {
    guard try !isPending(end.id) else { return false }
    _ = try noteFirstEnd(end)
    return true
  }

  /// Records that something of a push is undelivered; `target` is nil for a group. The job fails if it is
  /// noted already.
  package func insertPending(id: MessageID, app: AppID, target: RegistrationNumber?, expiresAt: Timestamp)
    throws(StorageError)
  {
    try database.runLater(
      "INSERT INTO pending (msg_id, app_id, target, expires_at) VALUES (?, ?, ?, ?)", .message(id), .app(app),
      .optional(target?.rawValue), .time(expiresAt))
  }

  /// Nobody waits for a push over the direct connection any more, and how it ends a channel that took it over
  /// will say.
  package func endWithoutOutcome(_ id: MessageID) throws(StorageError) {
    try database.run("DELETE FROM pending WHERE msg_id = ?", .message(id))
  }

  /// Records that something of a push is undelivered again, or still. `delivered` is who acknowledged one
  /// that had ended.
  package func reopen(
    id: MessageID, app: AppID, expiresAt: Timestamp, delivered: [UInt8]?
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO pending (msg_id, app_id, target, expires_at) VALUES (?, ?, NULL, ?) ON CONFLICT (msg_id) DO NOTHING
      """, .message(id), .app(app), .time(expiresAt))
    try database.run("UPDATE outcome SET status = 0 WHERE msg_id = ?", .message(id))
    if let delivered { try saveDelivered(id: id, targets: delivered) }
  }

  /// Ends the way of pushes over the direct connection: they are no longer pending and their outcome is
  /// noted. The first end of a push stands, but that all have acknowledged it is true even if it was recalled
  /// meanwhile. Returns the pushes whose earlier end stands, and those that all have acknowledged although
  /// they were recalled, or while a service is still to be asked.
  @discardableResult
  package func settle(_ ends: [Settlement]) throws(StorageError) -> (
    over: Set<MessageID>, unclear: Set<MessageID>
  ) {
    var (over, unclear): (Set<MessageID>, Set<MessageID>) = ([], [])
    var delivered: [Settlement] = []
    for end in ends {
      guard end.status != .delivered else {
        delivered.append(end)
        continue
      }
      // In their order: one push may end twice.
      unclear.formUnion(try settleDelivered(delivered))
      delivered = []
      try database.runLater("DELETE FROM pending WHERE msg_id = ?", .message(end.id))
      if let delivered = end.delivered { try saveDelivered(end.id, delivered, evenIfOver: true) }
      if try !noteFirstEnd(end) { over.insert(end.id) }
      try database.run(
        """
        UPDATE outcome SET acknowledged = 1
        WHERE msg_id = ?1 AND acknowledged = 0 AND EXISTS (SELECT 1 FROM delivered WHERE msg_id = ?1)
        """, .message(end.id))
    }
    unclear.formUnion(try settleDelivered(delivered))
    return (over, unclear)
  }

  /// The same for pushes that all have acknowledged; those that are unclear.
  private func settleDelivered(_ ends: [Settlement]) throws(StorageError) -> [MessageID] {
    guard !ends.isEmpty else { return [] }
    for end in ends { try database.runLater("DELETE FROM pending WHERE msg_id = ?", .message(end.id)) }
    // Of nearly all nothing is known but for whom they are: they had no end before, nobody's acknowledgement
    // was saved, and they went to no service. SQLite keeps what RETURNING gives in a table of its own, which
    // takes four times as long.
    let areUnknown = try database.firsts(
      """
      SELECT NOT EXISTS (SELECT 1 FROM outcome WHERE msg_id = ?1)
        AND NOT EXISTS (SELECT 1 FROM delivered WHERE msg_id = ?1)
        AND NOT EXISTS (SELECT 1 FROM channel_targets WHERE msg_id = ?1)
      """, ends.map { [.message($0.id)] }
    ) { $0.bool() }
    var others: [Settlement] = []
    for (end, isUnknown) in zip(ends, areUnknown) {
      guard isUnknown == true else {
        others.append(end)
        continue
      }
      // It may be named twice.
      try database.runLater(
        """
        INSERT INTO outcome (msg_id, status, at) VALUES (?, ?, ?)
        ON CONFLICT (msg_id) DO UPDATE SET status = excluded.status, at = excluded.at
        """, .message(end.id), .integer(end.status.rawValue), .time(end.at))
    }
    guard !others.isEmpty else { return [] }
    for end in others { try database.runLater("DELETE FROM delivered WHERE msg_id = ?", .message(end.id)) }
    let areUnclear = try database.firsts(
      """
      INSERT INTO outcome (msg_id, status, at) VALUES (?1, ?2, ?3)
      ON CONFLICT (msg_id) DO UPDATE SET status = excluded.status, at = excluded.at
      RETURNING taken_back <> 0 OR EXISTS (
        SELECT 1 FROM push JOIN channel_targets USING (msg_id) JOIN channel_pending USING (app_id, channel, msg_id)
        WHERE push.msg_id = ?1)
      """, others.map { [.message($0.id), .integer($0.status.rawValue), .time($0.at)] }
    ) { $0.bool() }
    return zip(others, areUnclear).filter { $1 == true }.map(\.0.id)
  }

  /// Records an end unless there was one before; true if it did.
  func noteFirstEnd(_ end: Settlement) throws(StorageError) -> Bool {
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at) VALUES (?, ?, ?)
      ON CONFLICT (msg_id) DO UPDATE SET status = excluded.status, at = excluded.at WHERE outcome.status = 0
      """, .message(end.id), .integer(end.status.rawValue), .time(end.at))
    return database.changes > 0
  }

  /// Records that a push was recalled or overridden; the first time stands.
  package func markRecalled(_ id: MessageID, _ status: OutcomeStatus, at now: Timestamp) throws(StorageError)
  {
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at, taken_back, taken_back_at) VALUES (?1, 0, ?2, ?3, ?2)
      ON CONFLICT (msg_id) DO UPDATE SET taken_back = excluded.taken_back, taken_back_at = excluded.taken_back_at
      WHERE outcome.taken_back_at IS NULL AND outcome.status NOT IN (3, 4)
      """, .message(id), .time(now), .integer(status.rawValue))
  }

  /// Records that every target of a push has it.
  package func markReachedAll(_ id: MessageID, at now: Timestamp) throws(StorageError) {
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at, reached_all) VALUES (?, 0, ?, 1)
      ON CONFLICT (msg_id) DO UPDATE SET reached_all = 1 WHERE outcome.reached_all = 0
      """, .message(id), .time(now))
  }

  /// Records that a target turned out not to have a push that was thought to have reached all; `hasNone` if
  /// no target has it. A push without any that ended as delivered ended as refused.
  package func unmarkReachedAll(_ id: MessageID, hasNone: Bool) throws(StorageError) {
    try database.run(
      """
      UPDATE outcome SET reached_all = 0,
        status = CASE WHEN ?2 <> 0 AND status = ?3 THEN ?4 ELSE status END
      WHERE msg_id = ?1
      """, .message(id), .integer(hasNone ? 1 : 0), .integer(OutcomeStatus.delivered.rawValue),
      .integer(OutcomeStatus.refused.rawValue))
  }

  /// Saves who will not get a push to several over the direct connection, by reason. Does nothing for one
  /// that is swept.
  package func saveDropped(id: MessageID, reason: String, targets: [UInt8]) throws(StorageError) {
    try database.run(
      """
      INSERT INTO dropped (msg_id, reason, targets)
      SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM push WHERE msg_id = ?1)
      ON CONFLICT (msg_id, reason) DO UPDATE SET targets = excluded.targets
      """, .message(id), .text(reason), .blob(targets))
  }

  /// Saves who said something of a push: of an act, for a push to several.
  package func saveReceipts(id: MessageID, _ kind: PushReceipt, targets: [UInt8]) throws(StorageError) {
    try database.run(
      """
      INSERT INTO receipt (msg_id, kind, targets) VALUES (?, ?, ?)
      ON CONFLICT (msg_id, kind) DO UPDATE SET targets = excluded.targets
      """, .message(id), .integer(kind.rawValue), .blob(targets))
  }

  /// Saves who of an open group push acknowledged; does nothing once the push is settled.
  package func saveDelivered(id: MessageID, targets: [UInt8]) throws(StorageError) {
    try saveDelivered(id, targets, evenIfOver: false)
  }

  private func saveDelivered(_ id: MessageID, _ targets: [UInt8], evenIfOver: Bool) throws(StorageError) {
    try database.run(
      """
      INSERT INTO delivered (msg_id, targets)
      SELECT ?1, ?2 WHERE ?3 <> 0 OR EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1)
      ON CONFLICT (msg_id) DO UPDATE SET targets = excluded.targets
      """, .message(id), .blob(targets), .integer(evenIfOver ? 1 : 0))
    try database.run(
      "UPDATE pending SET acknowledged = 1 WHERE msg_id = ? AND acknowledged = 0", .message(id))
  }

  /// Records that the only target of a push showed it or that its user tapped it; the first report of each
  /// kind stands. Does nothing for a push that is unknown, of another app, or for other devices; true if
  /// something was noted.
  package func markReceipt(
    id: MessageID, app: AppID, by number: RegistrationNumber, _ receipt: PushReceipt, at now: Timestamp
  ) throws(StorageError) -> Bool {
    let shownAt = receipt == .shown ? now.milliseconds : nil
    let tappedAt = receipt == .tapped ? now.milliseconds : nil
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at, shown_at, tapped_at)
      SELECT ?1, 0, ?2, ?3, ?4 FROM push WHERE msg_id = ?1 AND app_id = ?5 AND target = ?6
      ON CONFLICT (msg_id) DO UPDATE SET shown_at = coalesce(outcome.shown_at, excluded.shown_at),
        tapped_at = coalesce(outcome.tapped_at, excluded.tapped_at)
      WHERE outcome.shown_at IS NULL AND excluded.shown_at IS NOT NULL
        OR outcome.tapped_at IS NULL AND excluded.tapped_at IS NOT NULL
      """, .message(id), .time(now), .optional(shownAt), .optional(tappedAt), .app(app), .number(number))
    return database.changes > 0
  }
}
