import BorealisBase
import Model

extension QuietHours {
  init?(_ row: Row) {
    self.init(
      from: row.count("quiet_from"), until: row.count("quiet_until"),
      row.bool("quiet_drops") ? .drop : .hold)
  }
}

extension AppRepository<Writing> {
  /// Sets the quiet hours of an app, nil for none; false for an unknown app.
  package func setQuietHours(app: AppID, _ hours: QuietHours?) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE app SET quiet_from = ?, quiet_until = ?, quiet_drops = ? WHERE id = ? AND deleted_at IS NULL
      """, .integer(hours?.from ?? 0), .integer(hours?.until ?? 0),
      .integer(hours?.action == .drop ? 1 : 0), .app(app))
    return database.changes > 0
  }
}
