import PushBase

/// The changes that a job can make. Valid only while the job's body runs, on the writer's thread.
/// Every function throws `.diskFull`, `.io` and the like as SQLite reports them.
public final class WriteTransaction {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// What a job may read, its own changes included.
  public var reading: ReadTransaction { ReadTransaction(database) }

  /// Disables or enables an app; false for an unknown app.
  public func setDisabled(app: AppID, _ isDisabled: Bool) throws(StorageError) -> Bool {
    try database.run("UPDATE app SET disabled = ? WHERE id = ?", .integer(isDisabled ? 1 : 0), .app(app))
    return database.changes > 0
  }
}
