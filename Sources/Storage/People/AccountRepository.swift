import BorealisBase

/// Accounts.
package struct AccountRepository<Access>: Repository {
  let database: Database
}

extension AccountRepository {
  private static var selectAccount: StaticString {
    """
    SELECT id, name, dev_key, secret_hash, plan, created_at, disabled FROM account
    """
  }

  /// All accounts, by number.
  package func all() throws(StorageError) -> [AccountRow] {
    try database.all(
      Self.selectAccount, "ORDER BY id",
      map: Self.account)
  }

  /// At most `limit` accounts behind one, or from the first on, by number.
  package func all(after last: AccountID?, limit: Int) throws(StorageError) -> [AccountRow] {
    let start: Int64 = last.map { Int64($0.rawValue) } ?? -1
    return try database.all(
      Self.selectAccount, "WHERE id > ? ORDER BY id LIMIT ?", .integer(start), .integer(limit),
      map: Self.account)
  }

  /// The account of a developer key, nil for an unknown one.
  package func find(key: AppKey) throws(StorageError) -> AccountRow? {
    try database.first(
      Self.selectAccount, "WHERE dev_key = ?",
      .text(key.text), map: Self.account)
  }

  private static func account(_ row: Row) -> AccountRow {
    AccountRow(
      id: row.account("id"), name: row.text("name"),
      key: AppKey(row.text("dev_key")) ?? AppKey(high: 0, low: 0), secretHash: row.blob("secret_hash"),
      plan: row.text("plan"),
      createdAt: row.time("created_at"), isDisabled: row.bool("disabled"))
  }
}

extension AccountRepository<Writing> {
  /// Adds an account. `.constraint` if the key exists, for an unknown plan, and if the hash is not of 32
  /// bytes.
  package func create(
    key: AppKey, name: String, secretHash: [UInt8], plan: String, at now: Timestamp
  ) throws(StorageError) -> AccountID {
    let id = try database.insert(
      "INSERT INTO account (name, dev_key, secret_hash, plan, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
      .text(name), .text(key.text), .blob(secretHash), .text(plan), .time(now))
    return AccountID(UInt32(truncatingIfNeeded: id))
  }

  /// Replaces the hash of an account's secret; false for an unknown account.
  package func setSecret(account: AccountID, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run("UPDATE account SET secret_hash = ? WHERE id = ?", .blob(hash), .account(account))
    return database.changes > 0
  }

  /// Disables or enables an account, and with it all its apps; false for an unknown account.
  package func setDisabled(account: AccountID, _ isDisabled: Bool) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE account SET disabled = ? WHERE id = ?", .integer(isDisabled ? 1 : 0), .account(account))
    return database.changes > 0
  }

  /// Puts an account on a plan with those of its apps that are on the account's present plan, or with all of
  /// them. Nil for an unknown account. `.constraint` for an unknown plan.
  package func setPlan(
    account: AccountID, _ plan: String, withAllApps: Bool
  ) throws(StorageError) -> AccountPlanChange? {
    guard
      let before = try database.first(
        "SELECT plan FROM account WHERE id = ?", .account(account), map: { $0.text() })
    else { return nil }
    try database.run("UPDATE account SET plan = ? WHERE id = ?", .text(plan), .account(account))
    let apps = try transaction.apps.all(of: account)
    let moved = apps.filter { $0.plan.name != plan && (withAllApps || $0.plan.name == before) }
    for app in moved { _ = try transaction.apps.setPlan(app: app.id, plan) }
    return AccountPlanChange(
      before: before, moved: moved,
      others: apps.count { app in app.plan.name != plan && !moved.contains { $0.id == app.id } })
  }
}
