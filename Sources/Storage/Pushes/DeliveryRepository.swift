import BorealisBase
import Model

/// The outcomes of pushes for their targets: who waits, who has one, how it ended.
package struct DeliveryRepository<Access>: Repository {
  let database: Database
}

extension DeliveryRepository {
  /// Whether a push waits for no device any more, on any channel.
  package func isOver(_ id: MessageID, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT NOT EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1)
        AND NOT EXISTS (
          SELECT 1 FROM channel_targets JOIN channel_pending USING (channel, msg_id)
          WHERE channel_targets.msg_id = ?1 AND channel_pending.app_id = ?2)
      """, .message(id), .app(app)
    ) { $0.bool() } ?? false
  }

  /// Whether a push is to one registration only.
  package func isToOne(_ id: MessageID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT target IS NOT NULL AND target_count = 1 FROM push WHERE msg_id = ?", .message(id)
    ) { $0.bool() } ?? false
  }

  /// The outcome of a push for its targets, nil if it is unknown or swept.
  package func targets(of id: MessageID) throws(StorageError) -> TargetRows? {
    guard var push = try transaction.pushes.findWithoutLegs(id: id) else { return nil }
    let legs = try transaction.channelQueue.legs(of: id)
    push.legs = legs.targets
    let receipts = try receipts(of: id)
    return TargetRows(
      push: push, outcome: try outcome(of: id),
      isPending: try isPending(id),
      delivered: try delivered(id), dropped: try dropped(id),
      pendingChannels: legs.targets.isEmpty && legs.results.isEmpty
        ? [] : try transaction.channelQueue.pending(of: id, app: push.app),
      results: legs.results, shown: receipts[.shown], tapped: receipts[.tapped],
      late: receipts[.acknowledgedLate], fallbacks: try transaction.fallbacks.rows(of: id),
      held: push.isHeld ? try transaction.heldPushes.rows(of: id) : [],
      ofServices: receipts.filter(\.key.isOfService), inAppShown: receipts[.inAppShown],
      inAppTapped: receipts[.inAppTapped])
  }

  /// Whether a device waits for a push on the direct connection.
  package func isPending(_ id: MessageID) throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM pending WHERE msg_id = ?", .message(id)) { _ in true } == true
  }

  /// Who acknowledged a push to several, as it was saved; nil if nothing was.
  package func delivered(_ id: MessageID) throws(StorageError) -> [UInt8]? {
    try database.first("SELECT targets FROM delivered WHERE msg_id = ?", .message(id)) { $0.blob() }
  }

  /// Who will not get a push over the direct connection, by reason.
  package func dropped(_ id: MessageID) throws(StorageError) -> [String: [UInt8]] {
    let rows = try database.all("SELECT reason, targets FROM dropped WHERE msg_id = ?", .message(id)) {
      ($0.text("reason"), $0.blob("targets"))
    }
    return Dictionary(rows) { first, _ in first }
  }

  /// Whose push it is and for whom: one alone, or several; `own` are those of them who were to get something
  /// over the direct connection, nil if all were. Nil if it is unknown or swept.
  package func audience(
    of id: MessageID
  ) throws(StorageError) -> (app: AppID, target: RegistrationNumber?, targets: [UInt8]?, own: [UInt8]?)? {
    try database.first(
      """
      SELECT app_id, target, CASE WHEN target IS NULL THEN targets END AS several, own_targets FROM push WHERE msg_id = ?
      """, .message(id)
    ) { row in
      (
        row.app("app_id"), row.isNull("target") ? nil : row.number("target"), row.optionalBlob("several"),
        row.optionalBlob("own_targets")
      )
    }
  }

  /// Whether a push has ended over the direct connection as one that all have.
  package func isOverAsDelivered(_ id: MessageID) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT status = 1 AND NOT EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1)
      FROM outcome WHERE msg_id = ?1
      """, .message(id)
    ) { $0.bool() } ?? false
  }

  /// Whether the only target of a push, who was to get it over the direct connection alone, has acknowledged
  /// it.
  package func isDeliveredByOwnAlone(_ id: MessageID) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT EXISTS (SELECT 1 FROM outcome WHERE msg_id = ?1 AND status = 1)
        AND NOT EXISTS (SELECT 1 FROM channel_targets WHERE msg_id = ?1)
        AND NOT EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1) FROM push WHERE msg_id = ?1
      """, .message(id)
    ) { $0.bool() } ?? false
  }

  /// Whether targets of a push may be known to have it by something else than an acknowledgement in time.
  package func hasOtherEvidence(_ id: MessageID) throws(StorageError) -> Bool {
    if try hasReceipts(id) { return true }
    return try database.first("SELECT 1 FROM channel_targets WHERE msg_id = ? LIMIT 1", .message(id)) { _ in
      true
    } ?? false
  }

  /// Whether a device has said anything of a push besides an acknowledgement in time.
  package func hasReceipts(_ id: MessageID) throws(StorageError) -> Bool {
    try haveReceipts([id]).contains(id)
  }

  /// Those of some pushes of which a device has said anything besides an acknowledgement in time.
  package func haveReceipts(_ ids: [MessageID]) throws(StorageError) -> Set<MessageID> {
    let have = try database.firsts(
      """
      SELECT EXISTS (SELECT 1 FROM receipt WHERE msg_id = ?1)
        OR EXISTS (SELECT 1 FROM outcome WHERE msg_id = ?1 AND (shown_at IS NOT NULL OR tapped_at IS NOT NULL))
      """, ids.map { [.message($0)] }
    ) { $0.bool() }
    return Set(zip(ids, have).filter { $1 == true }.map(\.0))
  }

  /// The targets with a report of a kind for a push to several; nil for none.
  package func receipts(of id: MessageID, _ kind: PushReceipt) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT targets FROM receipt WHERE msg_id = ? AND kind = ?", .message(id), .integer(kind.rawValue)
    ) { $0.blob() }
  }

  /// The sets of targets to whom a channel's main leg of an app's push went, or may have gone; empty if there
  /// was none.
  package func sets(
    of id: MessageID, on channel: ChannelID, app: AppID
  ) throws(StorageError) -> [[UInt8]] {
    try database.all(
      """
      SELECT channel_targets.targets FROM channel_targets JOIN push USING (msg_id)
      WHERE msg_id = ? AND channel = ? AND leg = ? AND outcome IN ('', ?) AND push.app_id = ?
        AND channel_targets.targets IS NOT NULL
      """, .message(id), .integer(channel.rawValue), .integer(DeliveryLeg.main),
      .text(ChannelEnd.delivered), .app(app)
    ) { $0.blob("targets") }
  }

  private func receipts(of id: MessageID) throws(StorageError) -> [PushReceipt: [UInt8]] {
    let rows = try database.all("SELECT kind, targets FROM receipt WHERE msg_id = ?", .message(id)) {
      (kind: PushReceipt(rawValue: $0.integer("kind", as: UInt8.self)), targets: $0.blob("targets"))
    }
    return rows.reduce(into: [:]) { all, row in
      if let kind = row.kind { all[kind] = row.targets }
    }
  }

  /// Calls `body` for each push of which something is undelivered, by ID.
  package func open(in rows: AppRows, each body: (OpenPush) -> Void) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT push.msg_id, push.app_id, push.created_at, push.expires_at, push.sendno, push.platforms, push.target,
        push.targets, push.target_count, push.strategy, push.overrides,
        CASE WHEN push.target IS NULL THEN push.content ELSE {bytes} END AS content, push.own_targets,
        NULL AS ios_targets, NULL AS unreached, NULL AS left_out, NULL AS capped, push.quiet, 0 AS is_held,
        push.online_only, push.languages, push.traits & 32768 <> 0 AS keeps_quiet_hours,
        delivered.targets AS delivered
      FROM pending JOIN push ON push.msg_id = pending.msg_id
        LEFT JOIN delivered ON delivered.msg_id = pending.msg_id
      WHERE {own pending.app_id}
      ORDER BY pending.msg_id
      """, in: rows)
    let legs = try transaction.channelQueue.openLegs(in: rows)
    try statement.each([]) { row throws(StorageError) in
      var push = try PushRow(row).opened(in: database)
      push.legs = legs[push.id] ?? []
      body(
        OpenPush(
          push: push, delivered: row.optionalBlob("delivered"),
          keepsQuietHours: row.bool("keeps_quiet_hours")))
    }
  }

  /// Calls `body` for each set of targets that will not get a push of which something is undelivered.
  package func droppedOfOpen(
    in rows: AppRows,
    each body: (_ id: MessageID, _ reason: String, _ targets: [UInt8]) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT msg_id, reason, targets FROM dropped
      WHERE msg_id IN (SELECT msg_id FROM pending WHERE {own pending.app_id})
      """, in: rows)
    try statement.each([]) { body($0.message("msg_id"), $0.text("reason"), $0.blob("targets")) }
  }

  /// Pushes that were recalled since a moment, the newest recalls first, of those that were accepted after
  /// one. Sets of more than so many bytes are left out.
  package func recalled(
    since moment: Timestamp, of first: MessageID, limit: Int, setBytes: Int, in rows: AppRows
  ) throws(StorageError) -> [RecalledRow] {
    try database.all(
      """
      SELECT push.msg_id, push.app_id, push.target,
        CASE WHEN length(push.targets) <= ?5 THEN push.targets END AS targets
      FROM outcome {sqlite INDEXED BY outcome_taken_back} {sqlite CROSS} JOIN push ON push.msg_id = outcome.msg_id
      WHERE outcome.msg_id >= ?1 AND outcome.taken_back = ?2 AND outcome.taken_back_at >= ?3
        AND {own push.app_id}
      ORDER BY outcome.taken_back_at DESC LIMIT ?4
      """, in: rows, .message(first), .integer(OutcomeStatus.recalled.rawValue), .time(moment),
      .integer(limit), .integer(setBytes)
    ) {
      RecalledRow(
        id: $0.message("msg_id"), app: $0.app("app_id"),
        target: $0.isNull("target") ? nil : $0.number("target"),
        targets: $0.optionalBlob("targets"))
    }
  }

  /// The facts about a push's end, nil if unknown.
  package func outcome(of id: MessageID) throws(StorageError) -> OutcomeRow? {
    try database.first(
      """
      SELECT status, at, shown_at, tapped_at, taken_back, taken_back_at, reached_all FROM outcome
      WHERE msg_id = ?
      """, .message(id)
    ) {
      let status = OutcomeStatus(rawValue: $0.integer("status", as: UInt8.self)) ?? .open
      var row = OutcomeRow(
        status: status, at: $0.time("at"), shownAt: $0.optionalTime("shown_at"),
        tappedAt: $0.optionalTime("tapped_at"),
        hasReachedAll: $0.bool("reached_all"))
      if let moment = $0.optionalInteger("taken_back_at") {
        row.withdrawal = OutcomeRow.Withdrawal(
          status: OutcomeStatus(rawValue: $0.integer("taken_back", as: UInt8.self)) ?? .recalled,
          at: Timestamp(milliseconds: moment))
      } else if status.isWithdrawn {
        // Of before schema version 22.
        row.withdrawal = OutcomeRow.Withdrawal(status: status, at: row.at)
      }
      return row
    }
  }
}
