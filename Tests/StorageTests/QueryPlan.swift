import BorealisBase
import CSQLite

@testable import Storage

/// How many steps SQLite's machine takes for a statement, over a connection of its own. Parameters `?1` and
/// so on are given as text.
func machineSteps(of sql: String, _ parameters: [String], in path: String) throws -> Int32 {
  let text = parameters.enumerated().reduce(sql) {
    $0.replacing("?\($1.offset + 1)", with: $1.element)
  }
  return try withConnection(to: path) { connection in
    try prepare(text, on: connection) { statement in
      while sqlite3_step(statement) == SQLITE_ROW {}
      return sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0)
    }
  }
}

/// The lines in which SQLite says how it goes about a statement, over a connection of its own.
func queryPlan(of sql: String, in path: String) throws -> [String] {
  try withConnection(to: path) { try queryPlan(of: sql, on: $0) }
}

extension Database {
  /// How many steps SQLite's machine has taken for the statements that the connection keeps.
  var machineSteps: Int32 {
    var steps: Int32 = 0
    var statement = sqlite3_next_stmt(sqlite?.handle, nil)
    while let current = statement {
      steps += sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0)
      statement = sqlite3_next_stmt(sqlite?.handle, current)
    }
    return steps
  }

  /// The lines in which SQLite says how it goes about a statement.
  func queryPlan(of sql: String) throws -> [String] {
    try StorageTests.queryPlan(of: sql, on: sqlite?.handle)
  }
}

private func queryPlan(of sql: String, on connection: OpaquePointer?) throws -> [String] {
  try prepare("EXPLAIN QUERY PLAN \(sql)", on: connection) { statement in
    var lines: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      // Columns: id, parent, unused, detail.
      if let detail = sqlite3_column_text(statement, 3) { lines.append(String(cString: detail)) }
    }
    return lines
  }
}

private func withConnection<Value>(to path: String, _ body: (OpaquePointer?) throws -> Value) throws -> Value
{
  var handle: OpaquePointer?
  defer { sqlite3_close_v2(handle) }
  let status = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
  guard status == SQLITE_OK else { throw StorageError(.io, "cannot open the database (\(status))") }
  return try body(handle)
}

private func prepare<Value>(
  _ sql: String, on connection: OpaquePointer?, _ body: (OpaquePointer?) throws -> Value
) throws -> Value {
  var statement: OpaquePointer?
  defer { sqlite3_finalize(statement) }
  let text = try SQLText.expand(sql, for: .sqlite, in: .all)
  let status = sqlite3_prepare_v2(connection, text, -1, &statement, nil)
  guard status == SQLITE_OK else {
    throw StorageError(.other, String(cString: sqlite3_errmsg(connection)))
  }
  return try body(statement)
}
