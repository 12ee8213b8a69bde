import BorealisBase

extension Store {
  /// What `check` found.
  package struct CheckReport: Sendable, Equatable {
    /// Newest applied migration; 0 for a database that no program has made its tables in.
    package var schemaVersion = 0
    /// Whether the tables were compared: those of an older schema are not, nor those of a damaged file.
    package var comparesTables = false
    /// One sentence each; empty for a sound database.
    package var problems: [String] = []
  }

  /// Checks for damage: a file's structure, changed migrations, dangling references, missing rows. `more`
  /// adds checks, which may read contents that are sealed with `secretKeys`. Changes nothing and works while
  /// a server runs, but the log of a file cannot be reused in the meantime. Throws only if the database
  /// cannot be opened or read, or if a newer program wrote it.
  package static func check(
    _ location: Location, secretKeys: SecretKeySource = .none,
    more: (ReadTransaction) throws(StorageError) -> [String] = { _ in [] }
  ) throws(StorageError) -> CheckReport {
    let database = try location.openToRead(isLimited: false)
    database.vault = ContentVault(secretKeys)
    var report = CheckReport()
    do throws(StorageError) {
      if database.sqlite != nil {
        // Unlike `quick_check` it also looks for every row in every index.
        report.problems = try database.all("PRAGMA integrity_check(20)") { $0.text() }.filter { $0 != "ok" }
      }
    } catch {
      // Some damage keeps SQLite from even looking further.
      guard error.kind == .corrupt else { throw error }
      report.problems.append(error.message)
    }
    guard report.problems.isEmpty else { return report }
    // What follows compares tables: all as of one moment, whatever a server commits.
    try database.begin(.reading)
    defer { database.rollBack() }
    guard try isMade(database) else { return report }
    do throws(StorageError) {
      report.schemaVersion = try Migrator.verify(database, against: location.migrations)
    } catch {
      if case .newerThanProgram = error.kind { throw error }
      report.problems.append(error.message)
      return report
    }
    // Older schemas may lack what the queries name; a start brings them up to date first.
    guard report.schemaVersion == location.migrations.count else { return report }
    report.comparesTables = true
    for (count, text) in try LostRows.orphans(database) where count > 0 {
      report.problems.append("\(count) \(text)")
    }
    report.problems += try LostRows.registrations(database)
    report.problems += try LostRows.tags(database)
    report.problems += try more(ReadTransaction(database))
    return report
  }

  private static func isMade(_ database: Database) throws(StorageError) -> Bool {
    let found =
      database.sqlite == nil
      ? try database.first("SELECT to_regclass('schema_migration') IS NOT NULL") { $0.bool() }
      : try database.first("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'") { _ in true }
    return found == true
  }
}

/// Rows that are missing, by what is left of them.
private enum LostRows {
  /// Counts rows, and what it means if there are any.
  private static let checks: [(sql: StaticString, meaning: String)] = [
    (
      "SELECT count(*) FROM pending WHERE NOT EXISTS (SELECT 1 FROM push WHERE push.msg_id = pending.msg_id)",
      "pending rows without their push: these pushes are lost"
    ),
    (
      """
      SELECT count(*) FROM channel_pending
      WHERE NOT EXISTS (SELECT 1 FROM push WHERE push.msg_id = channel_pending.msg_id)
      """, "rows of the queue to a channel without their push: these pushes are lost"
    ),
    (
      "SELECT count(*) FROM delivered WHERE NOT EXISTS (SELECT 1 FROM push WHERE push.msg_id = delivered.msg_id)",
      "delivered sets without their push"
    ),
    (
      """
      SELECT count(*) FROM outcome
      WHERE NOT EXISTS (SELECT 1 FROM push WHERE push.msg_id = outcome.msg_id)
        AND msg_id > (SELECT min(msg_id) FROM (
          SELECT msg_id FROM push EXCEPT SELECT msg_id FROM pending EXCEPT SELECT msg_id FROM channel_pending) AS ended)
        AND at > (SELECT coalesce(max(purged_at), 0) FROM app)
        AND NOT EXISTS (SELECT 1 FROM app WHERE deleted_at IS NOT NULL AND purged_at IS NULL)
      """, "outcomes without their push, although older pushes are kept: these pushes are lost"
    ),
    (
      """
      SELECT count(*) FROM (
        SELECT msg_id FROM pending WHERE acknowledged = 1
        UNION SELECT msg_id FROM outcome
          WHERE acknowledged = 1 AND status <> 1
            AND EXISTS (SELECT 1 FROM push WHERE push.msg_id = outcome.msg_id)) AS acknowledged
      WHERE NOT EXISTS (SELECT 1 FROM delivered WHERE delivered.msg_id = acknowledged.msg_id)
      """, "pushes without the set of those who acknowledged them: it is lost who has them"
    ),
    (
      "SELECT count(*) FROM push WHERE NOT EXISTS (SELECT 1 FROM app WHERE app.id = push.app_id)",
      "pushes of apps that do not exist"
    ),
    (
      "SELECT count(*) FROM registration JOIN app ON app.id = app_id WHERE number >= next_number",
      "registrations with a number that was never given"
    ),
  ]

  static func orphans(_ database: Database) throws(StorageError) -> [(Int64, String)] {
    func count(_ sql: StaticString) throws(StorageError) -> Int64 {
      try database.first(sql) { $0.integer() } ?? 0
    }
    var found: [(Int64, String)] = []
    // PostgreSQL sees to that by itself.
    if database.sqlite != nil {
      found.append(
        (
          try count("SELECT count(*) FROM pragma_foreign_key_check"),
          "rows refer to an app, or a registration, that does not exist"
        ))
    }
    for check in checks { found.append((try count(check.sql), check.meaning)) }
    return found
  }

  static func registrations(_ database: Database) throws(StorageError) -> [String] {
    try database.all(
      """
      SELECT app_key, expected, present FROM (
        SELECT app_key, next_number - given_up AS expected,
          (SELECT count(*) FROM registration WHERE app_id = app.id) AS present
        FROM app WHERE deleted_at IS NULL) AS counted
      WHERE present <> expected
      """
    ) {
      "the app \($0.text("app_key")) has \($0.integer("present")) registrations where there should be \($0.integer("expected")): "
        + "devices are lost"
    }
  }

  /// Whatever number a registration has is the number of a tag. There are gaps, where nobody had a tag any
  /// more.
  static func tags(_ database: Database) throws(StorageError) -> [String] {
    var present: [Int64: Set<UInt32>] = [:]
    try database.statement("SELECT app_id, number FROM tag").each([]) {
      present[$0.integer("app_id"), default: []].insert($0.integer("number", as: UInt32.self))
    }
    var unknown: [Int64: Set<UInt32>] = [:]
    try database.statement("SELECT app_id, tags FROM registration WHERE tags IS NOT NULL").each([]) { row in
      let app = row.integer("app_id")
      for number in TagList.decode(row, "tags") where present[app]?.contains(number) != true {
        unknown[app, default: []].insert(number)
      }
    }
    let lost = unknown.mapValues(\.count)
    guard !lost.isEmpty else { return [] }
    let apps = try database.all("SELECT id, app_key FROM app WHERE deleted_at IS NULL") {
      (id: $0.integer("id"), key: $0.text("app_key"))
    }
    return apps.compactMap { app in
      lost[app.id].map { "the app \(app.key) has lost the names of \($0) tags" }
    }
  }
}
