import PushBase
import PushDomain

/// A group of apps as it is stored.
public struct AppGroupRow: Sendable, Equatable {
  /// Row number.
  public var id: Int64
  /// Public key.
  public var key: AppKey
  /// For people.
  public var name: String
  /// 32 bytes; the caller chooses the hash.
  public var secretHash: [UInt8]
  /// When it was made.
  public var createdAt: Timestamp
  /// The keys of its apps, in order.
  public var apps: [AppKey]
  /// Whose it is; nil for the operator's, who may group apps of any account.
  public var account: AccountID?
}

/// A push to the apps of a group, as it is stored.
public struct GroupPushRow: Sendable, Equatable {
  /// What an app made of it.
  public struct Member: Sendable, Equatable {
    /// The app.
    public var app: AppKey
    /// Its push, or why there is none.
    public var result: Result<MessageID, APIError>

    /// All fields.
    public init(app: AppKey, result: Result<MessageID, APIError>) {
      self.app = app
      self.result = result
    }
  }

  /// The number of the push as a whole.
  public var id: MessageID
  /// The caller's own number.
  public var sendno: Int64
  /// When it was accepted.
  public var createdAt: Timestamp
  /// Its apps, by key.
  public var members: [Member]

  /// All fields.
  public init(id: MessageID, sendno: Int64, createdAt: Timestamp, members: [Member]) {
    self.id = id
    self.sendno = sendno
    self.createdAt = createdAt
    self.members = members
  }
}

extension ReadTransaction {
  /// All groups, the oldest first.
  public func appGroups() throws(StorageError) -> [AppGroupRow] {
    var groups = try database.all(
      "SELECT id, group_key, name, secret_hash, created_at, account_id FROM app_group ORDER BY id",
      map: Self.group)
    for index in groups.indices { groups[index].apps = try apps(inGroup: groups[index].id) }
    return groups
  }

  /// The groups of an account with their apps, by number.
  public func appGroups(of account: AccountID) throws(StorageError) -> [AppGroupRow] {
    var groups = try database.all(
      """
      SELECT id, group_key, name, secret_hash, created_at, account_id FROM app_group WHERE account_id = ? ORDER BY id
      """, .account(account), map: Self.group)
    for index in groups.indices { groups[index].apps = try apps(inGroup: groups[index].id) }
    return groups
  }

  /// The group of a key, nil for an unknown one.
  public func appGroup(key: AppKey) throws(StorageError) -> AppGroupRow? {
    let found = try database.first(
      "SELECT id, group_key, name, secret_hash, created_at, account_id FROM app_group WHERE group_key = ?",
      .text(key.text),
      map: Self.group)
    guard var group = found else { return nil }
    group.apps = try apps(inGroup: group.id)
    return group
  }

  private func apps(inGroup id: Int64) throws(StorageError) -> [AppKey] {
    try database.all(
      """
      SELECT app.app_key FROM app_group_member JOIN app ON app.id = app_group_member.app_id
      WHERE app_group_member.group_id = ? ORDER BY app.app_key
      """, .integer(id)
    ) { AppKey($0.text(0)) }.compactMap { $0 }
  }

  private static func group(_ row: Statement) -> AppGroupRow {
    AppGroupRow(
      id: row.integer(0), key: AppKey(row.text(1)) ?? AppKey(high: 0, low: 0), name: row.text(2),
      secretHash: row.blob(3), createdAt: row.time(4), apps: [],
      account: row.optionalInteger(5).map { AccountID(UInt32(truncatingIfNeeded: $0)) })
  }

  /// A push to the apps of a group; nil if the group has none of that number, or it is swept.
  public func groupPush(id: MessageID, group: Int64) throws(StorageError) -> GroupPushRow? {
    let found = try database.first(
      """
      SELECT group_msgid, sendno, created_at FROM group_push WHERE group_msgid = ? AND group_id = ?
      """, .message(id), .integer(group)
    ) { GroupPushRow(id: $0.message(0), sendno: $0.integer(1), createdAt: $0.time(2), members: []) }
    guard var push = found else { return nil }
    push.members = try database.all(
      "SELECT app_key, msg_id, code, status, message FROM group_push_member WHERE group_msgid = ?",
      .message(id)
    ) { row in
      let app = AppKey(row.text(0)) ?? AppKey(high: 0, low: 0)
      guard row.isNull(1) else { return GroupPushRow.Member(app: app, result: .success(row.message(1))) }
      let error = APIError(
        code: Int(row.integer(2)), httpStatus: Int(row.integer(3)), message: row.text(4))
      return GroupPushRow.Member(app: app, result: .failure(error))
    }
    return push
  }

  /// The push that a request name of a group stands for, if it is newer than a moment.
  public func lookupGroupCID(
    group: Int64, cid: String, after moment: Timestamp
  ) throws(StorageError) -> GroupPushRow? {
    let id = try database.first(
      "SELECT group_msgid FROM group_push WHERE group_id = ? AND cid = ? AND created_at > ?",
      .integer(group),
      .text(cid), .time(moment)
    ) { $0.message(0) }
    guard let id else { return nil }
    return try groupPush(id: id, group: group)
  }
}

extension WriteTransaction {
  /// Adds a group without apps, of an account or the operator's. `.constraint` if the key exists, for an unknown account, or if
  /// the hash is not of 32 bytes.
  public func createAppGroup(
    key: AppKey, name: String, secretHash: [UInt8], account: AccountID? = nil, at now: Timestamp
  ) throws(StorageError) -> Int64 {
    try database.run(
      "INSERT INTO app_group (group_key, name, secret_hash, created_at, account_id) VALUES (?, ?, ?, ?, ?)",
      .text(key.text), .text(name), .blob(secretHash), .time(now), .optional(account?.rawValue))
    return database.lastInsertedRow
  }

  /// Puts an app into a group; does nothing if it is there. False for an unknown app.
  public func addApp(_ app: AppKey, toGroup id: Int64) throws(StorageError) -> Bool {
    guard let row = try reading.app(key: app) else { return false }
    try database.run(
      "INSERT OR IGNORE INTO app_group_member (group_id, app_id) VALUES (?, ?)", .integer(id), .app(row.id))
    return true
  }

  /// Takes an app out of a group; false if it is not there.
  public func removeApp(_ app: AppKey, fromGroup id: Int64) throws(StorageError) -> Bool {
    try database.run(
      """
      DELETE FROM app_group_member WHERE group_id = ? AND app_id = (SELECT id FROM app WHERE app_key = ?)
      """, .integer(id), .text(app.text))
    return database.changes > 0
  }

  /// Replaces the hash of a group's secret; false for an unknown group.
  public func setSecret(group id: Int64, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run("UPDATE app_group SET secret_hash = ? WHERE id = ?", .blob(hash), .integer(id))
    return database.changes > 0
  }

  /// Deletes a group; its apps and their pushes stay.
  public func deleteAppGroup(_ id: Int64) throws(StorageError) {
    try database.run("DELETE FROM app_group_member WHERE group_id = ?", .integer(id))
    try database.run("DELETE FROM app_group WHERE id = ?", .integer(id))
  }

  /// Stores a push to the apps of a group. A request name that stood for another push stands for this one from now on.
  public func insertGroupPush(
    _ push: GroupPushRow, group: Int64, cid: String?
  ) throws(StorageError) {
    if let cid {
      try database.run(
        "UPDATE group_push SET cid = NULL WHERE group_id = ? AND cid = ?", .integer(group), .text(cid))
    }
    try database.run(
      "INSERT INTO group_push (group_msgid, group_id, sendno, cid, created_at) VALUES (?, ?, ?, ?, ?)",
      .message(push.id), .integer(group), .integer(push.sendno), .optional(cid), .time(push.createdAt))
    for member in push.members {
      var id: MessageID?
      var error: APIError?
      switch member.result {
      case .success(let value): id = value
      case .failure(let value): error = value
      }
      try database.run(
        """
        INSERT INTO group_push_member (group_msgid, app_key, msg_id, code, status, message)
        VALUES (?, ?, ?, ?, ?, ?)
        """, .message(push.id), .text(member.app.text), .optional(id?.rawValue),
        .optional(error.map { Int64($0.code) }), .optional(error.map { Int64($0.httpStatus) }),
        .optional(error?.message))
    }
  }

  /// Deletes up to `limit` of the oldest pushes to groups below an ID; tells how many went.
  public func sweepGroupPushes(below id: MessageID, limit: Int) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM group_push_member WHERE group_msgid IN (
        SELECT group_msgid FROM group_push WHERE group_msgid < ? ORDER BY group_msgid LIMIT ?)
      """, .message(id), .integer(limit))
    try database.run(
      """
      DELETE FROM group_push WHERE group_msgid IN (
        SELECT group_msgid FROM group_push WHERE group_msgid < ? ORDER BY group_msgid LIMIT ?)
      """, .message(id), .integer(limit))
    return database.changes
  }
}
