import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// Columns are read by their names, whatever their order.
@Suite struct RowTests {
  let folder = TemporaryFolder()

  private func open() throws -> Database {
    let database = try Database(path: folder.database, mode: .create)
    try database.run(
      script: "CREATE TABLE t (a, b, c); INSERT INTO t VALUES (1, 'x', x'00ff'), (2, 'y', NULL)")
    return database
  }

  /// Rows may be read in different orders, and a column more than once.
  @Test(.onSQLite) func namesInAnyOrder() throws {
    let database = try open()
    var found: [String] = []
    for _ in 0..<2 {
      try database.statement("SELECT c, a, b AS letter FROM t ORDER BY a").each([]) { row in
        if row.isNull("c") {
          found.append("\(row.integer("a")) \(row.text("letter")) \(row.integer("a"))")
        } else {
          found.append("\(row.text("letter")) \(row.blob("c")) \(row.integer("a"))")
        }
      }
    }
    #expect(found == ["x [0, 255] 1", "2 y 2", "x [0, 255] 1", "2 y 2"])
  }

  /// A name that no column has makes the statement fail, also on a second run, and does no harm to the next.
  @Test(.onSQLite) func unknownNameFails() throws {
    let database = try open()
    func read(_ name: StaticString) throws(StorageError) -> [Int64] {
      try database.all("SELECT a, b FROM t ORDER BY a") { $0.integer(name) }
    }
    for _ in 0..<2 {
      #expect { try read("d") } throws: { error in
        (error as? StorageError)?.message == "no column d in SELECT a, b FROM t ORDER BY a"
      }
      #expect(try read("a") == [1, 2])
    }
  }
}
