import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// What a file still has of rows that are gone.
@Suite struct CleaningTests {
  private static func name(_ number: Int) -> String {
    // In no order: rows are moved between pages all the time.
    "name-\(number * 7919 * 31 % 99_999_989)-\(number)z"
  }

  private static func clean(_ store: Store) async throws {
    var page = 0
    for _ in 0..<10_000 {
      let start = page
      let result = try await withCheckedThrowingContinuation { continuation in
        store.clean(from: start) { continuation.resume(with: $0.mapError { $0 as any Error }) }
      }
      switch result {
      case .done: return
      case .more(let next): page = next
      case .later: continue
      }
    }
    Issue.record("cleaning does not end")
  }

  @Test func `Copies that SQLite left in unused parts of pages are overwritten, and nothing else`()
    async throws
  {
    let folder = TemporaryFolder()
    let store = try Store.open(path: folder.database, log: .silent)
    let app = try await store.addApp()
    let count = 20_000
    for start in stride(from: 0, to: count, by: 500) {
      try await store.change { transaction throws(StorageError) in
        for number in start..<start + 500 {
          try transaction.database.run(
            "INSERT INTO fact_value (app_id, number, fact, value) VALUES (?, ?, 1, ?)", .app(app),
            .integer(number), .text(Self.name(number)))
        }
      }
    }
    let gone = Array(stride(from: 0, to: count, by: 2))
    try await store.change { transaction throws(StorageError) in
      for number in gone {
        try transaction.database.run(
          "DELETE FROM fact_value WHERE app_id = ? AND number = ?", .app(app), .integer(number))
      }
    }
    try await Self.clean(store)
    let file = TemporaryFolder.bytes(folder.database) + TemporaryFolder.bytes(folder.database + "-wal")
    let text = String(decoding: file, as: UTF8.self)
    let left = Set(text.matches(of: /name-\d+-(\d+)z/).compactMap { Int($0.1) })
    #expect(left.count == count / 2 && left.allSatisfy { $0 % 2 == 1 })
    let rows = try await store.look { transaction throws(StorageError) in
      try transaction.database.all("SELECT number, value FROM fact_value WHERE app_id = ?", .app(app)) {
        ($0.integer("number"), $0.text("value"))
      }
    }
    #expect(rows.count == count / 2 && rows.allSatisfy { $0.1 == Self.name(Int($0.0)) })
    store.close()
    #expect(try Store.check(.sqlite(path: folder.database)).problems == [])
  }

  @Test(.timeLimit(.minutes(1))) func `A step waits for a read that needs the log`() async throws {
    let folder = TemporaryFolder()
    let store = try Store.open(path: folder.database, log: .silent)
    defer { store.close() }
    _ = try await store.addApp()
    let (begun, end, done) = (Semaphore(), Semaphore(), Semaphore())
    store.read { transaction throws(StorageError) in
      let count = try transaction.database.first("SELECT count(*) FROM app") { $0.count() }
      begun.signal()
      end.wait()
      return count
    } completion: { result in
      #expect((try? result.get()) == 1)
      done.signal()
    }
    begun.wait()
    // What the read does not see is in the log, and would be in the file after a step.
    _ = try await store.addApp()
    func step() throws -> Store.Cleaning { try Store.wait { store.clean(from: 0, completion: $0) } }
    #expect(try step() == .later)
    end.signal()
    done.wait()
    #expect(try step() == .done)
    #expect(TemporaryFolder.bytes(folder.database + "-wal").isEmpty)
  }

  @Test func `Only the part between the list of rows and the first row of a page is unused`() {
    var page = [UInt8](repeating: 1, count: 4096)
    // A leaf with three rows, the first of which begins at 4000.
    page.replaceSubrange(0..<8, with: [13, 0, 0, 0, 3, 0x0f, 0xa0, 0])
    #expect(PageCleaner.unused(page[...], isFirst: false) == 14..<4000)
    page[0] = 5
    #expect(PageCleaner.unused(page[...], isFirst: false) == 18..<4000)
    page[0] = 0
    #expect(PageCleaner.unused(page[...], isFirst: false).isEmpty)
    page.replaceSubrange(100..<108, with: [13, 0, 0, 0, 0, 0, 0, 0])
    #expect(PageCleaner.unused(page[...], isFirst: true).isEmpty)
    page.replaceSubrange(105..<107, with: [0x10, 0])
    #expect(PageCleaner.unused(page[...], isFirst: true) == 108..<4096)
  }
}
