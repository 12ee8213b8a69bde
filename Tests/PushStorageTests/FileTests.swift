import PushBase
import PushTesting
import Testing

@testable import PushStorage

@Suite struct FileTests {
  private static func file(_ name: String, pieces: Int) -> NewFile {
    NewFile(
      owner: "app", fileID: name, kind: .aliases, name: "f", count: pieces,
      pieces: (0..<pieces).map { Array("a\($0)\n".utf8) })
  }

  /// Ended files and those that were never completed go in steps; nothing of another file goes with them.
  @Test(.onSQLite) func sweepsInSmallSteps() throws {
    let folder = TemporaryFolder()
    let database = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let transaction = WriteTransaction(database)
    let start = Timestamp.start
    func add(_ name: String, pieces: Int, at now: Timestamp, complete: Bool) throws -> Int64 {
      let file = Self.file(name, pieces: pieces)
      let id = try #require(
        try transaction.files.begin(file, limit: 20, at: now, expiresAt: now.adding(seconds: 100)))
      for (number, lines) in file.pieces.enumerated() {
        try transaction.files.addPiece(id, number: number, lines: lines)
      }
      if complete { try transaction.files.complete(id) }
      return id
    }
    let ended = try add("ended", pieces: 10, at: start, complete: true)
    let broken = try add("broken", pieces: 3, at: start.adding(seconds: 50), complete: false)
    let good = try add("good", pieces: 2, at: start.adding(seconds: 60), complete: true)
    let now = start.adding(seconds: 120)
    #expect(try transaction.files.all(owner: "app", at: now).map(\.fileID) == ["good"])
    #expect(try transaction.files.find(owner: "app", "broken", at: now) == nil)
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
}
