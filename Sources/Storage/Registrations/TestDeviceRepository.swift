import BorealisBase
import Model

/// Apps' devices for tests.
package struct TestDeviceRepository<Access>: Repository {
  let database: Database
}

extension TestDeviceRepository {
  /// Whether a registration of an app is a device for tests.
  package func contains(_ id: RegistrationID, app: AppID) throws(StorageError) -> Bool {
    try contains(id.text, app: app)
  }

  private func contains(_ id: String, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM test_device WHERE app_id = ? AND registration_id = ?", .app(app), .text(id)
    ) { _ in true } == true
  }

  /// The name of a device for tests; nil if it is none.
  package func name(app: AppID, _ registrationID: String) throws(StorageError) -> String? {
    try database.first(
      "SELECT name FROM test_device WHERE app_id = ? AND registration_id = ?", .app(app),
      .text(registrationID)
    ) { $0.text() }
  }

  /// An app's devices for tests whose names and registration IDs contain texts, in order of their
  /// registration IDs, and how many there are in all of them.
  package func list(
    app: AppID, name: String = "", registrationID: String = "", limit: Int, offset: Int = 0
  ) throws(StorageError) -> (total: Int, rows: [TestDeviceRow]) {
    let total = try database.first(
      """
      SELECT count(*) FROM test_device WHERE app_id = ? AND instr(name, ?) > 0 AND instr(registration_id, ?) > 0
      """, .app(app), .text(name), .text(registrationID)
    ) { $0.count() }
    let rows = try database.all(
      """
      SELECT registration_id, name, created_at FROM test_device
      WHERE app_id = ? AND instr(name, ?) > 0 AND instr(registration_id, ?) > 0
      ORDER BY registration_id LIMIT ? OFFSET ?
      """, .app(app), .text(name), .text(registrationID), .integer(limit), .integer(offset)
    ) {
      TestDeviceRow(
        registrationID: $0.text("registration_id"), name: $0.text("name"), createdAt: $0.time("created_at"))
    }
    return (total ?? 0, rows)
  }
}

extension TestDeviceRepository<Writing> {
  /// Adds a device for tests, unless it is there or the app has `limit` others.
  package func add(
    app: AppID, _ registrationID: String, name: String, limit: Int, at now: Timestamp
  ) throws(StorageError) -> Addition {
    if try contains(registrationID, app: app) { return .exists }
    let count = try database.first("SELECT count(*) FROM test_device WHERE app_id = ?", .app(app)) {
      $0.count()
    }
    guard count ?? 0 < limit else { return .full }
    try database.run(
      "INSERT INTO test_device (app_id, registration_id, name, created_at) VALUES (?, ?, ?, ?)", .app(app),
      .text(registrationID), .text(name), .time(now))
    return .added
  }

  /// Renames a device for tests; false if it is not there.
  package func rename(app: AppID, _ registrationID: String, name: String) throws(StorageError)
    -> Bool
  {
    try database.run(
      "UPDATE test_device SET name = ? WHERE app_id = ? AND registration_id = ?", .text(name), .app(app),
      .text(registrationID))
    return database.changes > 0
  }

  /// Removes a device for tests; that it is not there is no failure.
  package func remove(app: AppID, _ registrationID: String) throws(StorageError) {
    try database.run(
      "DELETE FROM test_device WHERE app_id = ? AND registration_id = ?", .app(app), .text(registrationID))
  }
}
