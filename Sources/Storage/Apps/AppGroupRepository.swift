import BorealisBase
import Model

/// Groups of apps and the pushes to them.
package struct AppGroupRepository<Access>: Repository {
  let database: Database
}

extension AppGroupRepository {
  private static var selectAppGroup: StaticString {
    """
    SELECT id, group_key, name, secret_hash, created_at, account_id FROM app_group
    """
  }

  /// All groups, the oldest first.
  package func all() throws(StorageError) -> [AppGroupRow] {
    var groups = try database.all(
      Self.selectAppGroup, "ORDER BY id",
      map: Self.group)
    for index in groups.indices { groups[index].apps = try apps(inGroup: groups[index].id) }
    return groups
  }

  /// The groups of an account with their apps, by number.
  package func all(of account: AccountID) throws(StorageError) -> [AppGroupRow] {
    var groups = try database.all(
      Self.selectAppGroup, "WHERE account_id = ? ORDER BY id", .account(account), map: Self.group)
    for index in groups.indices { groups[index].apps = try apps(inGroup: groups[index].id) }
    return groups
  }

  /// How many groups an account has.
  package func count(of account: AccountID) throws(StorageError) -> Int {
    try database.first("SELECT count(*) FROM app_group WHERE account_id = ?", .account(account)) {
      $0.count()
    } ?? 0
  }

  /// The group of a key, nil for an unknown one.
  package func find(key: AppKey) throws(StorageError) -> AppGroupRow? {
    let found = try database.first(
      Self.selectAppGroup, "WHERE group_key = ?",
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
    ) { AppKey($0.text()) }.compactMap { $0 }
  }

  private static func group(_ row: Row) -> AppGroupRow {
    AppGroupRow(
      id: row.integer("id"), key: AppKey(row.text("group_key")) ?? AppKey(high: 0, low: 0),
      name: row.text("name"),
      secretHash: row.blob("secret_hash"), createdAt: row.time("created_at"), apps: [],
      account: row.optionalAccount("account_id"))
  }

  /// A push to the apps of a group; nil if the group has none of that number, or it is swept.
  package func push(id: MessageID, group: Int64) throws(StorageError) -> AppGroupPushRow? {
    let found = try database.first(
      """
      SELECT group_msgid, sendno, created_at FROM group_push WHERE group_msgid = ? AND group_id = ?
      """, .message(id), .integer(group)
    ) {
      AppGroupPushRow(
        id: $0.message("group_msgid"), sendno: $0.integer("sendno"), createdAt: $0.time("created_at"),
        members: [])
    }
    guard var push = found else { return nil }
    push.members = try database.all(
      "SELECT app_key, msg_id, code, status, message FROM group_push_member WHERE group_msgid = ?",
      .message(id)
    ) { row in
      let app = AppKey(row.text("app_key")) ?? AppKey(high: 0, low: 0)
      guard row.isNull("msg_id") else {
        return AppGroupPushRow.Member(app: app, result: .success(row.message("msg_id")))
      }
      let error = APIError(
        code: row.count("code"), httpStatus: row.count("status"), message: row.text("message"))
      return AppGroupPushRow.Member(app: app, result: .failure(error))
    }
    return push
  }

  /// The push of a group's `cid`, if it is newer than a time.
  package func lookupCID(
    group: Int64, cid: String, after moment: Timestamp
  ) throws(StorageError) -> AppGroupPushRow? {
    let id = try database.first(
      "SELECT group_msgid FROM group_push WHERE group_id = ? AND cid = ? AND created_at > ?",
      .integer(group),
      .text(cid), .time(moment)
    ) { $0.message() }
    guard let id else { return nil }
    return try push(id: id, group: group)
  }
}

extension AppGroupRepository<Writing> {
  /// Groups that an account may have: a page lists them all.
  package static var mostOfAccount: Int { 100 }

  /// Adds a group without apps, of an account or the operator's. `.constraint` if the key exists, for an
  /// unknown account, if the account has as many groups as it may, or if the hash is not of 32 bytes.
  package func create(
    key: AppKey, name: String, secretHash: [UInt8], account: AccountID? = nil, at now: Timestamp
  ) throws(StorageError) -> Int64 {
    if let account, try count(of: account) >= Self.mostOfAccount {
      throw StorageError(.constraint, "the account has too many groups")
    }
    return try database.insert(
      """
      INSERT INTO app_group (group_key, name, secret_hash, created_at, account_id) VALUES (?, ?, ?, ?, ?) RETURNING id
      """, .text(key.text), .text(name), .blob(secretHash), .time(now), .optional(account?.rawValue))
  }

  /// Puts an app into a group; does nothing if it is there. False for an unknown app.
  package func addApp(_ app: AppKey, toGroup id: Int64) throws(StorageError) -> Bool {
    guard let row = try transaction.apps.find(key: app) else { return false }
    try database.run(
      "INSERT INTO app_group_member (group_id, app_id) VALUES (?, ?) ON CONFLICT (group_id, app_id) DO NOTHING",
      .integer(id), .app(row.id))
    return true
  }

  /// Removes an app from a group; false if it is not there.
  package func removeApp(_ app: AppKey, fromGroup id: Int64) throws(StorageError) -> Bool {
    try database.run(
      """
      DELETE FROM app_group_member WHERE group_id = ? AND app_id = (SELECT id FROM app WHERE app_key = ?)
      """, .integer(id), .text(app.text))
    return database.changes > 0
  }

  /// Replaces the hash of a group's secret; false for an unknown group.
  package func setSecret(group id: Int64, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run("UPDATE app_group SET secret_hash = ? WHERE id = ?", .blob(hash), .integer(id))
    return database.changes > 0
  }

  /// Deletes a group and ends its files, which go with the next sweep; its apps and their pushes stay.
  package func delete(_ id: Int64, at now: Timestamp) throws(StorageError) {
    try transaction.files.endAll(ofGroup: id, at: now)
    try database.run("DELETE FROM app_group_member WHERE group_id = ?", .integer(id))
    try database.run("DELETE FROM app_group WHERE id = ?", .integer(id))
  }

  /// Stores an app group push. Its `cid` refers to this push from now on.
  package func insertPush(
    _ push: AppGroupPushRow, group: Int64, cid: String?
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

  /// Deletes up to `limit` of the oldest pushes to groups below an ID; returns how many went.
  package func sweepPushes(below id: MessageID, limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM group_push_member WHERE group_msgid IN (
        SELECT group_msgid FROM group_push WHERE group_msgid < ? AND {own 0} ORDER BY group_msgid LIMIT ?)
      """, in: rows, .message(id), .integer(limit))
    try database.run(
      """
      DELETE FROM group_push WHERE group_msgid IN (
        SELECT group_msgid FROM group_push WHERE group_msgid < ? AND {own 0} ORDER BY group_msgid LIMIT ?)
      """, in: rows, .message(id), .integer(limit))
    return database.changes
  }
}
