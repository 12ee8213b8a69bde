import PushTesting
import Testing

@testable import Storage

/// The SQL of the repositories, which two databases read.
@Suite struct SQLTextTests {
  @Test(arguments: [
    (
      "SELECT a FROM t {sqlite INDEXED BY i} WHERE b = {bytes ff} AND c = {bytes}",
      "SELECT a FROM t INDEXED BY i WHERE b = x'ff' AND c = x''",
      "SELECT a FROM t  WHERE b = '\\xff'::bytea AND c = '\\x'::bytea"
    ),
    ("SELECT a FROM s {sqlite CROSS} JOIN t", "SELECT a FROM s CROSS JOIN t", "SELECT a FROM s  JOIN t"),
    (
      "b {sqlite GLOB 'x*'}{postgres LIKE 'x%'} AND c", "b GLOB 'x*' AND c", "b LIKE 'x%' AND c"
    ),
  ])
  func `Each database gets its own words`(sql: String, sqlite: String, postgres: String) throws {
    #expect(try SQLText.expand(sql, for: .sqlite) == sqlite)
    #expect(try SQLText.expand(sql, for: .postgres) == postgres)
  }

  @Test(arguments: ["SELECT {own push.app_id}", "SELECT {unknown}", "SELECT {"])
  func `A placeholder that is not replaced is an error`(sql: String) throws {
    let folder = TemporaryFolder()
    let database = try Database(path: folder.database, mode: .create)
    #expect(throws: StorageError.self) { try database.prepare(sql) }
  }

  @Test(arguments: [
    ("SELECT a FROM t WHERE b = ?2 AND c = ?1", "SELECT a FROM t WHERE b = $2 AND c = $1"),
    ("INSERT INTO t VALUES (?, ?, 3)", "INSERT INTO t VALUES ($1, $2, 3)"),
    ("SELECT '?, x'' --', ? -- ?'\nFROM t, ?", "SELECT '?, x'' --', $1 -- ?'\nFROM t, $2"),
  ])
  func `PostgreSQL numbers all parameters`(sql: String, expected: String) {
    #expect(SQLText.numberParameters(of: sql.utf8) == expected)
  }
}
