import BorealisBase
import Glibc
import PushTesting
import Testing

@testable import Storage

@Suite(.onSQLite) struct LogFileTests {
  private let folder = TemporaryFolder()

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  private func fill(_ store: Store, _ numbers: ClosedRange<UInt64>, of app: AppID) async throws {
    for number in numbers {
      try await store.change(single: true) { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(number, app: app, target: 0, content: [UInt8(number)]))
      }
    }
  }

  /// The file of the log grows ahead of the commits, so that most of them leave its size alone.
  @Test func commitsOverwrite() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let size = size(folder.database + "-wal")
    try await fill(store, 1...100, of: app)
    #expect(size > 1 << 20)
    #expect(self.size(folder.database + "-wal") == size)
  }

  /// What a killed process leaves, zeros behind the last commit included, opens with all that was committed.
  @Test func zerosAreNoCommits() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    try await fill(store, 1...50, of: app)
    let left = TemporaryFolder()
    for suffix in ["", "-wal"] {
      try copy(folder.database + suffix, to: left.database + suffix)
    }
    let again = try Store.testing(left)
    defer { again.close() }
    let contents = try await again.look { transaction throws(StorageError) in
      try transaction.pushes.contents(of: (1...51 as ClosedRange<UInt64>).map { MessageID($0) })
    }
    #expect(contents.map { $0?.content } == (1...50).map { [UInt8($0)] } + [nil])
    try await fill(again, 51...60, of: app)
  }

  private func copy(_ source: String, to target: String) throws {
    let input = open(source, O_RDONLY)
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    defer {
      close(input)
      close(output)
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(input, &buffer, buffer.count)
      guard count > 0 else { break }
      try #require(write(output, buffer, count) == count)
    }
    try #require(size(target) == size(source))
  }
}
