import BorealisBase

/// An A/B test, kept under a name of the app's.
package struct ABTestRow: Sendable, Equatable {
  /// Its number, by which pushes name it.
  package let id: Int64
  /// What people call it; no other test of the app has the same name.
  package let name: String
  /// What is compared among whom, as JSON.
  package var body: [UInt8]
  /// The segment that its audience names; nil for none.
  package let segment: Int64?
  /// When it was made.
  package let createdAt: Timestamp
  /// When it was changed last.
  package let changedAt: Timestamp
}

/// A/B tests of apps.
package struct ABTestRepository<Access>: Repository {
  let database: Database
}

extension ABTestRepository {
  private static var select: StaticString {
    "SELECT id, name, body, segment, created_at, changed_at FROM abtest"
  }

  /// An app's tests, by name.
  package func list(app: AppID) throws(StorageError) -> [ABTestRow] {
    let rows = try database.all(Self.select, "WHERE app_id = ? ORDER BY name", .app(app), map: Self.test)
    return try rows.map { (row) throws(StorageError) in try opened(row, app) }
  }

  /// A test of an app; nil if it has none of the number.
  package func find(_ id: Int64, app: AppID) throws(StorageError) -> ABTestRow? {
    let row = try database.first(
      Self.select, "WHERE id = ? AND app_id = ?", .integer(id), .app(app), map: Self.test)
    return try row.map { (row) throws(StorageError) in try opened(row, app) }
  }

  /// Its run and the app's schedules that will still push to it, at most `limit`, and how many there are.
  package func uses(
    of id: Int64, app: AppID, at now: Timestamp, limit: Int
  ) throws(StorageError) -> (some: [NamedUse], count: Int) {
    var uses: [NamedUse] = try transaction.abTestRuns.isOpen(test: id, app: app) ? [.run] : []
    uses += try database.all(
      """
      SELECT name FROM schedule
      WHERE abtest = ? AND app_id = ? AND next_local IS NOT NULL
        AND (enabled = 1 OR last_at > ? OR approval = 1)
      ORDER BY id
      """, .integer(id), .app(app), .time(now)
    ) { .schedule($0.text()) }
    return (Array(uses.prefix(limit)), uses.count)
  }

  private func isTaken(_ name: String, app: AppID, byOtherThan id: Int64) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM abtest WHERE app_id = ? AND name = ? AND id <> ?", .app(app), .text(name), .integer(id)
    ) { _ in true } == true
  }

  private func opened(_ row: ABTestRow, _ app: AppID) throws(StorageError) -> ABTestRow {
    var row = row
    row.body = try database.opened(row.body, of: app, .abTest)
    return row
  }

  private static func test(_ row: Row) -> ABTestRow {
    ABTestRow(
      id: row.integer("id"), name: row.text("name"), body: row.blob("body"),
      segment: row.optionalInteger("segment"), createdAt: row.time("created_at"),
      changedAt: row.time("changed_at"))
  }
}

extension ABTestRepository<Writing> {
  /// What a test is to be.
  package struct Draft: Sendable {
    let name: String
    let body: [UInt8]
    let segment: Int64?

    /// `segment` is the one that the audience names.
    package init(name: String, body: [UInt8], segment: Int64?) {
      (self.name, self.body, self.segment) = (name, body, segment)
    }
  }

  /// Adds a test, unless the app has one of that name or `limit` others.
  package func add(
    _ draft: Draft, app: AppID, limit: Int, at now: Timestamp
  ) throws(StorageError) -> NamedStorage<ABTestRow> {
    if try isTaken(draft.name, app: app, byOtherThan: 0) { return .nameTaken }
    let count = try database.first("SELECT count(*) FROM abtest WHERE app_id = ?", .app(app)) { $0.count() }
    guard count ?? 0 < limit else { return .full }
    let id = try database.insert(
      """
      INSERT INTO abtest (app_id, name, body, segment, created_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)
      RETURNING id
      """, .app(app), .text(draft.name), .blob(try database.stored(draft.body, of: app, .abTest)),
      .optional(draft.segment), .time(now), .time(now))
    return try find(id, app: app).map { .stored($0) } ?? .unknown
  }

  /// Changes a test.
  package func change(
    _ id: Int64, app: AppID, to draft: Draft, at now: Timestamp
  ) throws(StorageError) -> NamedStorage<ABTestRow> {
    if try isTaken(draft.name, app: app, byOtherThan: id) { return .nameTaken }
    try database.run(
      "UPDATE abtest SET name = ?, body = ?, segment = ?, changed_at = ? WHERE id = ? AND app_id = ?",
      .text(draft.name), .blob(try database.stored(draft.body, of: app, .abTest)), .optional(draft.segment),
      .time(now), .integer(id), .app(app))
    return try find(id, app: app).map { .stored($0) } ?? .unknown
  }

  /// Deletes a test and what is known of its runs, unless it runs or a schedule will still push to it.
  /// Schedules that are over forget it.
  package func delete(_ id: Int64, app: AppID, at now: Timestamp) throws(StorageError) -> NamedDeletion<
    ABTestRow
  > {
    guard let row = try find(id, app: app) else { return .unknown }
    let uses = try uses(of: id, app: app, at: now, limit: 5)
    guard uses.count == 0 else { return .inUse(uses.some, count: uses.count) }
    try database.run(
      "UPDATE schedule SET abtest = NULL WHERE abtest = ? AND app_id = ?", .integer(id), .app(app))
    try database.run("DELETE FROM abtest WHERE id = ? AND app_id = ?", .integer(id), .app(app))
    return .deleted(row)
  }
}
