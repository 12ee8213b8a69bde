import BorealisBase
import Glibc
import Model
import PushTesting
import Testing

@testable import Storage

@Suite(.onSQLite) struct MigratorTests {
  let folder = TemporaryFolder()

  private func open() throws(StorageError) -> Database { try Database(path: folder.database, mode: .create) }

  private func tables(_ database: Database) throws -> [String] {
    try database.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text() }
  }

  /// The embedded files make the documented tables, and the file is for its owner alone.
  @Test func emptyBecomesNewest() throws {
    let database = try open()
    for _ in 0..<2 { try Migrator.migrate(database, to: embeddedMigrations, at: .start) }
    #expect(
      try tables(database) == [
        "abtest", "abtest_push", "abtest_run", "account", "activity", "api_key", "api_request", "app",
        "app_figures", "app_group",
        "app_group_member", "audit", "broadcast_count", "browser_key", "callback_app", "callback_attempt",
        "callback_batch", "callback_bulk", "callback_setting", "canary", "channel_pending",
        "channel_taken",
        "channel_targets", "channel_token", "cid",
        "console_session", "content_key", "content_sealing_key", "counted_push", "credential",
        "credential_notice",
        "dead_node", "delivered", "device_key", "dropped", "erasure", "fact_value", "fallback", "file",
        "file_piece", "getui_access",
        "getui_push", "getui_revoked_token", "getui_task", "gone_registration", "group_push",
        "group_push_member", "held_push", "home", "import_batch", "incident", "invitation", "mail",
        "membership",
        "newcomers", "node",
        "outcome",
        "password_reset", "pending", "person", "plan", "push", "push_callback", "push_plan", "push_sender",
        "receipt", "recovery_code", "registration", "schedule", "schedule_run",
        "schedule_turn", "schema_migration", "segment",
        "sqlite_sequence", "statistics", "steady_push", "tag", "template", "test_device", "token_proof",
      ])
    #expect(try database.first("PRAGMA user_version") { $0.integer() } == Int64(embeddedMigrations.count))
    #expect(try database.first("PRAGMA journal_mode") { $0.text() } == "wal")
    #expect(try database.first("PRAGMA synchronous") { $0.integer() } == 2)
    #expect(try database.first("PRAGMA foreign_keys") { $0.integer() } == 1)
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
    #expect(try database.all("SELECT x FROM a") { $0.text() } == ["z"])
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
      #expect(try database.first("SELECT count(*) FROM a") { $0.integer() } == 0)
    }
    #expect(try database.first("PRAGMA user_version") { $0.integer() } == 1)
    #expect(try database.first("SELECT count(*) FROM schema_migration") { $0.integer() } == 1)
  }

  /// Each app goes on where the mark of all stood.
  @Test func marksBecomeThoseOfApps() throws {
    let place = try #require(embeddedMigrations.firstIndex { $0.name == "homes" })
    let database = try open()
    try Migrator.migrate(database, to: Array(embeddedMigrations.prefix(place)), at: .start)
    for app in 1...2 {
      try database.run(
        """
        INSERT INTO app (id, app_key, name, secret_hash, created_at, account_id, plan)
        VALUES (?1, ?1, 'a', zeroblob(32), 1, 1, 'unlimited')
        """, .integer(app))
    }
    try database.run("INSERT INTO statistics_mark (id, through) VALUES (1, 77)")
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let marks = try database.all("SELECT app_id, through FROM counted_push ORDER BY app_id") {
      [$0.integer("app_id"), $0.integer("through")]
    }
    #expect(marks == [[1, 77], [2, 77]])
  }

  /// What pushes on their way to Apple have taken stays taken, and rows that overlapped no longer do.
  @Test func takenRowsBecomeRanges() throws {
    let database = try open()
    try Migrator.migrate(database, to: Array(embeddedMigrations.prefix(24)), at: .start)
    func entry(_ number: UInt32, _ badge: UInt32) -> [UInt8] {
      [number, badge].flatMap { value in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
    }
    let old: [(push: Int64, kind: Int64, entries: [[UInt8]])] = [
      (7, 1, [entry(0, 1), entry(255, 99_999), entry(256, 3)]),
      (7, 1, [entry(2, 256), entry(200, 0), entry(.max, 9)]), (7, 2, [entry(0, 0)]), (8, 1, [entry(0, 2)]),
    ]
    for (index, row) in old.enumerated() {
      try database.run(
        "INSERT INTO apns_taken (msg_id, kind, first, last, taken) VALUES (?, ?, ?, ?, ?)",
        .integer(row.push), .integer(row.kind), .integer(index), .integer(UInt32.max),
        .blob(Array(row.entries.joined())))
    }
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let rows = try database.all(
      "SELECT msg_id, kind, range, taken FROM channel_taken WHERE channel = 2 ORDER BY 1, 2, 3"
    ) { row in
      let bytes = row.blob("taken")
      let entries = stride(from: 0, to: bytes.count, by: 8).map {
        Array(bytes[$0..<min($0 + 8, bytes.count)])
      }
      return (row.integer("msg_id"), row.integer("kind"), row.blob("range"), Set(entries))
    }
    #expect(rows.map(\.0) == [7, 7, 7, 7, 8] && rows.map(\.1) == [1, 1, 1, 2, 1])
    #expect(rows.map(\.2) == [[0, 0, 0], [0, 0, 1], [255, 255, 255], [0, 0, 0], [0, 0, 0]])
    #expect(
      rows.map(\.3) == [
        [entry(0, 1), entry(255, 99_999), entry(2, 256), entry(200, 0)], [entry(256, 3)], [entry(.max, 9)],
        [entry(0, 0)], [entry(0, 2)],
      ])
  }

  /// Pushes on their way to Apple, and what Apple answered, are the channel's with number 2 from then on.
  @Test func channelsShareTables() throws {
    let database = try open()
    try Migrator.migrate(database, to: Array(embeddedMigrations.prefix(25)), at: .start)
    try database.run(
      script: """
        INSERT INTO push (msg_id, app_id, created_at, expires_at, sendno, platforms, target, targets, target_count,
          strategy, content, own_targets, apns_targets, call_targets)
        VALUES (7, 1, 0, 9, 0, 15, NULL, x'01', 3, 0, x'02', x'03', x'04', x'05'),
          (8, 1, 0, 9, 0, 15, 1, NULL, 1, 0, x'02', NULL, x'06', NULL), (9, 1, 0, 9, 0, 15, 1, NULL, 1, 0, x'02', NULL, NULL, NULL);
        INSERT INTO apns_pending VALUES (1, 7, 9), (1, 8, 9);
        INSERT INTO statistics VALUES (5, 1, 2, 3, 4, 10, 1, 1, 1, 1, x''), (6, 1, 2, 3, 4, 0, 1, 1, 1, 1, x'');
        INSERT INTO apns_result (msg_id, kind, reason, count, targets)
        VALUES (7, 1, 'delivered', 2, x'07'), (7, 2, 'NoAnswer', 1, x'08'), (8, 3, 'Expired', 1, NULL);
        """)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let targets = try database.all(
      "SELECT msg_id, channel, leg, outcome, count, hex(targets) AS targets FROM channel_targets ORDER BY 1, 3, 4"
    ) { row in
      let numbers = ["msg_id", "channel", "leg", "count"].map { String(row.integer($0)) }
      return (numbers + [row.text("outcome"), row.optionalText("targets") ?? ""]).joined(separator: " ")
    }
    #expect(
      targets == [
        "7 2 1 0  04", "7 2 1 2 delivered 07", "7 2 2 0  05", "7 2 2 1 NoAnswer 08", "8 2 1 0  06",
        "8 2 1 1 Expired ",
      ])
    let pending = try database.all("SELECT app_id, channel, msg_id, expires_at FROM channel_pending") { row in
      ["app_id", "channel", "msg_id", "expires_at"].map { row.integer($0) }
    }
    #expect(pending == [[1, 2, 7, 9], [1, 2, 8, 9]])
    let accepted = try database.all("SELECT accepted FROM statistics ORDER BY hour") { $0.text() }
    #expect(accepted == ["2=10", ""])
    #expect(try database.first("SELECT hex(own_targets) FROM push WHERE msg_id = 7") { $0.text() } == "03")
  }

  /// Tokens for calls and Live Activities are those of the channel with number 2 from then on.
  @Test func tokensBelongToChannels() throws {
    let database = try open()
    try Migrator.migrate(
      database, to: Array(embeddedMigrations.prefix { $0.name != "channel_tokens" }), at: .start)
    try database.run(
      script: """
        INSERT INTO app (id, app_key, name, secret_hash, created_at) VALUES (1, 'k', 'n', zeroblob(32), 0);
        INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, created_at, last_seen_at)
        VALUES (1, 5, zeroblob(10), zeroblob(16), 2, x'', 0, 0);
        INSERT INTO apns_token (app_id, number, kind, name, environment, token, told_at)
        VALUES (1, 5, 2, '', 1, x'07', 9), (1, 5, 3, 'game', 2, x'08', 10);
        """)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let tokens = try TokenRepository<Void>(database: database).all(app: AppID(1), of: RegistrationNumber(5))
    let game = try #require(APNsTokenSlot(.liveActivity, name: "game"))
    #expect(
      tokens == [
        TokenHistory(
          token: PushToken(.voip, .production, [7]), since: nil, reportedAt: Timestamp(milliseconds: 9),
          end: .none),
        TokenHistory(
          token: PushToken(game, .sandbox, [8]), since: nil, reportedAt: Timestamp(milliseconds: 10),
          end: .none),
      ])
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
      #expect(try database.first("PRAGMA user_version") { $0.integer() } == 1)
    }
    let mend = Migration(version: 2, name: "b", sql: "INSERT INTO a SELECT x FROM b;")
    try Migrator.migrate(database, to: [orphan, mend], at: .start)
    #expect(try database.first("PRAGMA user_version") { $0.integer() } == 2)
  }

  /// A new file and a restored backup have no write-ahead log until a connection turns it on, which SQLite
  /// refuses at once, whatever the busy timeout, while another connection does the same.
  @Test func `Of many that open a file without a write-ahead log at once, none is refused`() async throws {
    for round in 0..<50 {
      let path = folder.path + "/\(round).sqlite"
      try Database(path: path, mode: .copy).run("CREATE TABLE a (x INTEGER)")
      try await withThrowingTaskGroup { group in
        for number in 0..<8 {
          group.addTask {
            try Database(path: path, mode: .create).run("INSERT INTO a VALUES (?)", .integer(number))
          }
        }
        try await group.waitForAll()
      }
      let rows = try Database(path: path, mode: .readOnly).first("SELECT count(*) FROM a") { $0.count() }
      #expect(rows == 8)
    }
  }
}
