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
}

extension ReadTransaction {
  /// Pushes of an app, newest first: at most `limit`, older than `before` if that is given.
  public func pushHistory(
    of app: AppID, before: MessageID?, limit: Int
  ) throws(StorageError) -> [PushSummary] {
    try database.all(
      """
      SELECT push.msg_id, created_at, expires_at, platforms, target_count, coalesce(status, 0), content
      FROM push INDEXED BY push_app LEFT JOIN outcome ON outcome.msg_id = push.msg_id
      WHERE app_id = ? AND push.msg_id < ? ORDER BY push.msg_id DESC LIMIT ?
      """, .app(app), .message(before ?? MessageID(UInt64(Int64.max))), .integer(limit)
    ) { row in
      PushSummary(
        id: row.message(0), createdAt: row.time(1), expiresAt: row.time(2),
        platforms: PlatformSet(rawValue: row.integer(3, as: UInt8.self)),
        targetCount: row.integer(4, as: UInt32.self),
        status: OutcomeStatus(rawValue: row.integer(5, as: UInt8.self)) ?? .open, content: row.blob(6))
    }
  }
}
