import BorealisBase

/// A segment: a condition for devices that an app keeps under a name.
package struct SegmentRow: Sendable, Equatable {
  /// Its number, by which pushes name it.
  package let id: Int64
  /// What people call it; no other segment of the app has the same name.
  package let name: String
  /// The condition as JSON.
  package let condition: [UInt8]
  /// When it was made.
  package let createdAt: Timestamp
  /// When name or condition were changed last.
  package let changedAt: Timestamp
}

/// Segments of apps.
package struct SegmentRepository<Access>: Repository {
  let database: Database
}

extension SegmentRepository {
  private static var select: StaticString {
    "SELECT id, name, condition, created_at, changed_at FROM segment"
  }

  /// An app's segments, by name.
  package func list(app: AppID) throws(StorageError) -> [SegmentRow] {
    try database.all(Self.select, "WHERE app_id = ? ORDER BY name", .app(app), map: Self.segment)
  }

  /// A segment of an app; nil if it has none of the number.
  package func find(_ id: Int64, app: AppID) throws(StorageError) -> SegmentRow? {
    try database.first(Self.select, "WHERE id = ? AND app_id = ?", .integer(id), .app(app), map: Self.segment)
  }

  /// The app's schedules that will still push to a segment, and its A/B tests for it, at most `limit`, and
  /// how many there are.
  package func uses(
    of id: Int64, app: AppID, at now: Timestamp, limit: Int
  ) throws(StorageError) -> (some: [NamedUse], count: Int) {
    var uses: [NamedUse] = try database.all(
      """
      SELECT name FROM schedule
      WHERE segment = ? AND app_id = ? AND next_local IS NOT NULL
        AND (enabled = 1 OR last_at > ? OR approval = 1)
      ORDER BY id
      """, .integer(id), .app(app), .time(now)
    ) { .schedule($0.text()) }
    uses += try database.all(
      "SELECT name FROM abtest WHERE segment = ? AND app_id = ? ORDER BY id", .integer(id), .app(app)
    ) { .abTest($0.text()) }
    return (Array(uses.prefix(limit)), uses.count)
  }

  private func isTaken(_ name: String, app: AppID, byOtherThan id: Int64) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM segment WHERE app_id = ? AND name = ? AND id <> ?", .app(app), .text(name), .integer(id)
    ) { _ in true } == true
  }

  private static func segment(_ row: Row) -> SegmentRow {
    SegmentRow(
      id: row.integer("id"), name: row.text("name"), condition: row.blob("condition"),
      createdAt: row.time("created_at"), changedAt: row.time("changed_at"))
  }
}

extension SegmentRepository<Writing> {
  /// Adds a segment, unless the app has one of that name or `limit` others.
  package func add(
    app: AppID, name: String, condition: [UInt8], limit: Int, at now: Timestamp
  ) throws(StorageError) -> NamedStorage<SegmentRow> {
    if try isTaken(name, app: app, byOtherThan: 0) { return .nameTaken }
    let count = try database.first("SELECT count(*) FROM segment WHERE app_id = ?", .app(app)) { $0.count() }
    guard count ?? 0 < limit else { return .full }
    let id = try database.insert(
      "INSERT INTO segment (app_id, name, condition, created_at, changed_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
      .app(app), .text(name), .blob(condition), .time(now), .time(now))
    return try find(id, app: app).map { .stored($0) } ?? .unknown
  }

  /// Changes name and condition of a segment.
  package func change(
    _ id: Int64, app: AppID, name: String, condition: [UInt8], at now: Timestamp
  ) throws(StorageError) -> NamedStorage<SegmentRow> {
    if try isTaken(name, app: app, byOtherThan: id) { return .nameTaken }
    try database.run(
      "UPDATE segment SET name = ?, condition = ?, changed_at = ? WHERE id = ? AND app_id = ?", .text(name),
      .blob(condition), .time(now), .integer(id), .app(app))
    return try find(id, app: app).map { .stored($0) } ?? .unknown
  }

  /// Deletes a segment, unless a schedule will still push to it. Schedules that are over forget it.
  package func delete(_ id: Int64, app: AppID, at now: Timestamp) throws(StorageError) -> NamedDeletion<
    SegmentRow
  > {
    guard let row = try find(id, app: app) else { return .unknown }
    let uses = try uses(of: id, app: app, at: now, limit: 5)
    guard uses.count == 0 else { return .inUse(uses.some, count: uses.count) }
    try database.run(
      "UPDATE schedule SET segment = NULL WHERE segment = ? AND app_id = ?", .integer(id), .app(app))
    try database.run("DELETE FROM segment WHERE id = ? AND app_id = ?", .integer(id), .app(app))
    return .deleted(row)
  }
}
