import BorealisBase
import Model

/// What a device's connection needs of a push.
package struct StoredContent: Sendable, Equatable {
  /// What the devices get, in the router's encoding.
  package var content: [UInt8]
  /// What some get in their language, in the router's encoding; nil for nobody.
  package var languages: [UInt8]?
  /// Number of the channel strategy.
  package var strategy: UInt8
  /// Who gets it from vendors' channels.
  package var legs: [LegTargetsRow]
  /// Who gets it from them unless they acknowledge it in time.
  package var fallbacks: [FallbackRow]

  package init(
    content: [UInt8], languages: [UInt8]? = nil, strategy: UInt8, legs: [LegTargetsRow],
    fallbacks: [FallbackRow] = []
  ) {
    self.content = content
    self.languages = languages
    self.strategy = strategy
    self.legs = legs
    self.fallbacks = fallbacks
  }
}

/// Accepted pushes: content, sender, and `cid`s.
package struct PushRepository<Access>: Repository {
  let database: Database
}

extension PushRepository {
  /// IDs of stored pushes above one, ascending, at most `limit`.
  package func ids(after id: MessageID, limit: Int, in rows: AppRows) throws(StorageError) -> [MessageID] {
    try database.all(
      "SELECT msg_id FROM push WHERE msg_id > ? AND {own push.app_id} ORDER BY msg_id LIMIT ?",
      in: rows, .message(id), .integer(limit)
    ) { $0.message() }
  }

  /// A push object as it was sent, nil if it was not kept.
  package func object(of id: MessageID) throws(StorageError) -> [UInt8]? {
    let found = try database.first("SELECT app_id, object FROM push WHERE msg_id = ?", .message(id)) {
      (app: $0.app("app_id"), object: $0.optionalBlob("object"))
    }
    guard let found, let object = found.object else { return nil }
    return try database.opened(object, of: found.app, .pushObject)
  }

  /// The push that took a push's place, nil if none did.
  package func replacement(of id: MessageID) throws(StorageError) -> MessageID? {
    let found = try database.first("SELECT replaced_by FROM push WHERE msg_id = ?", .message(id)) {
      $0.optionalInteger()
    }
    return found?.map { MessageID(UInt64(truncatingIfNeeded: $0)) }
  }

  /// Pushes of an app that are for a registration, the newest first, older than `before`: those to it alone,
  /// and those to several, for whose targets `isTarget` is asked with both sets (targets and unreached, in
  /// the router's encoding). Looks at no more than `depth` pushes, and at the sets of no more than `groups`;
  /// `next` is where it goes on then.
  package func latest(
    app: AppID, of number: RegistrationNumber, before: MessageID = MessageID(UInt64(Int64.max)), limit: Int,
    depth: Int, groups: Int, isTarget: ([UInt8], [UInt8]) -> Bool
  ) throws(StorageError) -> (pushes: [DeviceHistoryRow], next: MessageID?) {
    let candidates = try database.all(
      """
      SELECT msg_id, target FROM (
        SELECT msg_id, target FROM push {sqlite INDEXED BY push_app}
        WHERE app_id = ?1 AND msg_id < ?4 ORDER BY msg_id DESC LIMIT ?3) AS latest
      WHERE target = ?2 OR target IS NULL ORDER BY msg_id DESC
      """, .app(app), .number(number), .integer(depth), .message(before)
    ) { (id: $0.message("msg_id"), isSingle: !$0.isNull("target")) }
    var found: [DeviceHistoryRow] = []
    var groupsLeft = groups
    var last = before
    for candidate in candidates {
      guard found.count < limit, candidate.isSingle || groupsLeft > 0 else { return (found, last) }
      last = candidate.id
      if !candidate.isSingle {
        groupsLeft -= 1
        let sets = try database.first(
          "SELECT targets, unreached FROM push WHERE msg_id = ?", .message(candidate.id)
        ) { ($0.blob("targets"), $0.blob("unreached")) }
        guard let sets, isTarget(sets.0, sets.1) else { continue }
      }
      let push = try database.first(
        "SELECT msg_id, created_at, content, languages FROM push WHERE msg_id = ?", .message(candidate.id)
      ) {
        DeviceHistoryRow(
          id: $0.message("msg_id"), createdAt: $0.time("created_at"), content: $0.blob("content"),
          languages: $0.optionalBlob("languages"))
      }
      guard var push else { continue }
      push.content = try database.opened(push.content, of: app, .pushContent)
      push.languages = try database.opened(ifAny: push.languages, of: app, .pushLanguages)
      found.append(push)
    }
    let oldest = try database.first(
      """
      SELECT msg_id FROM push {sqlite INDEXED BY push_app}
      WHERE app_id = ? AND msg_id < ? ORDER BY msg_id DESC LIMIT 1 OFFSET ?
      """, .app(app), .message(before), .integer(depth)
    ) { MessageID($0.message().rawValue + 1) }
    return (found, oldest)
  }

  /// Where a push comes from and, unless an app's server sent it, the name of who made it; nil if the push is
  /// unknown or swept.
  package func source(of id: MessageID) throws(StorageError) -> (source: PushSource, name: String?)? {
    let found = try database.first(
      """
      SELECT push.app_id, push.traits, push.object, coalesce(push_sender.kind, 0) AS sender_kind,
        coalesce(push_sender.number, 0) AS sender_number, push_sender.forecast,
        CASE push_sender.kind WHEN 2 THEN (SELECT name FROM schedule WHERE id = push_sender.number)
          WHEN 3 THEN (SELECT name FROM app_group WHERE id = push_sender.number)
          WHEN 4 THEN (SELECT name FROM person WHERE id = push_sender.number) END AS sender_name
      FROM push LEFT JOIN push_sender ON push_sender.msg_id = push.msg_id WHERE push.msg_id = ?
      """, .message(id)
    ) { row in
      (
        app: row.app("app_id"),
        source: PushSource(
          sender: PushSender(row),
          traits: PushTraits(rawValue: row.integer("traits", as: UInt16.self)),
          object: row.optionalBlob("object"), forecast: row.optionalBlob("forecast")),
        name: row.optionalText("sender_name")
      )
    }
    guard var found else { return nil }
    if let object = found.source.object {
      found.source.object = try database.opened(object, of: found.app, .pushObject)
    }
    return (found.source, found.name)
  }

  /// The pushes of an app after an ID, ascending, at most `limit`.
  package func ids(of app: AppID, after id: MessageID, limit: Int) throws(StorageError) -> [MessageID] {
    try database.all(
      "SELECT msg_id FROM push WHERE app_id = ? AND msg_id > ? ORDER BY msg_id LIMIT ?", .app(app),
      .message(id), .integer(limit)
    ) { $0.message() }
  }

  /// Pushes of an app, newest first: at most `limit`. No more than `looks` pushes are examined. `matches`, if
  /// given, checks those that pass the filter.
  package func history(
    of app: AppID, _ filter: PushFilter = PushFilter(), limit: Int, looks: Int,
    matches: ((PushSummary) -> Bool)? = nil
  ) throws(StorageError) -> PushHistory {
    let end = try end(of: app, filter, looks: looks)
    var found = PushHistory()
    try statement(for: filter).scan(values(app, filter, end ?? filter.from)) { row throws(StorageError) in
      var push = Self.summary(row)
      push.content = try database.opened(push.content, of: app, .pushContent)
      guard matches?(push) ?? true else { return true }
      guard found.pushes.count < limit else {
        found.next = found.pushes.last?.id
        return false
      }
      if let object = row.optionalBlob("object") {
        push.object = try database.opened(object, of: app, .pushObject)
      }
      found.pushes.append(push)
      return true
    }
    if found.next == nil { found.next = end }
    return found
  }

  /// Older pushes are not examined: `looks` pushes are newer. Nil if there are no more.
  private func end(of app: AppID, _ filter: PushFilter, looks: Int) throws(StorageError) -> MessageID? {
    if filter.isBySender {
      return try database.first(
        """
        SELECT msg_id FROM push_sender {sqlite INDEXED BY push_sender_app}
        WHERE app_id = ? AND msg_id < ? AND msg_id >= ? ORDER BY msg_id DESC LIMIT 1 OFFSET ?
        """, .app(app), .message(filter.before), .message(filter.from), .integer(max(1, looks))
      ) { MessageID($0.message().rawValue + 1) }
    }
    return try database.first(
      """
      SELECT msg_id FROM push {sqlite INDEXED BY push_app}
      WHERE app_id = ? AND msg_id < ? AND msg_id >= ? ORDER BY msg_id DESC LIMIT 1 OFFSET ?
      """, .app(app), .message(filter.before), .message(filter.from), .integer(max(1, looks))
    ) { MessageID($0.message().rawValue + 1) }
  }

  private func values(_ app: AppID, _ filter: PushFilter, _ lowest: MessageID) -> [SQLValue] {
    [
      .app(app), .message(filter.before), .message(lowest), .integer(filter.stateBits),
      .integer(filter.kinds.rawValue), .integer(filter.audiences.rawValue),
      .optional(filter.sender?.rawValue), .optional(filter.isBatch.map { $0 ? 1 : 0 }),
      .optional(filter.isToSeveral.map { $0 ? 1 : 0 }), .integer(filter.isRefused ? 1 : 0),
    ]
  }

  /// Of a push whose way over the direct connection has ended, a service may still be asked for others.
  private func statement(for filter: PushFilter) throws(StorageError) -> Statement {
    guard filter.isBySender else {
      return try database.statement(
        """
        SELECT * FROM (
        SELECT push.msg_id, push.created_at, push.expires_at, push.platforms, push.target_count,
          CASE WHEN outcome.reached_all <> 0 THEN 1 WHEN outcome.taken_back <> 0 THEN outcome.taken_back
            WHEN outcome.status NOT IN (3, 4) AND EXISTS (
            SELECT 1 FROM channel_targets JOIN channel_pending USING (channel, msg_id)
            WHERE channel_targets.msg_id = push.msg_id AND channel_pending.app_id = push.app_id)
            THEN 0 ELSE coalesce(outcome.status, 0) END AS state,
          push.content, push.traits, coalesce(push_sender.kind, 0) AS sender_kind,
          coalesce(push_sender.number, 0) AS sender_number,
          CASE push_sender.kind WHEN 2 THEN (SELECT name FROM schedule WHERE id = push_sender.number)
            WHEN 3 THEN (SELECT name FROM app_group WHERE id = push_sender.number)
            WHEN 4 THEN (SELECT name FROM person WHERE id = push_sender.number) END AS sender_name, push.object
        FROM push {sqlite INDEXED BY push_app} LEFT JOIN outcome ON outcome.msg_id = push.msg_id
          LEFT JOIN push_sender ON push_sender.msg_id = push.msg_id
        WHERE push.app_id = ?1 AND push.msg_id < ?2 AND push.msg_id >= ?3
          AND (?5 = 0 OR push.traits & ?5 <> 0)
          AND (?6 = 0 OR push.traits & ?6 <> 0)
          AND (CAST(?7 AS BIGINT) IS NULL OR coalesce(push_sender.kind, 0) = ?7)
          AND (CAST(?8 AS BIGINT) IS NULL OR (push.traits & 256 <> 0) = (?8 <> 0))
          AND (CAST(?9 AS BIGINT) IS NULL OR (push.target_count > 1) = (?9 <> 0))
          AND (?10 = 0 OR EXISTS (
            SELECT 1 FROM channel_targets
            WHERE msg_id = push.msg_id AND outcome NOT IN ('', 'delivered', 'Expired', 'Connected', 'TakenBack')))
          ) AS listed
        WHERE ?4 = 0 OR 1 << CAST(state AS INTEGER) & ?4 <> 0 ORDER BY msg_id DESC
        """)
    }
    return try database.statement(
      """
      SELECT * FROM (
        SELECT push_sender.msg_id, push.created_at, push.expires_at, push.platforms, push.target_count,
        CASE WHEN outcome.reached_all <> 0 THEN 1 WHEN outcome.taken_back <> 0 THEN outcome.taken_back
          WHEN outcome.status NOT IN (3, 4) AND EXISTS (
          SELECT 1 FROM channel_targets JOIN channel_pending USING (channel, msg_id)
            WHERE channel_targets.msg_id = push.msg_id AND channel_pending.app_id = push.app_id)
          THEN 0 ELSE coalesce(outcome.status, 0) END AS state,
        push.content, push.traits, push_sender.kind AS sender_kind,
        push_sender.number AS sender_number,
        CASE push_sender.kind WHEN 2 THEN (SELECT name FROM schedule WHERE id = push_sender.number)
          WHEN 3 THEN (SELECT name FROM app_group WHERE id = push_sender.number)
          WHEN 4 THEN (SELECT name FROM person WHERE id = push_sender.number) END AS sender_name, push.object
      FROM push_sender {sqlite INDEXED BY push_sender_app} {sqlite CROSS} JOIN push ON push.msg_id = push_sender.msg_id
        LEFT JOIN outcome ON outcome.msg_id = push.msg_id
      WHERE push_sender.app_id = ?1 AND push_sender.msg_id < ?2 AND push_sender.msg_id >= ?3
        AND (?5 = 0 OR push.traits & ?5 <> 0)
        AND (?6 = 0 OR push.traits & ?6 <> 0) AND push_sender.kind = ?7
        AND (CAST(?8 AS BIGINT) IS NULL OR (push.traits & 256 <> 0) = (?8 <> 0))
        AND (CAST(?9 AS BIGINT) IS NULL OR (push.target_count > 1) = (?9 <> 0))
        AND (?10 = 0 OR EXISTS (
          SELECT 1 FROM channel_targets
          WHERE msg_id = push.msg_id AND outcome NOT IN ('', 'delivered', 'Expired', 'Connected', 'TakenBack')))
        ) AS listed
      WHERE ?4 = 0 OR 1 << CAST(state AS INTEGER) & ?4 <> 0 ORDER BY msg_id DESC
      """)
  }

  private static func summary(_ row: Row) -> PushSummary {
    PushSummary(
      id: row.message("msg_id"), createdAt: row.time("created_at"), expiresAt: row.time("expires_at"),
      platforms: PlatformSet(rawValue: row.integer("platforms", as: UInt8.self)),
      targetCount: row.integer("target_count", as: UInt32.self),
      status: OutcomeStatus(rawValue: row.integer("state", as: UInt8.self)) ?? .open,
      content: row.blob("content"), traits: PushTraits(rawValue: row.integer("traits", as: UInt16.self)),
      sender: PushSender(row), senderName: row.optionalText("sender_name"))
  }

  /// A push with its content, nil if it is unknown or swept.
  package func find(id: MessageID) throws(StorageError) -> PushRow? {
    guard var push = try findWithoutLegs(id: id) else { return nil }
    push.legs = try transaction.channelQueue.targets(of: id)
    return push
  }

  /// A push without those who get it from vendors' channels.
  func findWithoutLegs(id: MessageID) throws(StorageError) -> PushRow? {
    let found = try database.first(
      """
      SELECT msg_id, app_id, created_at, expires_at, sendno, platforms, target, targets, target_count, strategy,
        overrides, content, own_targets, ios_targets, unreached, left_out, capped, quiet, online_only,
        languages, EXISTS (SELECT 1 FROM held_push WHERE held_push.msg_id = push.msg_id) AS is_held
      FROM push WHERE msg_id = ?
      """, .message(id), map: PushRow.init)
    return try found.map { (push) throws(StorageError) in try push.opened(in: database) }
  }

  /// What was noted of a push; nil if there is no such push.
  package func traits(of id: MessageID) throws(StorageError) -> PushTraits? {
    try database.first("SELECT traits FROM push WHERE msg_id = ?", .message(id)) {
      PushTraits(rawValue: $0.integer("traits", as: UInt16.self))
    }
  }

  /// The app that sent a push; nil if there is no such push.
  package func app(of id: MessageID) throws(StorageError) -> AppID? {
    try database.first("SELECT app_id FROM push WHERE msg_id = ?", .message(id)) { $0.app("app_id") }
  }

  /// Whom an app's push is for: one registration, or several in the router's encoding; nil if the app has no
  /// such push.
  package func audience(
    of id: MessageID, app: AppID
  ) throws(StorageError) -> (target: RegistrationNumber?, targets: [UInt8]?)? {
    try database.first(
      "SELECT target, targets FROM push WHERE msg_id = ? AND app_id = ?", .message(id), .app(app)
    ) { ($0.isNull("target") ? nil : $0.number("target"), $0.optionalBlob("targets")) }
  }

  /// The content of an app's push in its own language; nil if the app has no such push.
  package func content(of id: MessageID, app: AppID) throws(StorageError) -> [UInt8]? {
    let content = try database.first(
      "SELECT content FROM push WHERE msg_id = ? AND app_id = ?", .message(id), .app(app)
    ) { $0.blob() }
    return try database.opened(ifAny: content, of: app, .pushContent)
  }

  /// The contents of pushes, in the order asked for; nil for an unknown one.
  package func contents(of ids: [MessageID]) throws(StorageError) -> [StoredContent?] {
    var found: [StoredContent?] = []
    found.reserveCapacity(ids.count)
    for id in ids {
      let row = try database.first(
        "SELECT app_id, content, languages, strategy FROM push WHERE msg_id = ?", .message(id)
      ) {
        (
          app: $0.app("app_id"), content: $0.blob("content"), languages: $0.optionalBlob("languages"),
          strategy: $0.integer("strategy", as: UInt8.self)
        )
      }
      guard let row else {
        found.append(nil)
        continue
      }
      found.append(
        StoredContent(
          content: try database.opened(row.content, of: row.app, .pushContent),
          languages: try database.opened(ifAny: row.languages, of: row.app, .pushLanguages),
          strategy: row.strategy,
          legs: try transaction.channelQueue.targets(of: id),
          fallbacks: try transaction.fallbacks.rows(of: id)))
    }
    return found
  }

  /// Whose push it is and its outcome, nil if it is unknown or swept.
  package func origin(of id: MessageID) throws(StorageError) -> PushOrigin? {
    try database.first("SELECT app_id, created_at, replaced_by FROM push WHERE msg_id = ?", .message(id)) {
      PushOrigin(
        app: $0.app("app_id"), createdAt: $0.time("created_at"), isReplaced: !$0.isNull("replaced_by"))
    }
  }

  /// The largest ID ever given that the database still knows, 0 if there is none. New IDs must be larger.
  package func lastID() throws(StorageError) -> MessageID {
    try database.first(
      """
      SELECT coalesce(max(id), 0) FROM (
        SELECT max(msg_id) AS id FROM push UNION ALL SELECT max(msg_id) FROM outcome
        UNION ALL SELECT max(msg_id) FROM pending UNION ALL SELECT max(msg_id) FROM schedule_run
        UNION ALL SELECT max(group_msgid) FROM group_push UNION ALL SELECT max(id) FROM getui_task
        -- IDs grow in the order of commits, so that the last name has the largest.
        UNION ALL SELECT (SELECT msg_id FROM cid ORDER BY id DESC LIMIT 1)) AS known
      """
    ) { $0.message() } ?? MessageID(0)
  }

  /// The stored result of an app's `cid`, nil if it is new.
  package func lookupCID(app: AppID, cid: String) throws(StorageError) -> CIDRow? {
    try database.first(
      """
      SELECT cid.msg_id, cid.sendno, cid.digest, push.target_count FROM cid LEFT JOIN push ON push.msg_id = cid.msg_id
      WHERE cid.app_id = ? AND cid.cid = ?
      """, .app(app), .text(cid)
    ) {
      CIDRow(
        id: $0.message("msg_id"), sendno: $0.integer("sendno"),
        targetCount: $0.integer("target_count", as: UInt32.self), digest: $0.optionalBlob("digest"))
    }
  }

  /// Those of some `cid`s that an app has used.
  package func knownCIDs(_ cids: [String], app: AppID) throws(StorageError) -> Set<ExactName> {
    let rows = try database.firsts(
      "SELECT msg_id FROM cid WHERE app_id = ?1 AND cid = ?2", cids.map { [.app(app), .text($0)] }
    ) { _ in true }
    return Set(zip(cids, rows).filter { $1 != nil }.map { ExactName($0.0) })
  }
}
