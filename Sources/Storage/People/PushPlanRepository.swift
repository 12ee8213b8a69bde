import BorealisBase

/// What came of adding something that is bounded in number.
package enum Addition: Sendable, Equatable {
  /// It is there now.
  case added
  /// It was there already.
  case exists
  /// There are as many as allowed.
  case full
}

/// Push plans: names under which an app counts its pushes.
package struct PushPlanRepository<Access>: Repository {
  let database: Database
}

extension PushPlanRepository {
  /// An app's push plans whose names contain a text, the newest first, and how many there are in all of them.
  package func list(
    app: AppID, containing text: String, limit: Int, offset: Int
  ) throws(StorageError) -> (total: Int, rows: [PushPlanRow]) {
    let total = try database.first(
      "SELECT count(*) FROM push_plan WHERE app_id = ? AND instr(name, ?) > 0", .app(app), .text(text)
    ) { $0.count() }
    let rows = try database.all(
      """
      SELECT name, description, push_count, created_at, last_used_at FROM push_plan
      WHERE app_id = ? AND instr(name, ?) > 0 ORDER BY created_at DESC, name LIMIT ? OFFSET ?
      """, .app(app), .text(text), .integer(limit), .integer(offset)
    ) {
      PushPlanRow(
        name: $0.text("name"), description: $0.text("description"), pushCount: $0.integer("push_count"),
        createdAt: $0.time("created_at"),
        lastUsedAt: $0.optionalTime("last_used_at"))
    }
    return (total ?? 0, rows)
  }

  /// Whether an app has a push plan of a name.
  package func contains(app: AppID, name: String) throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM push_plan WHERE app_id = ? AND name = ?", .app(app), .text(name)) { _ in
      true
    } ?? false
  }
}

extension PushPlanRepository<Writing> {
  /// Adds a push plan, unless the app has one of that name or `limit` others.
  package func add(
    app: AppID, name: String, description: String, limit: Int, at now: Timestamp
  ) throws(StorageError) -> Addition {
    if try contains(app: app, name: name) { return .exists }
    let count = try database.first("SELECT count(*) FROM push_plan WHERE app_id = ?", .app(app)) {
      $0.count()
    }
    guard count ?? 0 < limit else { return .full }
    try database.run(
      "INSERT INTO push_plan (app_id, name, description, created_at) VALUES (?, ?, ?, ?)", .app(app),
      .text(name), .text(description), .time(now))
    return .added
  }

  /// Changes the description of a push plan; false if the app has none of that name.
  package func describe(
    app: AppID, name: String, description: String
  ) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE push_plan SET description = ? WHERE app_id = ? AND name = ?", .text(description), .app(app),
      .text(name))
    return database.changes > 0
  }

  /// Counts a push under a plan; false if the app has none of that name.
  package func count(app: AppID, plan: String, at now: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE push_plan SET push_count = push_count + 1, last_used_at = ? WHERE app_id = ? AND name = ?",
      .time(now), .app(app), .text(plan))
    return database.changes > 0
  }
}
