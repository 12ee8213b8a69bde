import Glibc
import PushBase

extension Store {
  /// What `check` found.
  public struct CheckReport: Sendable, Equatable {
    /// Newest applied migration.
    public var schemaVersion = 0
    /// One sentence each; empty for a sound database.
    public var problems: [String] = []
  }

  /// Copies the database as it is now to a new file while the store goes on serving. Blocks the calling thread, so
  /// never call it on an event loop. Meanwhile the write-ahead log cannot be reused. `.io` if the target exists.
  public func backup(to target: String) throws(StorageError) { try Self.backup(from: path, to: target) }

  /// Copies a database that this or another process may be serving. The copy is one file that only its owner may
  /// read; it exists under its name only if the copy is complete and sound.
  public static func backup(from path: String, to target: String) throws(StorageError) {
    let source = try Database(path: path, mode: .readOnly)
    // An open read transaction pins one state: else every commit would make the copy start again.
    try source.run("BEGIN")
    _ = try source.first("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }
    let partial = target + ".partial"
    guard access(target, F_OK) != 0 else { throw StorageError(.io, "the target exists") }
    try fill(partial, from: source)
    // Unlike rename, link never replaces a file that appeared meanwhile.
    guard link(partial, target) == 0 else {
      unlink(partial)
      throw StorageError(.io, "the target exists or cannot be created")
    }
    unlink(partial)
    try synchronizeFolder(of: target)
  }

  private static func fill(_ partial: String, from source: Database) throws(StorageError) {
    let copy = try Database(path: partial, mode: .copy)
    do throws(StorageError) {
      try source.copy(to: copy, pages: 256)
      // One file is easier to carry away than a database with its log; the next start turns the log on again.
      try copy.run(script: "PRAGMA journal_mode = DELETE")
      guard try copy.first("PRAGMA quick_check(1)", map: { $0.text(0) }) == "ok" else {
        throw StorageError(.corrupt, "the copy is damaged, and so may be the database")
      }
    } catch {
      unlink(partial)
      throw error
    }
  }

  /// Looks for damage: the file's structure, changed migrations, rows that refer to nothing. Changes nothing and works
  /// beside a running server. Throws only if the file cannot be opened or read.
  public static func check(path: String) throws(StorageError) -> CheckReport {
    let database = try Database(path: path, mode: .readOnly)
    var report = CheckReport()
    do throws(StorageError) {
      report.problems = try database.all("PRAGMA quick_check(20)") { $0.text(0) }.filter { $0 != "ok" }
    } catch {
      // Some damage keeps SQLite from even looking further.
      guard error.kind == .corrupt else { throw error }
      report.problems.append(error.message)
    }
    guard report.problems.isEmpty else { return report }
    do throws(StorageError) {
      report.schemaVersion = try Migrator.verify(database, against: embeddedMigrations)
    } catch {
      report.problems.append(error.message)
      return report
    }
    // Older schemas may lack what the queries name; a start brings them up to date first.
    guard report.schemaVersion == embeddedMigrations.count else { return report }
    for (count, text) in try orphans(database) where count > 0 { report.problems.append("\(count) \(text)") }
    return report
  }

  private static func orphans(_ database: Database) throws(StorageError) -> [(Int64, String)] {
    func count(_ sql: StaticString) throws(StorageError) -> Int64 {
      try database.first(sql) { $0.integer(0) } ?? 0
    }
    return [
      (
        try count("SELECT count(*) FROM pragma_foreign_key_check"), "rows refer to an app that does not exist"
      ),
      (
        try count("SELECT count(*) FROM pending WHERE msg_id NOT IN (SELECT msg_id FROM push)"),
        "pending rows without their push"
      ),
      (
        try count("SELECT count(*) FROM delivered WHERE msg_id NOT IN (SELECT msg_id FROM push)"),
        "delivered sets without their push"
      ),
      (
        try count("SELECT count(*) FROM push WHERE app_id NOT IN (SELECT id FROM app)"),
        "pushes of apps that do not exist"
      ),
      (
        try count(
          "SELECT count(*) FROM registration JOIN app ON app.id = app_id WHERE number >= next_number"),
        "registrations with a number that was never given"
      ),
    ]
  }

  /// A new name is safe on disk only once its folder is.
  private static func synchronizeFolder(of path: String) throws(StorageError) {
    let end = path.lastIndex(of: "/")
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(.io, "cannot open the target's folder") }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError(.io, "cannot sync the target's folder") }
  }
}
