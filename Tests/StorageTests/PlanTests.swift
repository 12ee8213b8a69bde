import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// What each statement of the store reads, in an app with a million registrations and in a new database: the
/// writer, and whoever waits for it, cannot afford one that reads a table that grows.
@Suite struct PlanTests {
  /// Whose rows a statement goes over: everybody's, one app's, those of a home of some apps.
  private static let rows: [AppRows] = [.all, .of(AppID(1)), AppRows(kind: .home(1))]

  @Test func `All SQL is found in the sources`() throws {
    let statements = try SourceStatements()
    #expect(statements.all.count > 500)
    #expect(statements.unknown.isEmpty, "\(statements.unknown)")
    for one in statements.composed {
      #expect(PlanRules.composed[one.file] != nil, "\(one.file): \(one.sql)")
    }
  }

  @Test func `Each exception is of a statement that is there`() throws {
    let statements = try SourceStatements().all.map(\.words)
    for (words, _) in PlanRules.allowed + PlanRules.allowedForAMinute {
      #expect(statements.contains { $0.contains(words) }, "\(words)")
    }
  }

  @Test(arguments: [false, true])
  func `SQLite finds what it needs`(hasStatistics: Bool) throws {
    let folder = TemporaryFolder()
    let file = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(file, to: embeddedMigrations, at: .start)
    let tables = Set(
      try file.all("SELECT name FROM sqlite_schema WHERE type = 'table'") { $0.text() })
    if hasStatistics { try PretendedRows.add(to: file) }
    let check = PlanCheck(allowed: PlanRules.allowed)
    for statement in try SourceStatements().all where !PlanRules.isOfPostgres(statement.sql) {
      do {
        let plan = try file.queryPlan(of: statement.sql)
        check.note(statement, plan, PlanRules.sqliteFaults(in: plan, of: statement.sql, tables))
      } catch { Issue.record("\(statement.file): \(statement.sql): \(error)") }
    }
  }

  @Test(arguments: [false, true])
  func `PostgreSQL finds what it needs`(hasStatistics: Bool) throws {
    let cluster = try PostgresCluster.shared()
    let name = try cluster.make()
    try PretendedRows.add(to: cluster, name, isAnalyzed: hasStatistics)
    let session = try PostgresSession(cluster, in: name)
    defer { session.close() }
    let names = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    let tables = Set(try session.sql(names).map { $0[0] })
    let check = PlanCheck(allowed: PlanRules.allowed + (hasStatistics ? [] : PlanRules.allowedForAMinute))
    for statement in try SourceStatements().all where !PlanRules.isOfSQLite(statement.sql) {
      // As long as nothing is known of its rows, a table is small, and a list or a step of a sweep may read
      // it as a whole.
      guard hasStatistics || !statement.sql.contains("LIMIT") else { continue }
      for rows in Self.rows where rows.isAll || statement.sql.contains("{own") {
        do {
          let sql = try SQLText.expand(statement.sql, for: .postgres, in: rows)
          let plan = try session.plan(of: SQLText.numberParameters(of: sql.utf8))
          check.note(statement, plan, PlanRules.postgresFaults(in: plan, of: statement.sql, tables))
        } catch { Issue.record("\(statement.file): \(statement.sql): \(error)") }
      }
    }
  }
}

extension PostgresSession {
  /// The lines in which PostgreSQL says how it goes about a statement: whatever its parameters are, or in an
  /// app that has everything, for a few rows, if that is what it is asked for. For such statements it makes a
  /// plan of their own each time.
  fileprivate func plan(of sql: String) throws -> [String] {
    let isLimited = sql.contains(/(?:LIMIT|OFFSET) \$/)
    try self.sql(
      "SET plan_cache_mode = force_\(isLimited ? "custom" : "generic")_plan")
    do { try self.sql("PREPARE explained AS \(sql)") } catch {
      // It may be told one type by one place, and another by the next. The program says what it gives.
      let count = sql.matches(of: /\$\d/).count
      let types = Array(repeating: "bigint", count: count).joined(separator: ", ")
      try self.sql("PREPARE explained (\(types)) AS \(sql)")
    }
    defer { _ = try? self.sql("DEALLOCATE explained") }
    let count = try self.sql("SELECT cardinality(parameter_types) FROM pg_prepared_statements")[0][0]
    let values = (0..<(Int(count) ?? 0)).map { index in
      guard isLimited else { return "NULL" }
      let words = sql.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "$" }
      guard let place = words.firstIndex(of: "$\(index + 1)"), place > 0 else { return "'1000'" }
      return switch words[place - 1] {
      case "app_id": "1"
      case "LIMIT", "OFFSET": "100"
      default: "'1000'"
      }
    }
    let list = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
    return try self.sql("EXPLAIN (COSTS off) EXECUTE explained\(list)").map { $0[0] }
  }
}

/// Faults of plans, but for those that are allowed.
struct PlanCheck {
  let allowed: [(words: String, reason: String)]

  func note(_ statement: SourceStatement, _ plan: [String], _ faults: [String]) {
    guard !faults.isEmpty else { return }
    let words = statement.words
    guard PlanRules.offline[statement.file] == nil else { return }
    #expect(
      allowed.contains { words.contains($0.words) },
      """
      \(statement.file): \(words)
        reads too much: \(faults.joined(separator: "; "))
        plan: \(plan.joined(separator: "\n        "))
      """)
  }
}
