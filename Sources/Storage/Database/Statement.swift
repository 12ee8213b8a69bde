/// A value that goes into a statement.
enum SQLValue: Hashable {
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

extension String {
  /// The text, unless it holds U+0000, which PostgreSQL cannot store: whoever takes text from outside refuses
  /// that with a better answer.
  func storable() throws(StorageError) -> String {
    guard !utf8.contains(0) else { throw StorageError(.constraint, "a text holds U+0000") }
    return self
  }
}

/// A prepared statement.
class Statement {
  // Only one thread has a statement at a time and nothing here is reentrant: without the checks of exclusive
  // access, which cost more than the rest, a name costs a nanosecond.
  /// Columns that were read so far, in that order: the address of the constant that names one, and its index.
  @exclusivity(unchecked) private var columns: [(name: UInt, index: Int32)] = []
  /// The place in `columns` of the one that is probably read next.
  @exclusivity(unchecked) private var next = 0
  /// A name that no column has.
  @exclusivity(unchecked) private var unknownColumn: StaticString?

  /// Runs to the end and drops the rows.
  final func run(_ values: [SQLValue]) throws(StorageError) {
    defer { finish() }
    try start(values, inPieces: false)
    while try step() {}
  }

  /// Runs to the end, now or with the next statement.
  final func runLater(_ values: [SQLValue]) throws(StorageError) {
    if try !postpone(values) { try run(values) }
  }

  /// Maps the first row and stops.
  final func first<Value>(_ values: [SQLValue], _ map: (Row) -> Value) throws(StorageError) -> Value? {
    defer { finish() }
    try start(values, inPieces: false)
    return try step() ? read(map) : nil
  }

  /// Maps the first row of each run, one run for each of the values; nil where there is none.
  final func firsts<Value>(
    _ all: [[SQLValue]], _ map: (Row) -> Value
  ) throws(StorageError) -> [Value?] {
    defer { forget() }
    try fetch(all)
    var found: [Value?] = []
    found.reserveCapacity(all.count)
    for values in all { found.append(try first(values, map)) }
    return found
  }

  /// Maps all rows.
  final func all<Value>(_ values: [SQLValue], _ map: (Row) -> Value) throws(StorageError) -> [Value] {
    defer { finish() }
    try start(values, inPieces: false)
    var found: [Value] = []
    while try step() { found.append(try read(map)) }
    return found
  }

  /// Calls `body` for each row, of any number. The body must not use the same statement.
  final func each(_ values: [SQLValue], _ body: (Row) throws(StorageError) -> Void) throws(StorageError) {
    defer { finish() }
    try start(values, inPieces: true)
    while try step() { try read(body) }
  }

  /// Calls `body` for each row, of any number, until it returns false. The body must not use the same
  /// statement.
  final func scan(
    _ values: [SQLValue], _ body: (Row) throws(StorageError) -> Bool
  ) throws(StorageError) {
    defer { finish() }
    try start(values, inPieces: true)
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
    throw StorageError(.other, "no column \(unknownColumn) in \(text)")
  }

  /// The index of a column. A name is compared with the columns' only once: rows are read in the same order
  /// each time, so that the constant expected next is nearly always the one asked for.
  fileprivate final func index(of name: StaticString) -> Int32 {
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
    guard let index = findColumn(name) else {
      unknownColumn = name
      return -1
    }
    columns.append((key, index))
    next = columns.count
    return index
  }

  // MARK: What a database does for it. Columns are counted from 0; -1 is an absent column, and NULL.

  /// Begins with values for the parameters; no row is current yet. `inPieces` asks not to hold all rows in
  /// memory, and to find the first ones soon.
  func start(_ values: [SQLValue], inPieces: Bool) throws(StorageError) {}
  /// Runs it for each of the values at once, if that saves time: the next runs begin with what came back.
  func fetch(_ all: [[SQLValue]]) throws(StorageError) {}
  /// Lets go of what `fetch` has brought.
  func forget() {}
  /// Leaves the statement with its values to be sent with the next one; false if it has to run now.
  func postpone(_ values: [SQLValue]) throws(StorageError) -> Bool { false }
  /// Moves to the next row; false behind the last.
  func step() throws(StorageError) -> Bool { false }
  /// Lets go of the rows and the values.
  func finish() {}
  /// The SQL text.
  var text: String { "" }
  /// The index of a column of the rows, nil if there is none.
  func findColumn(_ name: StaticString) -> Int32? { nil }
  /// Whether a column of the current row is NULL.
  func isNull(_ column: Int32) -> Bool { true }
  /// An integer of the current row, 0 for NULL.
  func integer(_ column: Int32) -> Int64 { 0 }
  /// The bytes of a column of the current row, none for NULL; valid until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// The current row of a statement that runs. Columns are read by their names; without a name, the only column
/// is. A name that no column has reads as NULL, and makes the statement fail.
struct Row {
  fileprivate let statement: Statement

  /// Whether a column is NULL.
  func isNull(_ column: StaticString = "") -> Bool {
    statement.isNull(statement.index(of: column))
  }

  /// An integer, 0 for NULL.
  func integer(_ column: StaticString = "") -> Int64 {
    statement.integer(statement.index(of: column))
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
    body(statement.bytes(statement.index(of: column)))
  }

  /// Bytes, or nil for NULL.
  func optionalBlob(_ column: StaticString = "") -> [UInt8]? { isNull(column) ? nil : blob(column) }

  /// What is in a column counted from 0.
  func value(_ column: Int32, isNumber: Bool) -> CopiedValue {
    if statement.isNull(column) { return .null }
    return isNumber ? .integer(statement.integer(column)) : .bytes([UInt8](statement.bytes(column)))
  }

  /// Text, empty for NULL.
  func text(_ column: StaticString = "") -> String {
    String(decoding: statement.bytes(statement.index(of: column)), as: UTF8.self)
  }

  /// Text, or nil for NULL.
  func optionalText(_ column: StaticString = "") -> String? { isNull(column) ? nil : text(column) }
}
