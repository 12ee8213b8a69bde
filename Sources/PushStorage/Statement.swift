import CSQLite

/// A value that goes into a statement.
enum SQLValue {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  /// An integer of any width; the schema keeps them all below 2^63.
  static func integer(_ value: some BinaryInteger) -> SQLValue { .integer(Int64(truncatingIfNeeded: value)) }

  /// Text, or NULL for nil.
  static func optional(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }

  /// Bytes, or NULL for nil.
  static func optional(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }

  /// An integer, or NULL for nil.
  static func optional(_ value: (some BinaryInteger)?) -> SQLValue { value.map { .integer($0) } ?? .null }
}

/// A prepared statement and, while it runs, its current row. Columns count from 0.
final class Statement {
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

  /// Runs to the end and drops the rows.
  func run(_ values: [SQLValue]) throws(StorageError) { try each(values) { _ in } }

  /// Maps the first row and stops.
  func first<Value>(_ values: [SQLValue], _ map: (Statement) -> Value) throws(StorageError) -> Value? {
    defer { finish() }
    try bind(values)
    return try step() ? map(self) : nil
  }

  /// Calls `body` for each row. The body must not use the same statement.
  func each(_ values: [SQLValue], _ body: (Statement) throws(StorageError) -> Void) throws(StorageError) {
    defer { finish() }
    try bind(values)
    while try step() { try body(self) }
  }

  /// Calls `body` for each row until it returns false. The body must not use the same statement.
  func scan(_ values: [SQLValue], _ body: (Statement) -> Bool) throws(StorageError) {
    defer { finish() }
    try bind(values)
    while try step() {
      guard body(self) else { return }
    }
  }

  private func step() throws(StorageError) -> Bool {
    let status = sqlite3_step(handle)
    if status == SQLITE_ROW { return true }
    guard status == SQLITE_DONE else {
      throw StorageError(code: status, message: String(cString: sqlite3_errmsg(connection)))
    }
    return false
  }

  private func finish() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private func bind(_ values: [SQLValue]) throws(StorageError) {
    assert(values.count == Int(sqlite3_bind_parameter_count(handle)))
    for (position, value) in values.enumerated() {
      let index = Int32(position + 1)
      let status =
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let number): sqlite3_bind_int64(handle, index, number)
        case .text(let text): bind(index, text)
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

  /// Whether a column of the row is NULL.
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// An integer of the row, 0 for NULL.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// An integer of the row, cut to the width of its type.
  func integer<Value: FixedWidthInteger>(_ column: Int32, as: Value.Type) -> Value {
    Value(truncatingIfNeeded: integer(column))
  }

  /// An integer of the row, or nil for NULL.
  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  /// Bytes of the row, empty for NULL.
  func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    return [UInt8](bytes)
  }

  /// How many bytes a column of the row has, 0 for NULL.
  func size(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

  /// A big-endian number inside a column of bytes; 0 if the column is too short.
  func bigEndian<Value: FixedWidthInteger>(
    _ column: Int32, at offset: Int, as: Value.Type = Value.self
  ) -> Value {
    guard let start = sqlite3_column_blob(handle, column), offset >= 0,
      offset + MemoryLayout<Value>.size <= size(column)
    else { return 0 }
    return Value(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// Bytes of the row, or nil for NULL.
  func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

  /// Text of the row, empty for NULL.
  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Text of the row, or nil for NULL.
  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
