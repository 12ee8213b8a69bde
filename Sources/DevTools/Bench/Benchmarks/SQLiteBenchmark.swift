import CLinux
import CSQLite
import Glibc

/// What the disk and SQLite can do: the floor for accepted pushes.
enum SQLiteBenchmark {
  static let single = "SQLite, WAL with full sync, one row a commit"
  static let batched = "SQLite, WAL with full sync, 100 rows a commit"

  static let paced = "SQLite, WAL with full sync, one row a commit at 1,000/s"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let folder = try environment.workspace.folder("sqlite")
    let content = [UInt8](repeating: 120, count: 200)
    for (metric, rows) in [(single, 1), (batched, 100)] {
      let (database, insert) = try open("\(folder)/\(rows).sqlite")
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
    try measurePaced("\(folder)/paced.sqlite", content, environment.options.seconds, report)
  }

  private static func open(_ path: String) throws(BenchError) -> (BenchDatabase, BenchStatement) {
    let database = try BenchDatabase(path)
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    try database.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT")
    return (database, try database.prepare("INSERT INTO message (content) VALUES (?)"))
  }

  /// The time of a commit when the disk rests before each: what a push that meets no other has to wait for.
  private static func measurePaced(
    _ path: String, _ content: [UInt8], _ seconds: Int, _ report: Report
  ) throws(BenchError) {
    let (_, insert) = try open(path)
    var durations = Latencies()
    let start = cl_monotonic_ns()
    for number in 0..<UInt64(seconds * 1000) {
      let due = start + number * 1_000_000
      let now = cl_monotonic_ns()
      if now < due { usleep(UInt32((due - now) / 1000)) }
      let begin = cl_monotonic_ns()
      try insert.run(.bytes(content))
      durations.add(cl_monotonic_ns() - begin)
    }
    report.add("\(paced), p50", "sqlite", durations.percentile(0.5), "us")
    report.add("\(paced), p99", "sqlite", durations.percentile(0.99), "us")
  }
}
