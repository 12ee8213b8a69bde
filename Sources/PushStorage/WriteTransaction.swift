import PushBase

/// The changes that a job can make. Valid only while the job's body runs, on the writer's thread.
/// Every function throws `.diskFull`, `.io` and the like as SQLite reports them.
public final class WriteTransaction {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// What a job may read, its own changes included.
  public var reading: ReadTransaction { ReadTransaction(database) }

  /// Adds an app. `.constraint` if the key exists or the hash is not of 32 bytes.
  public func createApp(key: AppKey, name: String, secretHash: [UInt8], at now: Timestamp)
    throws(StorageError) -> AppID
  {
    try database.run(
      "INSERT INTO app (app_key, name, secret_hash, created_at) VALUES (?, ?, ?, ?)",
      .text(key.text), .text(name), .blob(secretHash), .time(now))
    return AppID(UInt32(truncatingIfNeeded: database.lastInsertedRow))
  }

  /// Replaces the hash of an app's secret; false for an unknown app.
  public func setSecret(app: AppID, hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run("UPDATE app SET secret_hash = ? WHERE id = ?", .blob(hash), .app(app))
    return database.changes > 0
  }

  /// Disables or enables an app; false for an unknown app.
  public func setDisabled(app: AppID, _ isDisabled: Bool) throws(StorageError) -> Bool {
    try database.run("UPDATE app SET disabled = ? WHERE id = ?", .integer(isDisabled ? 1 : 0), .app(app))
    return database.changes > 0
  }
}
