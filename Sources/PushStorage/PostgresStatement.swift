import CPostgreSQL
import Glibc
import PushBase

/// A statement of PostgreSQL. It is prepared when it runs, since its parameters get their types from the values.
final class PostgresStatement: Statement {
  private let sql: String
  private unowned let connection: PostgresConnection
  /// What it was prepared as, for the types of its parameters.
  private var plans: [(types: [UInt32], name: String)] = []
  private var cursors: [(types: [UInt32], cursor: Cursor)] = []
  private var generation = -1
  private var result: OpaquePointer?
  private var row: Int32 = -1
  /// Results of the next runs.
  private var fetched = FIFO<FetchedResult>()
  /// The cursor that the rows come from, if it is open.
  private var cursor: Cursor?

  /// Names of prepared statements: one that opens a cursor, one that gets rows from it, one that closes it.
  private struct Cursor {
    let open: String
    let fetch: String
    let close: String
  }

  /// Rows that are in memory at a time.
  private static let piece: Int32 = 256

  /// Types of PostgreSQL, by their fixed numbers in its catalog.
  private enum TypeNumber {
    static let boolean: UInt32 = 16
    static let bytes: UInt32 = 17
    static let integer8: UInt32 = 20
    static let integer2: UInt32 = 21
    static let integer4: UInt32 = 23
    static let text: UInt32 = 25
    static let numeric: UInt32 = 1700
  }

  init(_ sql: String, of connection: PostgresConnection) {
    self.sql = sql
    self.connection = connection
  }

  deinit {
    if let result { PQclear(result) }
  }

  override func start(_ values: [SQLValue], inPieces: Bool) throws(StorageError) {
    row = -1
    if let next = fetched.popFirst() {
      result = next.take()
      return
    }
    guard !inPieces else { return try open(values, types(of: values)) }
    result = try connection.execute(try plan(for: values), values)
  }

  override func postpone(_ values: [SQLValue]) throws(StorageError) -> Bool {
    try connection.postpone(try plan(for: values), values)
    return true
  }

  override func fetch(_ all: [[SQLValue]]) throws(StorageError) {
    for start in stride(from: 0, to: all.count, by: Int(Self.piece)) {
      var statements: [PreparedStatement] = []
      for values in all[start..<min(all.count, start + Int(Self.piece))] {
        statements.append(try PreparedStatement(try plan(for: values), values))
      }
      for result in try connection.execute(statements) { fetched.append(result) }
    }
  }

  override func forget() { _ = fetched.removeAll() }

  /// The name of what it was prepared as for the types of some values.
  private func plan(for values: [SQLValue]) throws(StorageError) -> String {
    let types = types(of: values)
    if let known = plans.first(where: { Self.serves($0.types, types) }) { return known.name }
    let complete = Self.complete(types, from: plans.map(\.types))
    let name = try connection.prepare(sql, complete)
    plans.append((complete, name))
    return name
  }

  /// The types of values, for the connection that is open now.
  private func types(of values: [SQLValue]) -> [UInt32] {
    if generation != connection.generation {
      plans.removeAll()
      cursors.removeAll()
      generation = connection.generation
    }
    return values.map { Self.type(of: $0) }
  }

  private func open(_ values: [SQLValue], _ types: [UInt32]) throws(StorageError) {
    let cursor: Cursor
    if let known = cursors.first(where: { Self.serves($0.types, types) }) {
      cursor = known.cursor
    } else {
      let types = Self.complete(types, from: cursors.map(\.types))
      let name = connection.newName()
      cursor = Cursor(
        open: try connection.prepare("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", types),
        fetch: try connection.prepare("FETCH \(Self.piece) FROM \(name)", []),
        close: try connection.prepare("CLOSE \(name)", []))
      cursors.append((types, cursor))
    }
    PQclear(try connection.execute(cursor.open, values))
    self.cursor = cursor
    result = try connection.execute(cursor.fetch, [])
  }

  /// Whether a statement that was prepared for some types takes others; NULL, which has none, goes with each.
  private static func serves(_ prepared: [UInt32], _ types: [UInt32]) -> Bool {
    zip(prepared, types).allSatisfy { $1 == 0 || $0 == $1 }
  }

  /// Types of parameters, in place of those of NULL such as they were before, so that few combinations come together.
  private static func complete(_ types: [UInt32], from others: [[UInt32]]) -> [UInt32] {
    types.enumerated().map { index, type in
      type != 0 ? type : others.lazy.map { $0[index] }.first { $0 != 0 } ?? 0
    }
  }

  private static func type(of value: SQLValue) -> UInt32 {
    switch value {
    // PostgreSQL derives it from the use.
    case .null: 0
    case .integer: TypeNumber.integer8
    case .text: TypeNumber.text
    case .blob: TypeNumber.bytes
    }
  }

  override func step() throws(StorageError) -> Bool {
    guard let before = result else { return false }
    row += 1
    if row < PQntuples(before) { return true }
    guard let cursor, row == Self.piece else { return false }
    result = nil
    PQclear(before)
    result = try connection.execute(cursor.fetch, [])
    row = 0
    return result.map { PQntuples($0) > 0 } ?? false
  }

  override func finish() {
    if let result { PQclear(result) }
    result = nil
    guard let cursor else { return }
    self.cursor = nil
    // It ends with its transaction in any case.
    if connection.isInTransaction, !connection.isBroken,
      let closed = try? connection.execute(cursor.close, [])
    {
      PQclear(closed)
    }
  }

  override var text: String { sql }

  override func findColumn(_ name: StaticString) -> Int32? {
    guard let result else { return nil }
    return (0..<PQnfields(result)).first { strcmp(PQfname(result, $0), name.utf8Start) == 0 }
  }

  override func isNull(_ column: Int32) -> Bool {
    guard let result, column >= 0 else { return true }
    return PQgetisnull(result, row, column) != 0
  }

  override func integer(_ column: Int32) -> Int64 {
    guard let result, column >= 0 else { return 0 }
    let bytes = bytes(column)
    switch (PQftype(result, column), bytes.count) {
    case (TypeNumber.integer8, 8): return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case (TypeNumber.integer4, 4): return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case (TypeNumber.integer2, 2): return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case (TypeNumber.boolean, 1): return Int64(bytes[0])
    case (TypeNumber.numeric, 8...): return Self.integer(numeric: bytes)
    default: return 0
    }
  }

  /// A whole number out of a `numeric`: the number of digits to the base 10,000, the weight of the first, the sign, the scale, and
  /// the digits, 16 bits each.
  private static func integer(numeric bytes: UnsafeRawBufferPointer) -> Int64 {
    func part(_ index: Int) -> Int {
      guard bytes.count >= index * 2 + 2 else { return 0 }
      return Int(Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)))
    }
    let (count, weight) = (part(0), part(1))
    var value: Int64 = 0
    for index in 0..<max(0, weight + 1) {
      value = value &* 10_000 &+ (index < count ? Int64(part(4 + index)) : 0)
    }
    return part(2) == 0x4000 ? 0 &- value : value
  }

  override func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let result, column >= 0, let start = PQgetvalue(result, row, column) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
  }
}
