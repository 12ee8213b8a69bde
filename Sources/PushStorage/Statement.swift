import CSQLite
import Glibc

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

/// A prepared statement.
final class Statement {
  fileprivate let handle: OpaquePointer
  private let connection: OpaquePointer
  // Only one thread has a statement at a time and nothing here is reentrant: without the checks of exclusive access, which
  // cost more than the rest, a name costs a nanosecond.
  /// Columns that were read so far, in that order: the address of the constant that names one, and its index.
  @exclusivity(unchecked) private var columns: [(name: UInt, index: Int32)] = []
  /// The place in `columns` of the one that is probably read next.
  @exclusivity(unchecked) private var next = 0
  /// A name that no column has.
  @exclusivity(unchecked) private var unknownColumn: StaticString?
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
  func first<Value>(_ values: [SQLValue], _ map: (Row) -> Value) throws(StorageError) -> Value? {
    defer { finish() }
    try bind(values)
    return try step() ? read(map) : nil
  }

  /// Calls `body` for each row. The body must not use the same statement.
  func each(_ values: [SQLValue], _ body: (Row) throws(StorageError) -> Void) throws(StorageError) {
    defer { finish() }
    try bind(values)
    while try step() { try read(body) }
  }

  /// Calls `body` for each row until it returns false. The body must not use the same statement.
  func scan(
    _ values: [SQLValue], _ body: (Row) throws(StorageError) -> Bool
  ) throws(StorageError) {
    defer { finish() }
    try bind(values)
    while try step() {
      guard try read(body) else { return }
    }
  }

  /// Hands the current row out.
  private func read<Value>(_ body: (Row) throws(StorageError) -> Value) throws(StorageError) -> Value {
    next = 0
    let value = try body(Row(statement: self))
    guard let unknownColumn else { return value }
    self.unknownColumn = nil
    throw StorageError(.other, "no column \(unknownColumn) in \(String(cString: sqlite3_sql(handle)))")
  }

  /// The index of a column. A name is compared with the columns' only once: rows are read in the same order each time, so
  /// that the constant expected next is nearly always the one asked for.
  fileprivate func index(of name: StaticString) -> Int32 {
    if name.utf8CodeUnitCount == 0 { return 0 }
    let key = UInt(bitPattern: name.utf8Start)
    if next < columns.count, columns[next].name == key {
      next += 1
      return columns[next - 1].index
    }
    if let place = columns.firstIndex(where: { $0.name == key }) {
      next = place + 1
      return columns[place].index
    }
    let index = (0..<sqlite3_column_count(handle)).first {
      guard let column = sqlite3_column_name(handle, $0) else { return false }
      return strcmp(column, name.utf8Start) == 0
    }
    guard let index else {
      unknownColumn = name
      return -1
    }
    columns.append((key, index))
    next = columns.count
    return index
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
}

/// The current row of a statement that runs. Columns are read by their names; without a name, the only column is. A name that
/// no column has reads as NULL, and makes the statement fail.
struct Row {
  fileprivate let statement: Statement

  /// Whether a column is NULL.
  func isNull(_ column: StaticString = "") -> Bool {
    sqlite3_column_type(statement.handle, statement.index(of: column)) == SQLITE_NULL
  }

  /// An integer, 0 for NULL.
  func integer(_ column: StaticString = "") -> Int64 {
    sqlite3_column_int64(statement.handle, statement.index(of: column))
  }

  /// An integer, cut to the width of its type.
  func integer<Value: FixedWidthInteger>(_ column: StaticString = "", as: Value.Type) -> Value {
    Value(truncatingIfNeeded: integer(column))
  }

  /// A number of things.
  func count(_ column: StaticString = "") -> Int { Int(integer(column)) }

  /// Whether an integer is not 0.
  func bool(_ column: StaticString = "") -> Bool { integer(column) != 0 }

  /// An integer, or nil for NULL.
  func optionalInteger(_ column: StaticString = "") -> Int64? { isNull(column) ? nil : integer(column) }

  /// Bytes, empty for NULL.
  func blob(_ column: StaticString = "") -> [UInt8] { bytes(of: column) { [UInt8]($0) } }

  /// Hands out the bytes of a column, none for NULL, without copying them.
  func bytes<Value>(of column: StaticString, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    let index = statement.index(of: column)
    let start = sqlite3_column_blob(statement.handle, index)
    return body(
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, index))))
  }

  /// Bytes, or nil for NULL.
  func optionalBlob(_ column: StaticString = "") -> [UInt8]? { isNull(column) ? nil : blob(column) }

  /// Text, empty for NULL.
  func text(_ column: StaticString = "") -> String {
    let index = statement.index(of: column)
    guard let start = sqlite3_column_text(statement.handle, index) else { return "" }
    let count = Int(sqlite3_column_bytes(statement.handle, index))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Text, or nil for NULL.
  func optionalText(_ column: StaticString = "") -> String? { isNull(column) ? nil : text(column) }
}
