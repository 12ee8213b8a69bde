import PushBase

/// A push in a list.
public struct PushSummary: Sendable, Equatable {
  /// Its ID.
  public var id: MessageID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// When it ends.
  public var expiresAt: Timestamp
  /// The platforms it is for.
  public var platforms: PlatformSet
  /// How many targets.
  public var targetCount: UInt32
  /// How it ended; `open` as long as it has not.
  public var status: OutcomeStatus
  /// What devices get, in the router's encoding.
  public var content: [UInt8]
  /// What kind of push it is; empty for pushes of versions that did not keep it.
  public var traits: PushTraits
  /// Who made it.
  public var sender: PushSender
  /// The sender's name, unless it is an app's server.
  public var senderName: String?
  /// The push object as it was sent, JSON in UTF-8; nil if it was not kept.
  public var object: [UInt8]?
}

/// Which pushes are looked for. What is not set asks for nothing.
public struct PushFilter: Sendable, Equatable {
  /// No older than this.
  public var from = MessageID(0)
  /// Older than this.
  public var before = MessageID(UInt64(Int64.max))
  /// Ended in one of these ways; `open` for those that have not.
  public var states: Set<OutcomeStatus> = []
  /// Whether it was for several targets.
  public var isToSeveral: Bool?
  /// Having one of these traits.
  public var kinds: PushTraits = []
  /// Having one of these, too.
  public var audiences: PushTraits = []
  /// Made by this kind of sender.
  public var sender: PushSender.Kind?
  /// Whether it was an entry of a batch.
  public var isBatch: Bool?

  /// All pushes.
  public init() {}

  fileprivate var stateBits: Int64 { states.reduce(0) { $0 | 1 << Int64($1.rawValue) } }

  /// Whether the small table of senders names all pushes that are looked for.
  fileprivate var isBySender: Bool { sender.map { $0 != .api } ?? false }
}

/// A part of a list of pushes, newest first.
public struct PushHistory: Sendable, Equatable {
  /// The pushes.
  public var pushes: [PushSummary] = []
  /// Where the list goes on: older than this. Nil when there are no more. There may be a place to go on without a push:
  /// then so many were looked at in vain.
  public var next: MessageID?

  /// Nothing.
  public init() {}
}

extension ReadTransaction {
  /// Pushes of an app, newest first: at most `limit`. However rare what is looked for, no more than `looks` pushes are
  /// looked at. `matches`, if there is one, has the last word on those that the filter lets through.
  public func pushHistory(
    of app: AppID, _ filter: PushFilter = PushFilter(), limit: Int, looks: Int = 5000,
    matches: ((PushSummary) -> Bool)? = nil
  ) throws(StorageError) -> PushHistory {
    let end = try end(of: app, filter, looks: looks)
    var found = PushHistory()
    try statement(for: filter).scan(values(app, filter, end ?? filter.from)) { row in
      var push = Self.summary(row)
      guard matches?(push) ?? true else { return true }
      guard found.pushes.count < limit else {
        found.next = found.pushes.last?.id
        return false
      }
      push.object = row.optionalBlob(11)
      found.pushes.append(push)
      return true
    }
    if found.next == nil { found.next = end }
    return found
  }

  /// What is older than this is not looked at: `looks` pushes are newer. Nil if there are no more.
  private func end(of app: AppID, _ filter: PushFilter, looks: Int) throws(StorageError) -> MessageID? {
    if filter.isBySender {
      return try database.first(
        """
        SELECT msg_id FROM push_sender INDEXED BY push_sender_app
        WHERE app_id = ? AND msg_id < ? AND msg_id >= ? ORDER BY msg_id DESC LIMIT 1 OFFSET ?
        """, .app(app), .message(filter.before), .message(filter.from), .integer(max(1, looks))
      ) { MessageID($0.message(0).rawValue + 1) }
    }
    return try database.first(
      """
      SELECT msg_id FROM push INDEXED BY push_app
      WHERE app_id = ? AND msg_id < ? AND msg_id >= ? ORDER BY msg_id DESC LIMIT 1 OFFSET ?
      """, .app(app), .message(filter.before), .message(filter.from), .integer(max(1, looks))
    ) { MessageID($0.message(0).rawValue + 1) }
  }

  private func values(_ app: AppID, _ filter: PushFilter, _ lowest: MessageID) -> [SQLValue] {
    [
      .app(app), .message(filter.before), .message(lowest), .integer(filter.stateBits),
      .integer(filter.kinds.rawValue), .integer(filter.audiences.rawValue),
      .optional(filter.sender?.rawValue), .optional(filter.isBatch.map { $0 ? 1 : 0 }),
      .optional(filter.isToSeveral.map { $0 ? 1 : 0 }),
    ]
  }

  /// Of a push whose way over our connection has ended, Apple may still be asked for others.
  private func statement(for filter: PushFilter) throws(StorageError) -> Statement {
    guard filter.isBySender else {
      return try database.statement(
        """
        SELECT push.msg_id, push.created_at, push.expires_at, push.platforms, push.target_count,
          CASE WHEN outcome.status NOT IN (3, 4) AND EXISTS (
            SELECT 1 FROM apns_pending WHERE apns_pending.app_id = push.app_id AND apns_pending.msg_id = push.msg_id)
            THEN 0 ELSE coalesce(outcome.status, 0) END AS state,
          push.content, push.traits, coalesce(push_sender.kind, 0), coalesce(push_sender.number, 0),
          CASE push_sender.kind WHEN 2 THEN (SELECT name FROM schedule WHERE id = push_sender.number)
            WHEN 3 THEN (SELECT name FROM app_group WHERE id = push_sender.number)
            WHEN 4 THEN (SELECT name FROM person WHERE id = push_sender.number) END, push.object
        FROM push INDEXED BY push_app LEFT JOIN outcome ON outcome.msg_id = push.msg_id
          LEFT JOIN push_sender ON push_sender.msg_id = push.msg_id
        WHERE push.app_id = ?1 AND push.msg_id < ?2 AND push.msg_id >= ?3
          AND (?4 = 0 OR 1 << state & ?4 <> 0) AND (?5 = 0 OR push.traits & ?5 <> 0)
          AND (?6 = 0 OR push.traits & ?6 <> 0) AND (?7 IS NULL OR coalesce(push_sender.kind, 0) = ?7)
          AND (?8 IS NULL OR (push.traits & 256 <> 0) = ?8) AND (?9 IS NULL OR (push.target_count > 1) = ?9)
        ORDER BY push.msg_id DESC
        """)
    }
    return try database.statement(
      """
      SELECT push.msg_id, push.created_at, push.expires_at, push.platforms, push.target_count,
        CASE WHEN outcome.status NOT IN (3, 4) AND EXISTS (
          SELECT 1 FROM apns_pending WHERE apns_pending.app_id = push.app_id AND apns_pending.msg_id = push.msg_id)
          THEN 0 ELSE coalesce(outcome.status, 0) END AS state,
        push.content, push.traits, push_sender.kind, push_sender.number,
        CASE push_sender.kind WHEN 2 THEN (SELECT name FROM schedule WHERE id = push_sender.number)
          WHEN 3 THEN (SELECT name FROM app_group WHERE id = push_sender.number)
          WHEN 4 THEN (SELECT name FROM person WHERE id = push_sender.number) END, push.object
      FROM push_sender INDEXED BY push_sender_app CROSS JOIN push ON push.msg_id = push_sender.msg_id
        LEFT JOIN outcome ON outcome.msg_id = push.msg_id
      WHERE push_sender.app_id = ?1 AND push_sender.msg_id < ?2 AND push_sender.msg_id >= ?3
        AND (?4 = 0 OR 1 << state & ?4 <> 0) AND (?5 = 0 OR push.traits & ?5 <> 0)
        AND (?6 = 0 OR push.traits & ?6 <> 0) AND push_sender.kind = ?7
        AND (?8 IS NULL OR (push.traits & 256 <> 0) = ?8) AND (?9 IS NULL OR (push.target_count > 1) = ?9)
      ORDER BY push_sender.msg_id DESC
      """)
  }

  private static func summary(_ row: Statement) -> PushSummary {
    PushSummary(
      id: row.message(0), createdAt: row.time(1), expiresAt: row.time(2),
      platforms: PlatformSet(rawValue: row.integer(3, as: UInt8.self)),
      targetCount: row.integer(4, as: UInt32.self),
      status: OutcomeStatus(rawValue: row.integer(5, as: UInt8.self)) ?? .open, content: row.blob(6),
      traits: PushTraits(rawValue: row.integer(7, as: UInt16.self)),
      sender: PushSender(kind: row.integer(8, as: UInt8.self), number: row.integer(9)),
      senderName: row.optionalText(10))
  }
}
