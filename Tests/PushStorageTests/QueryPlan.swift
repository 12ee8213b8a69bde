import CSQLite
import PushBase

@testable import PushStorage

/// The lines in which SQLite says how it goes about a statement, over a connection of its own.
func queryPlan(of sql: String, in path: String) throws -> [String] {
  var handle: OpaquePointer?
  defer { sqlite3_close_v2(handle) }
  var status = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
  guard status == SQLITE_OK else { throw StorageError(.io, "cannot open the database (\(status))") }
  var statement: OpaquePointer?
  defer { sqlite3_finalize(statement) }
  status = sqlite3_prepare_v2(handle, "EXPLAIN QUERY PLAN \(sql)", -1, &statement, nil)
  guard status == SQLITE_OK else { throw StorageError(.other, String(cString: sqlite3_errmsg(handle))) }
  var lines: [String] = []
  while sqlite3_step(statement) == SQLITE_ROW {
    // Columns: id, parent, unused, detail.
    if let detail = sqlite3_column_text(statement, 3) { lines.append(String(cString: detail)) }
  }
  return lines
}
