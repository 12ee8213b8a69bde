import CLinux
import CSQLite

/// What the disk and SQLite can do: the floor for accepted pushes.
enum SQLiteBenchmark {
  static let single = "SQLite, WAL with full sync, one row a commit"
  static let batched = "SQLite, WAL with full sync, 100 rows a commit"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let folder = try environment.workspace.folder("sqlite")
    for (metric, rows) in [(single, 1), (batched, 100)] {
      let database = try SQLiteFile("\(folder)/\(rows).sqlite")
      try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      try database.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT")
      let insert = try database.prepare("INSERT INTO message (content) VALUES (?)")
      let content = [UInt8](repeating: 120, count: 200)
      let start = cl_monotonic_ns()
      let end = start + UInt64(environment.options.seconds) * 1_000_000_000
      var count = 0
      while cl_monotonic_ns() < end {
        if rows > 1 { try database.execute("BEGIN") }
        for _ in 0..<rows { try insert.run(.bytes(content)) }
        if rows > 1 { try database.execute("COMMIT") }
        count += rows
      }
      report.add(metric, "sqlite", Double(count) / (Double(cl_monotonic_ns() - start) / 1e9), "rows/s")
    }
  }
}
