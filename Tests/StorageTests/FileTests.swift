import BorealisBase
import PushTesting
import Testing

@testable import Storage

@Suite struct FileTests {
  private static let owner = AppKey(high: 5, low: 6)

  private static func file(_ name: String, pieces: Int, of owner: AppKey = owner) -> NewFile {
    NewFile(
      owner: owner.text, fileID: name, kind: .aliases, name: "f", count: pieces,
      pieces: (0..<pieces).map { Array("a\($0)\n".utf8) })
  }

  /// Ended files and those that were never completed go in steps; nothing of another file goes with them.
  @Test(.onSQLite) func sweepsInSmallSteps() throws {
    let folder = TemporaryFolder()
    let database = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let transaction = WriteTransaction(database)
    let start = Timestamp.start
    _ = try transaction.apps.create(key: Self.owner, name: "a", secretHash: Self.hash, at: start)
    func add(_ name: String, pieces: Int, at now: Timestamp, complete: Bool) throws -> Int64 {
      let file = Self.file(name, pieces: pieces)
      let id = try #require(
        try transaction.files.begin(
          file, limit: 20, underWay: ["broken"], at: now, expiresAt: now.adding(seconds: 100)))
      for (number, lines) in file.pieces.enumerated() {
        try transaction.files.addPiece(id, number: number, lines: lines)
      }
      if complete { try transaction.files.complete(id, at: now) }
      return id
    }
    let ended = try add("ended", pieces: 10, at: start, complete: true)
    let broken = try add("broken", pieces: 3, at: start.adding(seconds: 50), complete: false)
    let good = try add("good", pieces: 2, at: start.adding(seconds: 60), complete: true)
    let now = start.adding(seconds: 120)
    #expect(try transaction.files.all(owner: Self.owner.text, at: now).map(\.fileID) == ["good"])
    #expect(try transaction.files.find(owner: Self.owner.text, "broken", at: now) == nil)
    var steps = 0
    while try transaction.files.sweep(
      endedBefore: now, begunBefore: start.adding(seconds: 55), limit: 4, in: .all)
    {
      steps += 1
      #expect(steps <= 4)
    }
    #expect(steps == 4)
    for (id, count) in [(ended, 0), (broken, 0), (good, 2)] {
      let found = try (0..<10).filter { try transaction.files.piece(id, $0) != nil }
      #expect(found.count == count)
    }
    #expect(try database.first("SELECT count(*) FROM file") { $0.integer() } == 1)
  }

  private static let hash = [UInt8](repeating: 1, count: 32)

  /// What was begun and is not being stored any more takes no place, and cannot be completed.
  @Test func `What an upload left behind makes room for the next`() async throws {
    let folder = TemporaryFolder()
    let store = try Store.testing(folder)
    defer { store.close() }
    let (now, end) = (Timestamp.start, Timestamp.start.adding(seconds: 100))
    func begin(_ name: String, of owner: AppKey, underWay: Set<String> = []) async throws -> Int64? {
      try await store.change { t throws(StorageError) in
        try t.files.begin(
          Self.file(name, pieces: 1, of: owner), limit: 2, underWay: underWay, at: now, expiresAt: end)
      }
    }
    try await store.change { t throws(StorageError) in
      _ = try t.apps.create(key: Self.owner, name: "a", secretHash: Self.hash, at: now)
      _ = try t.appGroups.create(key: Self.group, name: "g", secretHash: Self.hash, at: now)
    }
    for owner in [Self.owner, Self.group] {
      let first = try #require(try await begin("1\(owner.text)", of: owner))
      #expect(try await begin("2\(owner.text)", of: owner, underWay: ["1\(owner.text)"]) != nil)
      let both: Set = ["1\(owner.text)", "2\(owner.text)"]
      #expect(try await begin("3\(owner.text)", of: owner, underWay: both) == nil)
      #expect(try await begin("4\(owner.text)", of: owner, underWay: ["2\(owner.text)"]) != nil)
      await #expect(throws: StorageError.self) {
        try await store.change { t throws(StorageError) in try t.files.complete(first, at: now) }
      }
    }
    await #expect(throws: StorageError.self) { _ = try await begin("5", of: AppKey(high: 9, low: 9)) }
  }

  private static let group = AppKey(high: 7, low: 8)

  /// What a deleted group uploaded cannot be read any more, and goes with the next sweep.
  @Test func `A deleted group's files end`() async throws {
    let folder = TemporaryFolder()
    let store = try Store.testing(folder)
    defer { store.close() }
    let (now, later) = (Timestamp.start, Timestamp.start.adding(seconds: 10))
    let left = try await store.change { t throws(StorageError) -> [String] in
      _ = try t.apps.create(key: Self.owner, name: "a", secretHash: Self.hash, at: now)
      let group = try t.appGroups.create(key: Self.group, name: "g", secretHash: Self.hash, at: now)
      for owner in [Self.owner, Self.group] {
        let file = Self.file(owner.text, pieces: 3, of: owner)
        guard let id = try t.files.begin(file, limit: 9, at: now, expiresAt: now.adding(seconds: 100)) else {
          return []
        }
        for (number, lines) in file.pieces.enumerated() {
          try t.files.addPiece(id, number: number, lines: lines)
        }
        try t.files.complete(id, at: now)
      }
      try t.appGroups.delete(group, at: later)
      while try t.files.sweep(endedBefore: later, begunBefore: now, limit: 4, in: .all) {}
      return try t.database.all(
        "SELECT owner FROM file JOIN file_piece ON file_piece.file = file.id ORDER BY number"
      ) { $0.text() }
    }
    #expect(left == Array(repeating: Self.owner.text, count: 3))
  }
}
