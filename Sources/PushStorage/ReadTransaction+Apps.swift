import PushBase

extension ReadTransaction {
  /// All apps that are not deleted, by number.
  public func apps() throws(StorageError) -> [AppRow] {
    try database.all("SELECT * FROM live_app ORDER BY id", map: Self.app)
  }

  /// The apps of one account that are not deleted, by number.
  public func apps(of account: AccountID) throws(StorageError) -> [AppRow] {
    try database.all(
      "SELECT * FROM live_app WHERE account_id = ? ORDER BY id", .account(account), map: Self.app)
  }

  /// The app of a key, nil for an unknown or deleted one.
  public func app(key: AppKey) throws(StorageError) -> AppRow? {
    try database.first("SELECT * FROM live_app WHERE app_key = ?", .text(key.text), map: Self.app)
  }

  /// The key of an account's app with an Android package, nil if there is none.
  public func appKey(account: AccountID, androidPackage: String) throws(StorageError) -> AppKey? {
    try database.first(
      "SELECT app_key FROM app WHERE account_id = ? AND android_package = ? AND deleted_at IS NULL",
      .account(account), .text(androidPackage)
    ) { AppKey($0.text(0)) } ?? nil
  }

  /// How many apps an account has, without deleted ones.
  public func appCount(account: AccountID) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM app WHERE account_id = ? AND deleted_at IS NULL", .account(account)
    ) { Int($0.integer(0)) } ?? 0
  }

  /// Deleted apps that have data left, by number.
  public func deletedApps() throws(StorageError) -> [DeletedApp] {
    try database.all(
      "SELECT id, app_key FROM app WHERE deleted_at IS NOT NULL AND purged_at IS NULL ORDER BY id"
    ) { DeletedApp(id: $0.app(0), key: AppKey($0.text(1)) ?? AppKey(high: 0, low: 0)) }
  }

  /// The pushes of an app after an ID, ascending, at most `limit`.
  public func pushes(of app: AppID, after id: MessageID, limit: Int) throws(StorageError) -> [MessageID] {
    try database.all(
      "SELECT msg_id FROM push WHERE app_id = ? AND msg_id > ? ORDER BY msg_id LIMIT ?", .app(app),
      .message(id), .integer(limit)
    ) { $0.message(0) }
  }

  /// The pushes to everybody that an app has sent on a day, counted from 1970-01-01.
  public func broadcasts(of app: AppID, on day: Int64) throws(StorageError) -> Int {
    try database.first(
      "SELECT count FROM broadcast_count WHERE app_id = ? AND day = ?", .app(app), .integer(day)
    ) { Int(clamping: $0.integer(0)) } ?? 0
  }

  // MARK: Accounts and plans

  /// All accounts, by number.
  public func accounts() throws(StorageError) -> [AccountRow] {
    try database.all(
      "SELECT id, name, dev_key, secret_hash, plan, created_at, disabled FROM account ORDER BY id",
      map: Self.account)
  }

  /// At most `limit` accounts behind one, or from the first on, by number.
  public func accounts(after last: AccountID?, limit: Int) throws(StorageError) -> [AccountRow] {
    let start: Int64 = last.map { Int64($0.rawValue) } ?? -1
    return try database.all(
      """
      SELECT id, name, dev_key, secret_hash, plan, created_at, disabled FROM account
      WHERE id > ? ORDER BY id LIMIT ?
      """, .integer(start), .integer(limit), map: Self.account)
  }

  /// The account of a developer key, nil for an unknown one.
  public func account(key: AppKey) throws(StorageError) -> AccountRow? {
    try database.first(
      "SELECT id, name, dev_key, secret_hash, plan, created_at, disabled FROM account WHERE dev_key = ?",
      .text(key.text), map: Self.account)
  }

  /// All plans, by name.
  public func plans() throws(StorageError) -> [PlanRow] {
    try database.all(
      """
      SELECT name, push_calls, device_calls, report_calls, schedule_calls, file_calls, broadcasts,
        max_time_to_live, speed, shares_speed FROM plan ORDER BY name
      """
    ) { Self.plan($0, at: 0) }
  }

  /// Whether there is a plan of a name.
  public func hasPlan(_ name: String) throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM plan WHERE name = ?", .text(name)) { _ in true } ?? false
  }

  // MARK: Rows

  private static func app(_ row: Statement) -> AppRow {
    AppRow(
      id: row.app(0), key: AppKey(row.text(1)) ?? AppKey(high: 0, low: 0), name: row.text(2),
      secretHash: row.blob(3), createdAt: row.time(4), nextNumber: row.integer(5, as: UInt32.self),
      isDisabled: row.integer(6) != 0, account: AccountID(row.integer(7, as: UInt32.self)),
      oldSecretHash: row.optionalBlob(8), androidPackage: row.optionalText(9),
      allowedNetworks: row.optionalText(10), plan: plan(row, at: 11))
  }

  private static func account(_ row: Statement) -> AccountRow {
    AccountRow(
      id: AccountID(row.integer(0, as: UInt32.self)), name: row.text(1),
      key: AppKey(row.text(2)) ?? AppKey(high: 0, low: 0), secretHash: row.blob(3), plan: row.text(4),
      createdAt: row.time(5), isDisabled: row.integer(6) != 0)
  }

  private static func plan(_ row: Statement, at first: Int32) -> PlanRow {
    func limit(_ column: Int32) -> Int? { row.optionalInteger(first + column).map { Int($0) } }
    return PlanRow(
      name: row.text(first), pushCalls: limit(1), deviceCalls: limit(2), reportCalls: limit(3),
      scheduleCalls: limit(4), fileCalls: limit(5), broadcasts: limit(6), maxTimeToLive: limit(7),
      speed: limit(8), sharesSpeed: row.integer(first + 9) != 0)
  }
}

extension SQLValue {
  static func account(_ id: AccountID) -> SQLValue { .integer(id.rawValue) }
}
