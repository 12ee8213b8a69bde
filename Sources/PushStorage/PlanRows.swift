import PushBase

/// A push plan: a name that pushes are counted under.
public struct PushPlanRow: Sendable, Equatable {
  /// Its name, unique within the app.
  public var name: String
  /// For people.
  public var description: String
  /// How many pushes have named it.
  public var pushCount: Int64
  /// When it was made.
  public var createdAt: Timestamp
  /// When a push last named it; nil if none has.
  public var lastUsedAt: Timestamp?
}

/// A device that pushes for tests may go to.
public struct TestDeviceRow: Sendable, Equatable {
  /// Which device.
  public var registrationID: String
  /// For people.
  public var name: String
  /// When it was added.
  public var createdAt: Timestamp
}

extension ReadTransaction {
  /// An app's push plans whose names contain a text, the newest first, and how many there are in all of them.
  public func pushPlans(
    app: AppID, containing text: String, limit: Int, offset: Int
  ) throws(StorageError) -> (total: Int, rows: [PushPlanRow]) {
    let total = try database.first(
      "SELECT count(*) FROM push_plan WHERE app_id = ? AND instr(name, ?) > 0", .app(app), .text(text)
    ) { Int($0.integer(0)) }
    let rows = try database.all(
      """
      SELECT name, description, push_count, created_at, last_used_at FROM push_plan
      WHERE app_id = ? AND instr(name, ?) > 0 ORDER BY created_at DESC, name LIMIT ? OFFSET ?
      """, .app(app), .text(text), .integer(limit), .integer(offset)
    ) {
      PushPlanRow(
        name: $0.text(0), description: $0.text(1), pushCount: $0.integer(2), createdAt: $0.time(3),
        lastUsedAt: $0.optionalInteger(4).map { Timestamp(milliseconds: $0) })
    }
    return (total ?? 0, rows)
  }

  /// Whether an app has a push plan of a name.
  public func hasPushPlan(app: AppID, name: String) throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM push_plan WHERE app_id = ? AND name = ?", .app(app), .text(name)) { _ in
      true
    } ?? false
  }

  /// An app's devices for tests whose names and registration IDs contain texts, in order of their registration IDs, and
  /// how many there are in all of them.
  public func testDevices(
    app: AppID, name: String = "", registrationID: String = "", limit: Int, offset: Int = 0
  ) throws(StorageError) -> (total: Int, rows: [TestDeviceRow]) {
    let total = try database.first(
      """
      SELECT count(*) FROM test_device WHERE app_id = ? AND instr(name, ?) > 0 AND instr(registration_id, ?) > 0
      """, .app(app), .text(name), .text(registrationID)
    ) { Int($0.integer(0)) }
    let rows = try database.all(
      """
      SELECT registration_id, name, created_at FROM test_device
      WHERE app_id = ? AND instr(name, ?) > 0 AND instr(registration_id, ?) > 0
      ORDER BY registration_id LIMIT ? OFFSET ?
      """, .app(app), .text(name), .text(registrationID), .integer(limit), .integer(offset)
    ) { TestDeviceRow(registrationID: $0.text(0), name: $0.text(1), createdAt: $0.time(2)) }
    return (total ?? 0, rows)
  }
}

extension WriteTransaction {
  /// What came of adding something that is bounded in number.
  public enum Addition: Sendable, Equatable {
    /// It is there now.
    case added
    /// It was there already.
    case exists
    /// There are as many as allowed.
    case full
  }

  /// Adds a push plan, unless the app has one of that name or `limit` others.
  public func addPushPlan(
    app: AppID, name: String, description: String, limit: Int, at now: Timestamp
  ) throws(StorageError) -> Addition {
    if try reading.hasPushPlan(app: app, name: name) { return .exists }
    let count = try database.first("SELECT count(*) FROM push_plan WHERE app_id = ?", .app(app)) {
      Int($0.integer(0))
    }
    guard count ?? 0 < limit else { return .full }
    try database.run(
      "INSERT INTO push_plan (app_id, name, description, created_at) VALUES (?, ?, ?, ?)", .app(app),
      .text(name), .text(description), .time(now))
    return .added
  }

  /// Changes the description of a push plan; false if the app has none of that name.
  public func describePushPlan(
    app: AppID, name: String, description: String
  ) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE push_plan SET description = ? WHERE app_id = ? AND name = ?", .text(description), .app(app),
      .text(name))
    return database.changes > 0
  }

  /// Counts a push under a plan; false if the app has none of that name.
  public func countPush(app: AppID, plan: String, at now: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE push_plan SET push_count = push_count + 1, last_used_at = ? WHERE app_id = ? AND name = ?",
      .time(now), .app(app), .text(plan))
    return database.changes > 0
  }

  /// Adds a device for tests, unless it is there or the app has `limit` others.
  public func addTestDevice(
    app: AppID, _ registrationID: String, name: String, limit: Int, at now: Timestamp
  ) throws(StorageError) -> Addition {
    let isThere = try database.first(
      "SELECT 1 FROM test_device WHERE app_id = ? AND registration_id = ?", .app(app), .text(registrationID)
    ) { _ in true }
    if isThere == true { return .exists }
    let count = try database.first("SELECT count(*) FROM test_device WHERE app_id = ?", .app(app)) {
      Int($0.integer(0))
    }
    guard count ?? 0 < limit else { return .full }
    try database.run(
      "INSERT INTO test_device (app_id, registration_id, name, created_at) VALUES (?, ?, ?, ?)", .app(app),
      .text(registrationID), .text(name), .time(now))
    return .added
  }

  /// Renames a device for tests; false if it is not there.
  public func renameTestDevice(app: AppID, _ registrationID: String, name: String) throws(StorageError)
    -> Bool
  {
    try database.run(
      "UPDATE test_device SET name = ? WHERE app_id = ? AND registration_id = ?", .text(name), .app(app),
      .text(registrationID))
    return database.changes > 0
  }

  /// Removes a device for tests; that it is not there is no failure.
  public func removeTestDevice(app: AppID, _ registrationID: String) throws(StorageError) {
    try database.run(
      "DELETE FROM test_device WHERE app_id = ? AND registration_id = ?", .app(app), .text(registrationID))
  }
}
