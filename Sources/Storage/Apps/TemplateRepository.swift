import BorealisBase

/// A template: what pushes say that name it, kept under a name of the app's.
package struct TemplateRow: Sendable, Equatable {
  /// Its number, by which pushes name it.
  package let id: Int64
  /// What people call it; no other template of the app has the same name.
  package let name: String
  /// What it says, as JSON.
  package var body: [UInt8]
  /// When it was made.
  package let createdAt: Timestamp
  /// When name or texts were changed last.
  package let changedAt: Timestamp
}

/// Templates of apps.
package struct TemplateRepository<Access>: Repository {
  let database: Database
}

extension TemplateRepository {
  private static var select: StaticString {
    "SELECT id, name, body, created_at, changed_at FROM template"
  }

  /// An app's templates, by name.
  package func list(app: AppID) throws(StorageError) -> [TemplateRow] {
    let rows = try database.all(Self.select, "WHERE app_id = ? ORDER BY name", .app(app), map: Self.template)
    return try rows.map { (row) throws(StorageError) in try opened(row, app) }
  }

  /// A template of an app; nil if it has none of the number.
  package func find(_ id: Int64, app: AppID) throws(StorageError) -> TemplateRow? {
    let row = try database.first(
      Self.select, "WHERE id = ? AND app_id = ?", .integer(id), .app(app), map: Self.template)
    return try row.map { (row) throws(StorageError) in try opened(row, app) }
  }

  /// The app's schedules that will still push with a template, at most `limit`, and how many there are.
  package func uses(
    of id: Int64, app: AppID, at now: Timestamp, limit: Int
  ) throws(StorageError) -> (some: [NamedUse], count: Int) {
    let uses: [NamedUse] = try database.all(
      """
      SELECT name FROM schedule
      WHERE template = ? AND app_id = ? AND next_local IS NOT NULL
        AND (enabled = 1 OR last_at > ? OR approval = 1)
      ORDER BY id
      """, .integer(id), .app(app), .time(now)
    ) { .schedule($0.text()) }
    return (Array(uses.prefix(limit)), uses.count)
  }

  private func isTaken(_ name: String, app: AppID, byOtherThan id: Int64) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM template WHERE app_id = ? AND name = ? AND id <> ?", .app(app), .text(name), .integer(id)
    ) { _ in true } == true
  }

  private func opened(_ row: TemplateRow, _ app: AppID) throws(StorageError) -> TemplateRow {
    var row = row
    row.body = try database.opened(row.body, of: app, .template)
    return row
  }

  private static func template(_ row: Row) -> TemplateRow {
    TemplateRow(
      id: row.integer("id"), name: row.text("name"), body: row.blob("body"),
      createdAt: row.time("created_at"), changedAt: row.time("changed_at"))
  }
}

extension TemplateRepository<Writing> {
  /// Adds a template, unless the app has one of that name or `limit` others.
  package func add(
    app: AppID, name: String, body: [UInt8], limit: Int, at now: Timestamp
  ) throws(StorageError) -> NamedStorage<TemplateRow> {
    if try isTaken(name, app: app, byOtherThan: 0) { return .nameTaken }
    let count = try database.first("SELECT count(*) FROM template WHERE app_id = ?", .app(app)) { $0.count() }
    guard count ?? 0 < limit else { return .full }
    let id = try database.insert(
      "INSERT INTO template (app_id, name, body, created_at, changed_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
      .app(app), .text(name), .blob(try database.stored(body, of: app, .template)), .time(now), .time(now))
    return try find(id, app: app).map { .stored($0) } ?? .unknown
  }

  /// Changes name and texts of a template.
  package func change(
    _ id: Int64, app: AppID, name: String, body: [UInt8], at now: Timestamp
  ) throws(StorageError) -> NamedStorage<TemplateRow> {
    if try isTaken(name, app: app, byOtherThan: id) { return .nameTaken }
    try database.run(
      "UPDATE template SET name = ?, body = ?, changed_at = ? WHERE id = ? AND app_id = ?", .text(name),
      .blob(try database.stored(body, of: app, .template)), .time(now), .integer(id), .app(app))
    return try find(id, app: app).map { .stored($0) } ?? .unknown
  }

  /// Deletes a template, unless a schedule will still push with it. Schedules that are over forget it.
  package func delete(_ id: Int64, app: AppID, at now: Timestamp) throws(StorageError) -> NamedDeletion<
    TemplateRow
  > {
    guard let row = try find(id, app: app) else { return .unknown }
    let uses = try uses(of: id, app: app, at: now, limit: 5)
    guard uses.count == 0 else { return .inUse(uses.some, count: uses.count) }
    try database.run(
      "UPDATE schedule SET template = NULL WHERE template = ? AND app_id = ?", .integer(id), .app(app))
    try database.run("DELETE FROM template WHERE id = ? AND app_id = ?", .integer(id), .app(app))
    return .deleted(row)
  }
}
