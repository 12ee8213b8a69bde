import Glibc
import PushBase
import PushTesting
import Testing

@testable import PushStorage

@Suite struct MigratorTests {
  let folder = TemporaryFolder()

  private func open() throws(StorageError) -> Database { try Database(path: folder.database, mode: .create) }

  private func tables(_ database: Database) throws -> [String] {
    try database.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
  }

  /// The embedded files make the documented tables, and the file is for its owner alone.
  @Test func emptyBecomesNewest() throws {
    let database = try open()
    for _ in 0..<2 { try Migrator.migrate(database, to: embeddedMigrations, at: .start) }
    #expect(
      try tables(database) == [
        "account", "activity", "apns_credential", "apns_pending", "apns_result", "apns_token", "app",
        "app_group", "app_group_member", "audit", "broadcast_count", "browser_key", "callback_app",
        "callback_attempt",
        "callback_batch", "callback_bulk", "callback_setting", "cid", "console_session", "credential_notice",
        "delivered", "dropped", "file", "file_piece", "gone_registration", "group_push", "group_push_member",
        "import_batch", "invitation", "mail", "membership", "newcomers", "outcome", "password_reset",
        "pending",
        "person", "plan", "push", "push_callback", "push_plan", "push_sender", "receipt", "registration",
        "schedule", "schedule_run", "schema_migration",
        "sqlite_sequence", "statistics", "statistics_mark", "steady_push", "tag", "test_device",
      ])
    #expect(try database.first("PRAGMA user_version") { $0.integer(0) } == Int64(embeddedMigrations.count))
    #expect(try database.first("PRAGMA journal_mode") { $0.text(0) } == "wal")
    #expect(try database.first("PRAGMA synchronous") { $0.integer(0) } == 2)
    #expect(try database.first("PRAGMA foreign_keys") { $0.integer(0) } == 1)
    for suffix in ["", "-wal", "-shm"] {
      var info = stat()
      #expect(stat(folder.database + suffix, &info) == 0)
      #expect(info.st_mode & 0o777 == 0o600, "\(suffix)")
    }
  }

  /// Versions count up from 1, and SHA-256 is the one of FIPS 180-2.
  @Test func embeddedFiles() {
    #expect(embeddedMigrations.map(\.version) == Array(1...embeddedMigrations.count))
    #expect(
      Migration(version: 1, name: "a", sql: "abc").checksum
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  /// Semicolons in triggers and texts do not cut a statement; comments at the end do no harm.
  @Test func statementsAreWalked() throws {
    let database = try open()
    let script = """
      CREATE TABLE a (x TEXT) STRICT;
      CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a WHERE x = ';'; DELETE FROM a WHERE x = 'y'; END;
      INSERT INTO a VALUES (';'), ('z'); -- the end;

      """
    try Migrator.migrate(database, to: [Migration(version: 1, name: "a", sql: script)], at: .start)
    #expect(try database.all("SELECT x FROM a") { $0.text(0) } == ["z"])
  }

  /// A failing third statement, or a COMMIT of its own, leaves no trace of a file; those before it stay.
  @Test(arguments: ["INSERT INTO missing VALUES (1)", "COMMIT"])
  func failureLeavesNoTrace(_ bad: String) throws {
    let database = try open()
    let first = Migration(version: 1, name: "a", sql: "CREATE TABLE a (x) ;")
    let second = Migration(
      version: 2, name: "b", sql: "CREATE TABLE b (x); INSERT INTO a VALUES (1); \(bad); CREATE TABLE c (x);")
    #expect(throws: StorageError.self) {
      try Migrator.migrate(database, to: [first, second], at: .start)
    }
    if bad != "COMMIT" {
      #expect(try tables(database) == ["a", "schema_migration"])
      #expect(try database.first("SELECT count(*) FROM a") { $0.integer(0) } == 0)
    }
    #expect(try database.first("PRAGMA user_version") { $0.integer(0) } == 1)
    #expect(try database.first("SELECT count(*) FROM schema_migration") { $0.integer(0) } == 1)
  }

  /// A database of a newer program is refused with both numbers, and so is a changed file.
  @Test func refusals() throws {
    let first = Migration(version: 1, name: "a", sql: "CREATE TABLE a (x);")
    let second = Migration(version: 2, name: "b", sql: "CREATE TABLE b (x);")
    let database = try open()
    try Migrator.migrate(database, to: [first, second], at: .start)
    func kind(_ migrations: [Migration]) -> StorageError.Kind? {
      do {
        try Migrator.migrate(database, to: migrations, at: .start)
        return nil
      } catch { return error.kind }
    }
    #expect(kind([first]) == .newerThanProgram(found: 2, known: 1))
    #expect(
      kind([first, Migration(version: 2, name: "b", sql: "CREATE TABLE b (y);")])
        == .migrationChanged(version: 2))
    #expect(kind([first, second]) == nil)
  }

  /// Two programs that open a database at once run each file once.
  @Test func anotherMayBeFaster() throws {
    let migrations = [
      Migration(version: 1, name: "a", sql: "CREATE TABLE a (x);"),
      Migration(version: 2, name: "b", sql: "CREATE TABLE b (x);"),
    ]
    let (slow, fast) = (try open(), try open())
    try Migrator.migrate(slow, to: [migrations[0]], at: .start)
    try Migrator.migrate(fast, to: migrations, at: .start)
    #expect(try Migrator.applyNext(of: migrations, to: slow, at: .start) == 2)
  }

  /// Who may not change the schema is told that it is old, and finds it as it was.
  @Test func olderIsLeftAlone() throws {
    let migrations = [
      Migration(version: 1, name: "a", sql: "CREATE TABLE a (x);"),
      Migration(version: 2, name: "b", sql: "CREATE TABLE b (x);"),
    ]
    let database = try open()
    func kind() -> StorageError.Kind? {
      do {
        try Migrator.expectNewest(database, of: migrations)
        return nil
      } catch { return error.kind }
    }
    #expect(kind() == .olderThanProgram(found: 0, known: 2))
    #expect(try tables(database) == [])
    try Migrator.migrate(database, to: [migrations[0]], at: .start)
    #expect(kind() == .olderThanProgram(found: 1, known: 2))
    try Migrator.migrate(database, to: migrations, at: .start)
    #expect(kind() == nil)
  }

  /// A file that is no database is refused as such.
  @Test func noDatabase() throws {
    let file = try #require(fopen(folder.database, "w"))
    fputs(String(repeating: "not a database ", count: 100), file)
    fclose(file)
    do {
      _ = try Store.testing(folder)
      Issue.record("opened")
    } catch { #expect((error as? StorageError)?.kind == .corrupt) }
  }

  /// Rows without their parent keep the newest version away, whichever file left them.
  @Test func orphans() throws {
    let database = try open()
    let orphan = Migration(
      version: 1, name: "a",
      sql:
        "CREATE TABLE a (x INTEGER PRIMARY KEY); CREATE TABLE b (x REFERENCES a (x)); INSERT INTO b VALUES (7);"
    )
    let other = Migration(version: 2, name: "b", sql: "CREATE TABLE c (x);")
    for _ in 0..<2 {
      #expect(throws: StorageError.self) {
        try Migrator.migrate(database, to: [orphan, other], at: .start)
      }
      #expect(try database.first("PRAGMA user_version") { $0.integer(0) } == 1)
    }
    let mend = Migration(version: 2, name: "b", sql: "INSERT INTO a SELECT x FROM b;")
    try Migrator.migrate(database, to: [orphan, mend], at: .start)
    #expect(try database.first("PRAGMA user_version") { $0.integer(0) } == 2)
  }
}
