import BorealisBase
import Glibc
import Model
import PushTesting
import Testing

@testable import Storage

/// What goes to PostgreSQL with the commit of a transaction, and what becomes of it.
@Suite(.serialized) struct PostgresCommitTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
  }

  // MARK: One connection

  /// A database with two tables, the second with a row, behind a fence.
  private func tables() throws -> Database {
    let database = Database(
      try PostgresConnection(url: cluster.url(of: name), role: .writer, PostgresOptions()))
    try database.run(
      script: """
        CREATE TABLE n (n BIGINT PRIMARY KEY, text TEXT);
        CREATE TABLE m (m BIGINT PRIMARY KEY);
        INSERT INTO m VALUES (0);
        """)
    try #require(database.postgres).fence.raise()
    return database
  }

  private func job(_ number: Int, in database: Database, _ body: () throws -> Void) throws {
    try database.beginJob(number, isMarked: number > 0)
    try body()
    try database.endJob()
  }

  /// Appends to a row.
  private func add(_ number: Int, _ text: String, to database: Database) throws {
    try database.runLater(
      "INSERT INTO n (n, text) VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET text = n.text || excluded.text",
      .integer(number), .text(text))
  }

  private func stored() throws -> [[String]] { try cluster.sql("SELECT n, text FROM n ORDER BY n", in: name) }

  @Test func `A transaction of rows is one round trip`() throws {
    let database = try tables()
    defer { database.close() }
    let connection = try #require(database.postgres)
    // The first time statements are prepared.
    for round in 0..<3 {
      let before = connection.roundTrips
      try database.begin(.writing)
      for number in 0..<3 {
        try job(number, in: database) {
          try add(number, "\(round)", to: database)
          try add(10 * round + number + 10, "x", to: database)
        }
      }
      #expect(connection.roundTrips == before || round == 0)
      #expect(try database.commit().isEmpty)
      #expect(connection.roundTrips == before + 1 || round == 0)
      #expect(!database.isInTransaction)
    }
    #expect(
      try stored() == (0..<3).map { ["\($0)", "012"] }
        + [10, 11, 12, 20, 21, 22, 30, 31, 32].map { ["\($0)", "x"] })
  }

  @Test func `A transaction without anything is one round trip, and so is each read`() throws {
    let database = try tables()
    defer { database.close() }
    let connection = try #require(database.postgres)
    func count() throws -> Int? { try database.first("SELECT count(*) FROM n") { $0.count() } }
    for round in 0..<2 {
      let before = connection.roundTrips
      try database.begin(.writing)
      try database.commit()
      #expect(connection.roundTrips == before + 1 || round == 0)
      try database.begin(.writing)
      try job(0, in: database) { try add(2 * round, "a", to: database) }
      // It sees what was left before it.
      var seen: Int?
      try job(1, in: database) { seen = try count() }
      #expect(seen == 2 * round + 1)
      try job(2, in: database) { try add(2 * round + 1, "b", to: database) }
      try database.commit()
      // The rows before the read, the read, and the rest with the commit.
      #expect(connection.roundTrips == before + 4 || round == 0)
    }
    #expect(try stored() == [["0", "a"], ["1", "b"], ["2", "a"], ["3", "b"]])
  }

  @Test(arguments: [false, true])
  func `Rows that are refused with the commit are those of their job alone`(hasRead: Bool) throws {
    let database = try tables()
    defer { database.close() }
    try database.begin(.writing)
    try job(0, in: database) {
      if hasRead { _ = try database.first("SELECT m FROM m") { $0.count() } }
      try add(1, "a", to: database)
    }
    for (number, text) in ["x", "b", "y", "c"].enumerated() {
      try job(number + 1, in: database) {
        try add(1, text, to: database)
        if number % 2 == 0 { try database.runLater("INSERT INTO m (m) VALUES (?)", .integer(0)) }
        try add(2, text, to: database)
      }
    }
    let failed = try database.commit()
    #expect(failed.map(\.number) == [1, 3])
    #expect(failed.allSatisfy { $0.error.kind == .constraint })
    #expect(try stored() == [["1", "abc"], ["2", "bc"]])
    // And all is as before.
    try database.begin(.writing)
    try job(0, in: database) { try add(1, "d", to: database) }
    #expect(try database.commit().isEmpty)
    #expect(try stored() == [["1", "abcd"], ["2", "bc"]])
  }

  @Test(arguments: [false, true])
  func `Whoever loses the fence in a transaction stores nothing`(hasRead: Bool) throws {
    let database = try tables()
    defer { database.close() }
    try database.begin(.writing)
    try add(1, "a", to: database)
    try cluster.sql("DELETE FROM fence", in: name)
    if hasRead {
      // However often a body tries.
      for _ in 0..<2 {
        let failure = #expect(throws: StorageError.self) {
          try database.first("SELECT count(*) FROM n") { $0.count() }
        }
        #expect(failure?.kind == .takenOver)
        #expect(throws: StorageError.self) { try database.run("INSERT INTO n (n) VALUES (?)", .integer(2)) }
        try? database.runLater("INSERT INTO n (n) VALUES (?)", .integer(3))
        #expect(!database.isInTransaction)
      }
    }
    let failure = #expect(throws: StorageError.self) { try database.commit() }
    #expect(failure?.kind == .takenOver)
    database.rollBack()
    #expect(try stored().isEmpty)
    try database.begin(.writing)
    #expect(throws: StorageError.self) { try database.commit() }
    #expect(try cluster.sql("SELECT count(*) FROM commit_mark WHERE number > 0", in: name) == [["0"]])
  }

  @Test func `A connection that is lost before the commit leaves nothing`() throws {
    let database = try tables()
    defer { database.close() }
    try database.begin(.writing)
    try add(1, "a", to: database)
    try cluster.sql(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = '\(name)' AND pid <> pg_backend_pid()
      """)
    let failure = #expect(throws: StorageError.self) { try database.commit() }
    #expect(failure?.kind == .io)
    database.rollBack()
    #expect(try stored().isEmpty)
    try database.begin(.writing)
    try add(2, "b", to: database)
    try database.commit()
    #expect(try stored() == [["2", "b"]])
  }

  // MARK: A store

  /// Pushes that are there.
  private func pushes() throws -> [[String]] {
    try cluster.sql("SELECT msg_id FROM push ORDER BY 1", in: name)
  }

  /// The server's process of a writer whose row waits for a lock, for longer than some milliseconds.
  private func held(for milliseconds: Int) throws -> String {
    try eventually {
      try cluster.sql(
        """
        SELECT pid FROM pg_stat_activity WHERE datname = '\(name)' AND wait_event_type = 'Lock'
          AND clock_timestamp() - query_start > '\(milliseconds) ms'
        """
      ).first?.first
    }
  }

  @Test func `A connection that is lost before COMMIT is reached leaves nothing`() async throws {
    let store = try Store.open(.postgres(url: cluster.url(of: name)), readers: 1, log: .silent)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let session = try PostgresSession(cluster, in: name)
    try session.sql("BEGIN; LOCK TABLE push IN EXCLUSIVE MODE")
    let first = store.addNoting(1, app: app)
    try cluster.sql("SELECT pg_terminate_backend(\(try held(for: 0)), 5000)")
    session.close()
    #expect(try eventually { first.all.first } == .io)
    let second = try eventually {
      let second = store.addNoting(2, app: app)
      return try eventually { second.all.first } == nil ? second : nil
    }
    #expect(second.all.count == 1)
    #expect(try pushes() == [["2"]])
  }

  /// Only the commit itself is looked into when it takes long.
  @Test func `Rows may take longer than a commit`() async throws {
    var options = Store.Options()
    options.commitPatience = 200
    let store = try Store.open(
      .postgres(url: cluster.url(of: name)), readers: 1, log: .silent, options: options)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let session = try PostgresSession(cluster, in: name)
    try session.sql("BEGIN; LOCK TABLE push IN EXCLUSIVE MODE")
    let first = store.addNoting(1, app: app)
    _ = try held(for: 800)
    #expect(first.all.isEmpty && store.failure == nil)
    session.close()
    let result = try eventually { first.all.first }
    #expect(result == nil)
    #expect(store.failure == nil)
    #expect(try pushes() == [["1"]])
  }

  /// Which apps seal their contents is not asked for in each transaction.
  @Test func `Jobs run again if the database is not as it was expected to be`() async throws {
    let store = try Store.open(.postgres(url: cluster.url(of: name)), readers: 1, log: .silent)
    defer { store.close() }
    let (app, other) = (try await store.addApp(registrations: 1), try await store.addApp())
    let (runs, ends) = (Journal<UInt64>(), Journal<UInt64>())
    func add(_ id: UInt64) async throws {
      try await store.change { transaction throws(StorageError) in
        runs.add(id)
        transaction.whenCommitted { ends.add(id) }
        try transaction.pushes.insert(.single(id, app: app, target: 0))
      }
    }
    try await add(1)
    try await add(2)
    #expect(runs.all == [1, 2])
    try cluster.sql("UPDATE app SET seals_contents = 1 WHERE id = \(other.rawValue)", in: name)
    try await add(3)
    try await add(4)
    try cluster.sql("UPDATE app SET seals_contents = 0 WHERE id = \(other.rawValue)", in: name)
    try await add(5)
    #expect(runs.all == [1, 2, 3, 3, 4, 5, 5])
    #expect(ends.all == [1, 2, 3, 4, 5])
    #expect(try pushes() == (1...5).map { ["\($0)"] })
    #expect(store.statistics.failedCommits == 0)
  }
}
