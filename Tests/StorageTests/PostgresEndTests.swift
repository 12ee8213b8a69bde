import BorealisBase
import Glibc
import PushTesting
import Testing

@testable import Storage

/// The end of a server whose database says nothing.
@Suite(.serialized) struct PostgresEndTests {
  @Test func `At the end nobody waits for a silent server again and again`() throws {
    let cluster = try PostgresCluster()
    let name = try cluster.make()
    // A socket that is PostgreSQL's first, and then one that accepts connections and says nothing.
    let folder = TemporaryFolder()
    let socket = folder.path + "/.s.PGSQL.5432"
    #expect(symlink(cluster.socketFolder + "/.s.PGSQL.5432", socket) == 0)
    let store = try Store.open(
      .postgres(url: "postgres://borealis@/\(name)?host=\(folder.path)"), readers: 1, log: .silent)
    defer { store.close() }
    try Store.wait { store.write({ _ in }, completion: $0) }
    try store.wait { _ in }
    unlink(socket)
    let hole = try #require(SilentListener(path: socket))
    defer { unlink(socket) }
    try cluster.sql(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = '\(name)' AND pid <> pg_backend_pid()
      """)
    store.expectEnd(by: 0)
    for _ in 0..<3 {
      let written = #expect(throws: StorageError.self) {
        try Store.wait { store.write({ _ in }, completion: $0) }
      }
      let read = #expect(throws: StorageError.self) { try store.wait { _ in } }
      #expect(written?.kind == .io && read?.kind == .io)
    }
    // Once for the writer, and once for the reader.
    #expect(hole.count() == 2)
  }
}
