import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core
@testable import Storage

/// Uploads that do not come to their end.
@Suite struct FileUploadTests {
  /// Sweeps, and returns how many files there are.
  private func filesLeft(_ world: TestWorld) async throws -> Int {
    for _ in 0..<61 { try await world.tick() }
    let (loose, files) = try await world.store.look { t throws(StorageError) in
      (
        try t.database.first("SELECT count(*) FROM file_piece WHERE file NOT IN (SELECT id FROM file)") {
          $0.count()
        }, try t.database.first("SELECT count(*) FROM file") { $0.count() }
      )
    }
    #expect(loose == 0)
    return files ?? 0
  }

  private func expectRoom(_ world: TestWorld) async throws {
    for index in 0..<Files.maximumFiles {
      #expect(await world.router.upload("good\(index)", of: world.app, pieces: 1) == nil)
    }
    #expect(await world.router.upload("more", of: world.app, pieces: 1) == .tooMany)
    #expect(try await filesLeft(world) == Files.maximumFiles)
  }

  /// A full disk takes the row of a file and not its pieces.
  @Test(.disabled(if: PostgresCluster.isChosen, "it fills a file of SQLite"))
  func `Uploads that failed take no places`() async throws {
    let world = try await TestWorld()
    try await world.setFault(.full, true)
    for index in 0..<Files.maximumFiles {
      #expect(await world.router.upload("bad\(index)", of: world.app, pieces: 2) == .unavailable)
    }
    try await world.setFault(.full, false)
    try await expectRoom(world)
  }

  @Test func `Uploads that a crash cut off take no places`() async throws {
    let world = try await TestWorld()
    let (now, app) = (world.clock.now(), world.app.key.text)
    let names = (0..<Files.maximumFiles).map { "bad\($0)" }
    try await world.store.change { t throws(StorageError) in
      for name in names {
        let file = NewFile(owner: app, fileID: name, kind: .aliases, name: "", count: 1, pieces: [[1], [2]])
        let id = try t.files.begin(
          file, limit: 20, underWay: Set(names), at: now, expiresAt: now.adding(seconds: 1000))
        if let id { try t.files.addPiece(id, number: 0, lines: [1]) }
      }
    }
    try await world.restart(isOrderly: false)
    try await expectRoom(world)
  }

  @Test func `Uploads at the same time leave each other alone`() async throws {
    let world = try await TestWorld()
    let (app, router) = (world.app, world.router)
    async let first = router.upload("a", of: app, pieces: 30)
    async let second = router.upload("b", of: app, pieces: 30)
    async let third = router.upload("c", of: app, pieces: 30)
    #expect(await [first, second, third] == [nil, nil, nil])
  }
}

extension Router {
  /// Uploads a file of pieces of 10,000 bytes.
  func upload(_ name: String, of app: App, pieces: Int) async -> FileFailure? {
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 9999) + [10]
    let file = NewFile(
      owner: app.key.text, fileID: app.key.text + name, kind: .aliases, name: name, count: pieces,
      pieces: Array(repeating: piece, count: pieces))
    return await awaitCallback { done in files.store(file, for: 3600) { done($0) } }
  }
}
