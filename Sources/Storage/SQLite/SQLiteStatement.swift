import CSQLite
import Glibc

/// A prepared statement of SQLite.
final class SQLiteStatement: Statement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  /// SQLITE_TRANSIENT: SQLite copies what it is given before the call returns.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Takes over a prepared statement.
  init(_ handle: OpaquePointer, of connection: OpaquePointer) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  override func start(_ values: [SQLValue], inPieces: Bool) throws(StorageError) {
    assert(values.count == Int(sqlite3_bind_parameter_count(handle)))
    for (position, value) in values.enumerated() {
      let index = Int32(position + 1)
      let status =
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let number): sqlite3_bind_int64(handle, index, number)
        case .text(let text): bind(index, try text.storable())
        // An empty array may have no address, which SQLite would take for NULL.
        case .blob(let bytes):
          bytes.isEmpty
            ? sqlite3_bind_zeroblob(handle, index, 0)
            : sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), Self.copied)
        }
      guard status == SQLITE_OK else { throw StorageError(code: status, message: "cannot bind a value") }
    }
  }

  private func bind(_ index: Int32, _ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text64(
          handle, index, $0.baseAddress, UInt64($0.count), Self.copied, UInt8(SQLITE_UTF8))
      }
    }
  }

  override func step() throws(StorageError) -> Bool {
    let status = sqlite3_step(handle)
    if status == SQLITE_ROW { return true }
    guard status == SQLITE_DONE else {
      throw StorageError(code: status, message: String(cString: sqlite3_errmsg(connection)))
    }
    return false
  }

  override func finish() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  override var text: String { String(cString: sqlite3_sql(handle)) }

  override func findColumn(_ name: StaticString) -> Int32? {
    (0..<sqlite3_column_count(handle)).first {
      guard let column = sqlite3_column_name(handle, $0) else { return false }
      return strcmp(column, name.utf8Start) == 0
    }
  }

  override func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  override func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  override func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
