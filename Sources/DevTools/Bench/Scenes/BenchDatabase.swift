import CSQLite

/// A database that the bench writes by itself, without the server's storage.
final class BenchDatabase {
  fileprivate let handle: OpaquePointer

  init(_ path: String) throws(BenchError) {
    var opened: OpaquePointer?
    let status = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard status == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw .unexpected("cannot open \(path)")
    }
    handle = opened
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements without values.
  func execute(_ sql: String) throws(BenchError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func prepare(_ sql: String) throws(BenchError) -> BenchStatement {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure(sql)
    }
    return BenchStatement(statement, of: self)
  }

  fileprivate func failure(_ what: String) -> BenchError {
    .unexpected("SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(what)")
  }
}

/// A prepared statement.
final class BenchStatement {
  /// What a parameter can be.
  enum Value {
    case integer(Int)
    case text(String)
    case bytes([UInt8])
    case null
  }

  private let handle: OpaquePointer
  private let database: BenchDatabase

  fileprivate init(_ handle: OpaquePointer, of database: BenchDatabase) {
    self.handle = handle
    self.database = database
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs it once with these values and drops the rows it gives; returns the first column of the first, if it
  /// is a number.
  @discardableResult
  func run(_ values: Value...) throws(BenchError) -> Int? {
    // SQLITE_TRANSIENT, a cast that the importer does not carry: SQLite copies the bytes.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      switch value {
      case .integer(let number): sqlite3_bind_int64(handle, place, Int64(number))
      case .text(let text): sqlite3_bind_text(handle, place, text, -1, transient)
      case .bytes(let bytes): sqlite3_bind_blob(handle, place, bytes, Int32(bytes.count), transient)
      case .null: sqlite3_bind_null(handle, place)
      }
    }
    defer { sqlite3_reset(handle) }
    var first: Int?
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: if first == nil { first = Int(sqlite3_column_int64(handle, 0)) }
      case SQLITE_DONE: return first
      default: throw database.failure("a statement")
      }
    }
  }
}
