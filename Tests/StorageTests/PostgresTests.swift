import BorealisBase
import Glibc
import Model
import PushTesting
import Testing

@testable import Storage

/// What is PostgreSQL's own. The other suites of this module run on it too: Tests/run.
@Suite(.serialized) struct PostgresTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
  }

  private var location: Store.Location { .postgres(url: cluster.url(of: name)) }

  private func open(patience: Int = 0, isServer: Bool = true) throws -> Store {
    var options = Store.Options()
    options.patience = patience
    options.isServer = isServer
    options.migrates = isServer
    return try Store.open(location, readers: 1, log: .silent, options: options)
  }

  private func add(_ id: UInt64, to store: Store, app: AppID) async throws {
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(id, app: app, target: 0))
    }
  }

  private func isThere(_ id: UInt64, in store: Store) async throws -> Bool {
    try await store.look { transaction throws(StorageError) in
      try transaction.pushes.find(id: MessageID(id)) != nil
    }
  }

  /// The kind of the error that something throws.
  private func kind(_ body: () async throws -> Void) async -> StorageError.Kind? {
    do { try await body() } catch { return (error as? StorageError)?.kind }
    return nil
  }

  /// Its schema has other numbers: by SQLite's no push would be looked at closely.
  @Test func `Everything is stored of every push`() async throws {
    let store = try open()
    defer { store.close() }
    let since = try await store.look { transaction throws(StorageError) in
      try transaction.targetsAreWholeSince()
    }
    #expect(since == Timestamp(milliseconds: 0))
  }

  // MARK: Schema

  /// One line for each table and column, and for each index that more than one of them is found by.
  private static func describe(_ lines: [[String]]) -> [String] {
    lines.map { $0.joined(separator: " ") }.sorted()
  }

  @Test func `Both schemas are the same`() throws {
    let folder = TemporaryFolder()
    let file = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(file, to: embeddedMigrations, at: .start)
    let own = ["fence", "commit_mark", "sqlite_sequence", "schema_migration"]
    let columns = try file.all(
      """
      SELECT tables.name AS owner, field.name AS name, lower(field.type) AS type, field."notnull" AS needed, field.pk AS key
      FROM pragma_table_list AS tables JOIN pragma_table_xinfo(tables.name) AS field
      WHERE tables.type = 'table' AND tables.schema = 'main' AND tables.name NOT LIKE 'sqlite_%'
      """
    ) { row in
      let type = ["integer": "bigint", "blob": "bytea"][row.text("type")] ?? row.text("type")
      // A key of one number is never NULL, and says so only in PostgreSQL.
      let isNeeded = row.bool("needed") || row.integer("key") > 0
      return [
        row.text("owner"), row.text("name"), type, isNeeded ? "NOT NULL" : "NULL",
        "key \(row.integer("key"))",
      ]
    }
    let theirs = try cluster.sql(
      """
      SELECT c.relname, a.attname, format_type(a.atttypid, NULL), CASE WHEN a.attnotnull THEN 'NOT NULL' ELSE 'NULL' END,
        'key ' || coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
      """, in: name)
    func isShared(_ line: [String]) -> Bool { !own.contains(line[0]) }
    let (one, other) = (Self.describe(columns.filter(isShared)), Self.describe(theirs.filter(isShared)))
    #expect(one.count > 200)
    for line in Set(one).symmetricDifference(other).sorted() {
      Issue.record("only in \(one.contains(line) ? "SQLite" : "PostgreSQL"): \(line)")
    }

    let indexes = try file.all(
      """
      SELECT tables.name AS owner, list."unique" AS is_unique, list.partial AS is_partial,
        (SELECT group_concat(coalesce(name, '-')) FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY seqno)) AS columns
      FROM pragma_table_list AS tables JOIN pragma_index_list(tables.name) AS list
      WHERE tables.type = 'table' AND list.origin <> 'pk'
      """
    ) {
      [
        $0.text("owner"), $0.bool("is_unique") ? "unique" : "index",
        $0.bool("is_partial") ? "partial" : "whole", $0.text("columns"),
      ]
    }
    let theirIndexes = try cluster.sql(
      """
      SELECT c.relname, CASE WHEN i.indisunique THEN 'unique' ELSE 'index' END,
        CASE WHEN i.indpred IS NULL THEN 'whole' ELSE 'partial' END,
        (SELECT string_agg(CASE WHEN key.number = 0 THEN 'email' ELSE a.attname END, ',' ORDER BY key.place)
          FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS key (number, place)
            LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = key.number)
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisprimary
      """, in: name)
    let (ours, rest) = (Self.describe(indexes.filter(isShared)), Self.describe(theirIndexes.filter(isShared)))
    #expect(ours.count > 25)
    for line in Set(ours).symmetricDifference(rest).sorted() {
      Issue.record("only in \(ours.contains(line) ? "SQLite" : "PostgreSQL"): \(line)")
    }
    let views = try file.all("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name") { $0.text() }
    #expect(
      try cluster.sql("SELECT viewname FROM pg_views WHERE schemaname = 'public' ORDER BY 1", in: name).map {
        $0[0]
      } == views)
  }

  @Test func `A newer schema, and one of another build, are refused`() async throws {
    try cluster.sql("INSERT INTO schema_migration VALUES (99, 'later', 'abc', 0)", in: name)
    #expect(
      await kind { _ = try open() } == .newerThanProgram(found: 99, known: embeddedPostgresMigrations.count))
    try cluster.sql(
      "DELETE FROM schema_migration WHERE version = 99; UPDATE schema_migration SET sha256 = 'x'", in: name)
    #expect(await kind { _ = try open() } == .migrationChanged(version: 1))
  }

  @Test func `An empty database is filled by a server and by nobody else`() async throws {
    let empty = try cluster.makeEmpty()
    var options = Store.Options()
    options.isServer = false
    options.migrates = false
    let location = Store.Location.postgres(url: cluster.url(of: empty))
    #expect(
      await kind { _ = try Store.open(location, readers: 1, log: .silent, options: options) }
        == .olderThanProgram(found: 0, known: embeddedPostgresMigrations.count))
    let store = try Store.open(location, readers: 1, log: .silent)
    defer { store.close() }
    _ = try await store.addApp(registrations: 1)
    #expect(try Store.check(location).problems == [])
  }

  @Test func `Another encoding is refused`() async throws {
    let other = "ascii_\(name)"
    try cluster.sql("CREATE DATABASE \(other) ENCODING SQL_ASCII TEMPLATE template0")
    #expect(
      await kind { _ = try Store.open(.postgres(url: cluster.url(of: other)), readers: 1, log: .silent) }
        == .other)
  }

  // MARK: Values and rows

  @Test func `Values come back as they went in`() throws {
    let connection = try PostgresConnection(url: cluster.url(of: name), role: .reader, .init())
    let database = Database(connection)
    for number in [0, 1, -1, .max, .min, 10_000, -99_990_000] as [Int64] {
      let row = try database.first(
        "SELECT ?1 + 0 AS whole, sum(n) AS sum FROM (SELECT CAST(?1 AS BIGINT) AS n) AS one", .integer(number)
      ) { ($0.integer("whole"), $0.integer("sum")) }
      #expect(row?.0 == number && row?.1 == number, "\(number)")
    }
    let texts = ["", "é", "好😀", "a'b\\c", String(repeating: "x", count: 100_000)]
    for text in texts {
      #expect(try database.first("SELECT CAST(? AS TEXT)", .text(text)) { $0.text() } == text)
    }
    for bytes in [[], [0], Array(0...255), Array(repeating: 7, count: 100_000)] as [[UInt8]] {
      #expect(try database.first("SELECT ? || {bytes}", .blob(bytes)) { $0.blob() } == bytes)
    }
    let nothing = try database.first("SELECT CAST(? AS TEXT) AS text, 3 AS count, 1 < 2 AS yes", .null) {
      ($0.optionalText("text"), $0.count("count"), $0.bool("yes"))
    }
    #expect(nothing?.0 == nil && nothing?.1 == 3 && nothing?.2 == true)
    #expect(throws: StorageError.self) {
      try database.first("SELECT CAST(? AS TEXT)", .text("a\0b")) { $0.text() }
    }
    // The connection is as good as before.
    #expect(try database.first("SELECT 1 AS one") { $0.count("one") } == 1)
    #expect(throws: StorageError.self) { try database.first("SELECT 1 AS one") { $0.count("two") } }
  }

  /// Rows of a large result come piece by piece, other statements run in between, and whoever has enough
  /// stops.
  @Test func `Large results are read in pieces`() throws {
    let database = Database(try PostgresConnection(url: cluster.url(of: name), role: .reader, .init()))
    try database.begin(.reading)
    defer { database.rollBack() }
    let statement = try database.statement("SELECT n FROM generate_series(1, ?) AS n ORDER BY n")
    for count in [0, 1, 255, 256, 257, 1000, 512] as [Int64] {
      var sum: Int64 = 0
      try statement.each([.integer(count)]) { row throws(StorageError) in
        let number = row.integer("n")
        sum += try database.first("SELECT ? + 1", .integer(number)) { $0.integer() } ?? 0
      }
      #expect(sum == count * (count + 1) / 2 + count)
    }
    var seen = 0
    try statement.scan([.integer(100_000)]) { _ in
      seen += 1
      return seen < 300
    }
    #expect(seen == 300)
    #expect(try statement.all([.integer(3)]) { $0.integer("n") } == [1, 2, 3])
  }

  // MARK: Statements that are sent together

  /// A database with a table, in a transaction.
  private func table() throws -> Database {
    let database = Database(
      try PostgresConnection(url: cluster.url(of: name), role: .writer, PostgresOptions()))
    try database.run(script: "CREATE TABLE n (n BIGINT PRIMARY KEY, text TEXT)")
    try #require(database.postgres).fence.raise()
    try database.begin(.writing)
    return database
  }

  @Test func `What runs later runs in its order, before what is waited for`() throws {
    let database = try table()
    defer { database.close() }
    // More than are kept.
    for number in 0..<PostgresConnection.mostPostponed + 10 {
      try database.runLater("INSERT INTO n VALUES (?, ?)", .integer(number), .text("n\(number)"))
    }
    try database.runLater("UPDATE n SET text = NULL WHERE n > ?", .integer(3))
    let count = try database.first("SELECT count(*) FROM n WHERE text IS NULL") { $0.count() }
    #expect(count == PostgresConnection.mostPostponed + 6)
    try database.runLater("DELETE FROM n WHERE n < ?", .integer(2))
    try database.commit()
    try database.begin(.writing)
    #expect(try database.first("SELECT min(n) FROM n") { $0.integer() } == 2)
    try database.commit()
  }

  @Test func `A later failure is one of what is waited for, or of the commit`() throws {
    let database = try table()
    defer { database.close() }
    try database.run("INSERT INTO n VALUES (1, NULL)")
    try database.runLater("SAVEPOINT one")
    try database.runLater("INSERT INTO n VALUES (1, NULL)")
    try database.runLater("INSERT INTO n VALUES (2, NULL)")
    let failure = #expect(throws: StorageError.self) {
      try database.first("SELECT n FROM n") { $0.integer() }
    }
    #expect(failure?.kind == .constraint && database.isBroken)
    try database.run("ROLLBACK TO SAVEPOINT one")
    #expect(try database.all("SELECT n FROM n ORDER BY n") { $0.integer() } == [1])
    try database.runLater("INSERT INTO n VALUES (1, NULL)")
    #expect(throws: StorageError.self) { try database.commit() }
    database.rollBack()
    // What was left goes with its transaction.
    try database.begin(.writing)
    try database.runLater("INSERT INTO n VALUES (4, NULL)")
    database.rollBack()
    try database.begin(.writing)
    #expect(try database.first("SELECT count(*) FROM n") { $0.count() } == 0)
    try database.commit()
  }

  @Test func `First rows of many runs come in one go`() throws {
    let database = try table()
    defer { database.close() }
    for number in 0..<600 where number % 3 == 0 {
      try database.runLater("INSERT INTO n VALUES (?, 'x')", .integer(number))
    }
    let values = (0..<600).map { [SQLValue.integer($0)] }
    let expected: [Int64?] = (0..<600).map { (number: Int64) in number % 3 == 0 ? number : nil }
    let found = try database.firsts("SELECT n FROM n WHERE n = ?", values) { $0.integer() }
    #expect(found == expected)
    #expect(try database.firsts("SELECT n FROM n WHERE n = ?", []) { $0.integer() }.isEmpty)
    // One of them fails: none is there, and the statement is as before.
    try database.runLater("SAVEPOINT one")
    #expect(throws: StorageError.self) {
      try database.firsts("INSERT INTO n VALUES (?, 'y') RETURNING n", values) { $0.integer() }
    }
    try database.run("ROLLBACK TO SAVEPOINT one")
    #expect(try database.first("SELECT n FROM n WHERE n = ?", .integer(1)) { $0.integer() } == nil)
    try database.commit()
  }

  @Test func `A connection that is lost takes what was left with it`() throws {
    let database = try table()
    defer { database.close() }
    try database.runLater("INSERT INTO n VALUES (1, NULL)")
    try cluster.sql(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = '\(name)' AND pid <> pg_backend_pid()
      """)
    let failure = #expect(throws: StorageError.self) { try database.settle() }
    #expect(failure?.kind == .io)
    database.rollBack()
    try database.begin(.writing)
    #expect(try database.first("SELECT count(*) FROM n") { $0.count() } == 0)
    try database.commit()
  }

  /// It reads everything, which may take as long as it likes.
  @Test func `A check has no limit of time`() throws {
    let report = try Store.check(location) { transaction throws(StorageError) in
      [try transaction.database.first("SELECT current_setting('statement_timeout')") { $0.text() } ?? ""]
    }
    #expect(report.problems == ["0"])
    #expect(try Store.check(.postgres(url: cluster.url(of: cluster.makeEmpty()))).schemaVersion == 0)
  }

  // MARK: Migrations

  private func open(_ migrations: [Migration], patience: Int) throws -> Store {
    var options = Store.Options()
    // The session of an attempt that failed ends in the server a moment after its connection is closed.
    options.patience = 10_000
    options.statementPatience = patience
    return try Store.open(location, readers: 1, log: .silent, options: options, migrations: migrations)
  }

  private static let all = embeddedPostgresMigrations

  private static func next(_ sql: String) -> Migration {
    Migration(version: all.count + 1, name: "next", sql: sql)
  }

  @Test func `A migration takes as long as it takes`() throws {
    let next = Self.next("CREATE TABLE more (a bigint); SELECT pg_sleep(1); INSERT INTO more VALUES (1)")
    try open(Self.all, patience: 65_000).close()
    try open(Self.all + [next], patience: 300).close()
    #expect(try cluster.sql("SELECT a FROM more", in: name) == [["1"]])
    #expect(throws: StorageError.self) { try open(Self.all, patience: 65_000) }
    #expect(throws: StorageError.self) { try open(Self.all + [Self.next("SELECT 1")], patience: 65_000) }
  }

  @Test func `A migration that fails leaves nothing of it`() throws {
    let next = Self.next("CREATE TABLE more (a bigint); SELECT 1 / 0")
    #expect(throws: StorageError.self) { try open(Self.all + [next], patience: 65_000) }
    #expect(try cluster.sql("SELECT to_regclass('more') IS NULL", in: name) == [["t"]])
    try open(Self.all + [Self.next("CREATE TABLE more (a bigint)")], patience: 65_000).close()
  }

  @Test func `Each app goes on where the mark of all stood`() throws {
    let place = try #require(Self.all.firstIndex { $0.name == "homes" })
    let old = try cluster.makeEmpty()
    let location = Store.Location.postgres(url: cluster.url(of: old))
    let before = Array(Self.all.prefix(place))
    try Store.open(location, readers: 1, log: .silent, options: Store.Options(), migrations: before).close()
    try cluster.sql(
      """
      INSERT INTO app (app_key, name, secret_hash, created_at)
        SELECT n, 'a', decode(repeat('00', 32), 'hex'), 1 FROM generate_series(1, 2) AS n;
      INSERT INTO statistics_mark VALUES (1, 77)
      """, in: old)
    try Store.open(location, readers: 1, log: .silent).close()
    #expect(
      try cluster.sql("SELECT app_id, through FROM counted_push ORDER BY 1", in: old)
        == [["1", "77"], ["2", "77"]])
  }

  /// The one before has lost its connection, and comes back when the schema has become another.
  @Test func `Whoever writes loses the database before its schema changes`() async throws {
    let before = try open(Self.all, patience: 65_000)
    defer { before.close() }
    let app = try await before.addApp(registrations: 1)
    let command = try open(isServer: false)
    defer { command.close() }
    try endBackends()
    let own = try cluster.sql("SELECT incarnation FROM fence", in: name)
    #expect(own.count == 2)
    let next = Self.next("CREATE TABLE seen AS SELECT incarnation FROM fence")
    let after = try open(Self.all + [next], patience: 65_000)
    defer { after.close() }
    let seen = try cluster.sql("SELECT incarnation FROM seen", in: name)
    #expect(seen.count == 1 && !own.contains(seen[0]))
    #expect(await kind { try await add(1, to: before, app: app) } == .takenOver)
    #expect(await kind { try await add(2, to: command, app: app) } == .takenOver)
  }

  // MARK: One server

  @Test func `There is one server, and commands beside it`() async throws {
    let early = try open(isServer: false)
    let app = try await early.addApp(registrations: 1)
    let store = try open()
    #expect(await kind { _ = try open() } == .inUse)
    // Whoever began before the server writes no more.
    #expect(await kind { try await add(1, to: early, app: app) } == .takenOver)
    early.close()
    let late = try open(isServer: false)
    try await add(2, to: late, app: app)
    try await add(3, to: store, app: app)
    let (isFirst, isSecond) = (try await isThere(2, in: store), try await isThere(3, in: late))
    #expect(isFirst && isSecond)
    late.close()
    store.close()
    #expect(try cluster.sql("SELECT count(*) FROM fence", in: name) == [["0"]])
    try open().close()
  }

  @Test func `A server whose place is taken commits nothing more`() async throws {
    let store = try open()
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    try cluster.sql(
      "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name LIKE 'borealis/%' AND datname = '\(name)'"
    )
    let other = try open()
    defer { other.close() }
    #expect(await kind { try await add(1, to: store, app: app) } == .takenOver)
    #expect(store.failure == .takenOver)
    #expect(await kind { try await add(2, to: store, app: app) } == .takenOver)
    try await add(3, to: other, app: app)
    let isThere = try await isThere(1, in: other)
    #expect(!isThere)
  }

  @Test func `A server that cannot be reached is an error, after some time`() async throws {
    var options = Store.Options()
    options.patience = 300
    let error = await kind {
      _ = try Store.open(
        .postgres(url: "postgres:///x?host=/nonexistent"), readers: 1, log: .silent, options: options)
    }
    #expect(error == .io)
  }

  @Test func `Attempts to connect are counted by the clock`() async throws {
    let hole = try #require(SilentListener(port: ()))
    var options = Store.Options()
    // Each attempt takes two seconds.
    options.patience = 1_000
    let error = await kind {
      _ = try Store.open(
        .postgres(url: "postgres://x@127.0.0.1:\(hole.port)/x"), readers: 1, log: .silent, options: options)
    }
    #expect(error == .io)
    #expect(hole.count() == 1)
  }

  @Test func `Nothing waits for one attempt to connect after the other`() async throws {
    // A socket that is PostgreSQL's first, and then nobody's.
    let folder = TemporaryFolder()
    let socket = folder.path + "/.s.PGSQL.5432"
    #expect(symlink(cluster.socketFolder + "/.s.PGSQL.5432", socket) == 0)
    var options = Store.Options()
    options.batch = 1
    let store = try Store.open(
      .postgres(url: "postgres://borealis@/\(name)?host=\(folder.path)"), readers: 1, log: .silent,
      options: options)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    unlink(socket)
    let hole = try #require(SilentListener(path: socket))
    try endBackends()
    let ended = Journal<StorageError.Kind?>()
    for id in 1...20 as ClosedRange<UInt64> {
      store.write { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(id, app: app, target: 0))
      } completion: { result in
        if case .failure(let error) = result { ended.add(error.kind) } else { ended.add(nil) }
      }
    }
    while ended.all.count < 20 { usleep(10_000) }
    #expect(ended.all.allSatisfy { $0 == .io })
    #expect(hole.count() < 4)
    unlink(socket)
  }

  /// Passwords with signs that mean something in a URL are refused, or taken for what they are; they are
  /// never shown.
  @Test(arguments: [
    "postgres://ann:%@127.0.0.1:1/x", "postgresql://ann:%@/x?host=/nonexistent", "postgres://:%@127.0.0.1:1",
    "postgres://ann:%@127.0.0.1:1,[::1]:1/x", "postgres://ann:%@[::1]:1/x?sslmode=disable",
    "postgres://127.0.0.1:1/x?user=ann&password=%",
    "postgres:///x?host=/nonexistent&password=%&sslmode=disable",
    "postgres://127.0.0.1:1/x?password=%&sslpassword=%", "postgres:/ann:%@127.0.0.1:1/x",
    "POSTGRES://ann:%@127.0.0.1:1/x", "host=127.0.0.1 port=1 password=%",
  ])
  func `No part of a password is shown`(form: String) async throws {
    let parts = ("xyzzy", "plugh", "40961")
    let middles = [
      "/", "@", "?", "#", ":", ",", " ", "&", "=", "%", "%zz", "%2F", "[", "]", "\\", "\"", "'", "\n", "\t",
      "//", "/@",
      "@/", "?/@", ":@/", "&host=", "&dbname=", "&port=", "&x=", "?host=", "/x?host=", "@[", "]@", "+", "é",
      "", "://",
    ]
    for middle in middles {
      for password in [
        parts.0 + middle + parts.1, parts.2 + middle + parts.0, parts.0 + middle, middle + parts.0,
        parts.2 + middle + parts.0 + middle + parts.1,
      ] {
        let url = form.replacing("%", with: password)
        var shown = "\(url.utf8.count)"
        if let location = Store.Location(url: url) {
          var options = Store.Options()
          options.patience = 0
          shown = location.name
          do throws(StorageError) {
            _ = try Store.open(location, readers: 1, log: .silent, options: options)
          } catch { shown += error.description }
          #expect(
            !shown.contains("plugh") && !shown.contains("xyzzy") && !shown.contains("40961"),
            "\(url): \(shown)")
        }
      }
    }
    for url in [
      "postgres://ann:a%2Fb%40c%3Fd%25@db:1/x", "postgres://h1:1,[::1]:2,h3/x?sslmode=require",
      "postgresql://", "postgres:///x?host=/tmp&password=a",
    ] {
      #expect(Store.Location(url: url) != nil, "\(url)")
    }
  }

  @Test(arguments: [
    ("postgres://ann:pw@db1,db2:5433,[::1]/x?sslmode=require", "postgres://db1,db2:5433,[::1]/x"),
    ("postgres://ann@db1/x", "postgres://db1/x"),
    ("postgres:///x?host=/tmp,/var&port=5433", "postgres:///tmp:5433,/var:5433/x"),
    ("postgres://db1:1,db2:2/x", "postgres://db1:1,db2:2/x"), ("postgresql://", "postgres:///"),
  ])
  func `A database is named by its hosts`(url: String, name: String) throws {
    #expect(try #require(Store.Location(url: url)).name == name)
  }

  // MARK: Lost connections

  private func endBackends(_ condition: String = "true") throws {
    try cluster.sql(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = '\(name)' AND pid <> pg_backend_pid() AND \(condition)
      """)
  }

  @Test func `Lost connections come back by themselves`() async throws {
    let store = try open()
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    for id in 1...5 as ClosedRange<UInt64> {
      try endBackends()
      try await add(id, to: store, app: app)
      let isThere = try await isThere(id, in: store)
      #expect(isThere)
    }
    #expect(store.failure == nil)
  }

  @Test func `A connection lost within a transaction leaves nothing of it`() async throws {
    let store = try open()
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (cluster, name) = (cluster, name)
    let error = await kind {
      try await store.change { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(1, app: app, target: 0))
        _ = try? cluster.sql(
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)' AND application_name LIKE 'borealis/%'"
        )
        try transaction.pushes.insert(.single(2, app: app, target: 0))
      }
    }
    #expect(error == .io)
    #expect(store.failure == .io)
    try await add(3, to: store, app: app)
    let there = (
      try await isThere(1, in: store), try await isThere(2, in: store), try await isThere(3, in: store)
    )
    #expect(there == (false, false, true))
  }
}
