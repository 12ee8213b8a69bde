import BorealisBase
import Glibc
import Model
import PushTesting
import Synchronization
import Testing

@testable import Storage

/// What the jobs of one transaction leave to be sent together.
@Suite(.serialized) struct PostgresJobTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
  }

  // MARK: Locks

  /// Somebody else holds a table: whoever asked may ask again.
  @Test(arguments: [true, false]) func `A job that gets no lock may be repeated`(leaves: Bool) async throws {
    let lines = LogLines()
    let store = try Store.open(
      .postgres(url: cluster.url(of: name)), readers: 1, log: Log(level: .info, write: lines.add))
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let other = try PostgresSession(cluster, in: name)
    defer { other.close() }
    try other.sql("BEGIN; LOCK TABLE push")
    let error = await #expect(throws: StorageError.self) {
      try await store.change { transaction throws(StorageError) -> Bool in
        try transaction.database.run("SET LOCAL lock_timeout = '1ms'")
        // A row that is left is written at the end.
        if leaves {
          try transaction.pushes.insert(.single(1, app: app, target: 0))
        } else {
          try transaction.database.run("LOCK TABLE push")
        }
        return true
      }
    }
    #expect(error?.kind == .busy && error?.isPassing == true)
    #expect(lines.all.count { $0.contains("holds a lock that it needs") } == 1, "\(lines.all)")
    #expect(store.obstacle == nil)
    try other.sql("COMMIT")
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(1, app: app, target: 0))
    }
  }

  // MARK: Text

  private static let forms: [(sql: String, types: [UInt32], expected: String?)] = [
    (
      "INSERT INTO pending (msg_id, app_id, target, expires_at) VALUES ($1, $2, $3, $4)",
      [20, 20, 0, 20],
      """
      INSERT INTO pending (msg_id, app_id, target, expires_at) SELECT v1, v2, NULL, v3 \
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS v (v1, v2, v3)
      """
    ),
    (
      "INSERT INTO n VALUES ($1, '', 0, NULL, $2) ON CONFLICT (n) DO NOTHING", [25, 17],
      """
      INSERT INTO n SELECT v1, '', 0, NULL, v2 FROM unnest($1::text[], $2::bytea[]) AS v (v1, v2) \
      ON CONFLICT (n) DO NOTHING
      """
    ),
    ("DELETE FROM pending WHERE msg_id = $1", [20], "DELETE FROM pending WHERE msg_id = ANY ($1::bigint[])"),
    ("DELETE FROM n WHERE n < $1", [20], nil),
    ("DELETE FROM n WHERE a = $1 AND b = $2", [20, 20], nil),
    ("INSERT INTO n (a) VALUES ($1) RETURNING a", [20], nil),
    ("INSERT INTO n (a, b) VALUES ($2, $1)", [20, 20], nil),
    ("INSERT INTO n (a) VALUES (abs($1))", [20], nil),
    ("INSERT INTO n (a) SELECT $1 WHERE EXISTS (SELECT 1 FROM m)", [20], nil),
    ("INSERT INTO n (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = $2", [20, 20], nil),
    ("UPDATE n SET a = $1", [20], nil),
  ]

  @Test(arguments: forms)
  func `One statement writes many rows`(sql: String, types: [UInt32], expected: String?) {
    let form = PostgresRowForm(sql)
    #expect(form?.text(types) == expected)
  }

  // MARK: Rows

  /// A database with two tables, in a transaction.
  private func tables() throws -> Database {
    let database = Database(
      try PostgresConnection(url: cluster.url(of: name), role: .writer, PostgresOptions()))
    try database.run(
      script: """
        CREATE TABLE n (n BIGINT PRIMARY KEY, text TEXT, bytes BYTEA);
        CREATE TABLE m (m BIGINT PRIMARY KEY, n BIGINT);
        """)
    try #require(database.postgres).fence.raise()
    try database.begin(.writing)
    return database
  }

  private func rows(_ database: Database) throws -> [String] {
    try database.all("SELECT n, text, bytes FROM n ORDER BY n") {
      "\($0.integer("n")) \($0.optionalText("text") ?? "-") \($0.optionalBlob("bytes")?.description ?? "-")"
    }
  }

  @Test func `Values of many rows come back as they went in`() throws {
    let database = try tables()
    defer { database.close() }
    func insert(_ number: Int64, _ text: String?, _ bytes: [UInt8]?) throws {
      try database.runLater(
        "INSERT INTO n (n, text, bytes) VALUES (?, ?, ?)", .integer(number), .optional(text), .optional(bytes)
      )
    }
    for number in [1, 2] as [Int64] { try insert(number, nil, nil) }
    try insert(.max, "推送", [])
    #expect(try rows(database) == ["1 - -", "2 - -", "\(Int64.max) 推送 []"])
    // Now some are not NULL, and the same statement takes other types.
    try insert(3, "", [0, 255])
    try insert(-4, nil, [1])
    try insert(5, "x", nil)
    #expect(
      try rows(database) == [
        "-4 - [1]", "1 - -", "2 - -", "3  [0, 255]", "5 x -", "\(Int64.max) 推送 []",
      ])
    for number in [1, 1, 2, 7] as [Int64] {
      try database.runLater("DELETE FROM n WHERE n = ?", .integer(number))
    }
    #expect(try database.first("SELECT count(*) FROM n") { $0.count() } == 4)
    #expect(throws: StorageError.self) { try insert(6, "a\u{0}", nil) }
    try database.commit()
  }

  @Test func `Rows on one table stay in their order`() throws {
    let database = try tables()
    defer { database.close() }
    func insert(_ number: Int64, _ text: String) throws {
      try database.runLater(
        "INSERT INTO n (n, text) VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET text = n.text || excluded.text",
        .integer(number), .text(text))
    }
    for (number, text) in ["a", "b", "c"].enumerated() {
      try insert(1, text)
      try insert(2, text)
      try database.runLater("INSERT INTO m (m, n) VALUES (?, NULL)", .integer(number))
      try database.runLater("DELETE FROM m WHERE m = ?", .integer(number))
    }
    try database.runLater("DELETE FROM n WHERE n = ?", .integer(2))
    try insert(2, "d")
    #expect(try rows(database) == ["1 abc -", "2 d -"])
    #expect(try database.first("SELECT count(*) FROM m") { $0.count() } == 0)
    try database.commit()
  }

  @Test func `First rows of many runs are those of single runs`() throws {
    let database = try tables()
    defer { database.close() }
    for number in stride(from: 0, to: 600 as Int64, by: 3) {
      let rest: Int64 = number % 9
      try database.runLater("INSERT INTO n (n, text) VALUES (?, 'x')", .integer(number))
      try database.runLater("INSERT INTO m (m, n) VALUES (?, ?)", .integer(number), .integer(rest))
    }
    let numbers = Array(300..<600) + Array(0..<300 as Range<Int64>)
    let values = numbers.map { number in [SQLValue.integer(number), .text(number % 2 == 0 ? "x" : "y")] }
    let found = try database.firsts("SELECT n, text FROM n WHERE n = ? AND text = ?", values) {
      "\($0.text("text"))\($0.integer("n"))"
    }
    let expected: [String?] = numbers.map { $0 % 6 == 0 ? "x\($0)" : nil }
    #expect(found == expected)
    let last = try database.firsts(
      "SELECT m FROM m WHERE n = ?1 OR m < ?1 ORDER BY m DESC",
      [[.integer(3)], [.integer(9)], [.integer(-1)]]
    ) { $0.integer() }
    #expect(last == [597, 6, nil])
    try database.commit()
  }
}

/// Jobs that share a transaction, on either database: each gets its own answer.
@Suite(.serialized) struct SharedTransactionTests {
  let folder = TemporaryFolder()

  /// What a job does.
  enum Step: Sendable {
    /// Leaves a push.
    case insert(UInt64)
    /// Leaves a push and looks for another.
    case find(UInt64, insert: UInt64)
    /// Leaves a push and fails.
    case fail(UInt64)
    /// Leaves a push that the database refuses, and ignores it.
    case ignore(UInt64)

    func run(_ transaction: WriteTransaction, _ app: AppID) throws(StorageError) -> Bool {
      switch self {
      case .insert(let id): try transaction.pushes.insert(.single(id, app: app, target: 0))
      case .find(let other, let id):
        try transaction.pushes.insert(.single(id, app: app, target: 0))
        return try transaction.pushes.find(id: MessageID(other)) != nil
      case .fail(let id):
        try transaction.pushes.insert(.single(id, app: app, target: 0))
        throw StorageError(.other, "on purpose")
      case .ignore(let id):
        try transaction.pushes.insert(.single(id, app: app, target: 0))
        _ = try? transaction.pushes.find(id: MessageID(id))
      }
      return true
    }
  }

  /// Runs jobs in one transaction; what each was told, in their order, and the pushes that are there.
  private func run(_ steps: [Step]) async throws -> (told: [String], stored: [UInt64]) {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(100, app: app, target: 0))
    }
    let gate = Mutex(())
    let (started, finished) = (WorkQueue<Bool>(capacity: 1), WorkQueue<Bool>(capacity: 1))
    let (told, kept) = (Journal<String>(), Journal<Int>())
    let commits = gate.withLock { _ in
      store.write { _ in
        _ = started.push(true)
        gate.withLock { _ in }
      } completion: { _ in
      }
      _ = started.dequeue(upTo: 1)
      for (number, step) in steps.enumerated() {
        store.write { transaction throws(StorageError) in
          transaction.whenCommitted { kept.add(number) }
          return try step.run(transaction, app)
        } completion: { result in
          switch result {
          case .success(let value): told.add(value ? "yes" : "no")
          case .failure(let error): told.add("\(error.kind)")
          }
          if number == steps.count - 1 { _ = finished.push(true) }
        }
      }
      return store.statistics.commits
    }
    _ = finished.dequeue(upTo: 1)
    #expect(store.statistics.commits == commits + 2, "they share a transaction")
    // What follows a commit is done for those alone that are in it.
    #expect(kept.all == told.all.indices.filter { ["yes", "no"].contains(told.all[$0]) })
    let stored = try await store.look { transaction throws(StorageError) in
      var stored: [UInt64] = []
      for id in 1...20 as ClosedRange<UInt64> where try transaction.pushes.find(id: MessageID(id)) != nil {
        stored.append(id)
      }
      return stored
    }
    return (told.all, stored)
  }

  @Test func `A row that is refused is the failure of its own job`() async throws {
    let result = try await run([.insert(1), .insert(2), .insert(100), .insert(3), .insert(2), .insert(4)])
    #expect(result.told == ["yes", "yes", "constraint", "yes", "constraint", "yes"])
    #expect(result.stored == [1, 2, 3, 4])
  }

  @Test func `The first one is refused`() async throws {
    let result = try await run([.insert(100), .insert(1)])
    #expect(result.told == ["constraint", "yes"])
    #expect(result.stored == [1])
  }

  @Test func `A job sees what those before it have left`() async throws {
    let result = try await run([
      .insert(1), .find(1, insert: 2), .find(3, insert: 3), .find(4, insert: 5), .insert(6),
      .find(6, insert: 7),
    ])
    #expect(result.told == ["yes", "yes", "yes", "no", "yes", "yes"])
    #expect(result.stored == [1, 2, 3, 5, 6, 7])
  }

  @Test func `Refused rows before, between and behind a job that reads`() async throws {
    let result = try await run([
      .insert(1), .insert(100), .find(1, insert: 2), .insert(3), .insert(2), .find(3, insert: 1), .insert(4),
      .insert(100), .insert(5),
    ])
    #expect(
      result.told == [
        "yes", "constraint", "yes", "yes", "constraint", "constraint", "yes", "constraint", "yes",
      ])
    #expect(result.stored == [1, 2, 3, 4, 5])
  }

  @Test func `A job that fails by itself leaves nothing`() async throws {
    let result = try await run([.fail(1), .insert(2), .fail(3), .insert(100), .fail(5), .insert(4)])
    #expect(result.told == ["other", "yes", "other", "constraint", "other", "yes"])
    #expect(result.stored == [2, 4])
  }

  /// SQLite undoes what failed; PostgreSQL does not, and the job with it.
  @Test func `A failure that a body ignores is its job's alone`() async throws {
    let result = try await run([.insert(1), .ignore(100), .insert(2), .ignore(3), .insert(4)])
    #expect(result.told[0] == "yes" && result.told[2...] == ["yes", "yes", "yes"])
    #expect(result.told[1] != "yes")
    #expect(result.stored == [1, 2, 3, 4])
  }
}
