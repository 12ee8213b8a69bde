import BorealisBase
import CPostgreSQL
import Glibc

/// A statement of PostgreSQL. It is prepared when it runs, since its parameters get their types from the
/// values.
final class PostgresStatement: Statement {
  private let sql: String
  private unowned let connection: PostgresConnection
  /// What it was prepared as, for the types of its parameters.
  private var plans: [(types: [UInt32], name: String)] = []
  /// The same for many rows at once, if it writes one row.
  private lazy var form = PostgresRowForm(sql)
  /// The same for the first rows of many runs.
  private var setPlans: [(types: [UInt32], name: String)] = []
  private var rowPlans: [(types: [UInt32], name: String)] = []
  private var cursors: [(types: [UInt32], cursor: Cursor)] = []
  private var generation = -1
  private var result: OpaquePointer?
  private var row: Int32 = -1
  /// Behind the last row.
  private var end: Int32 = 0
  /// Whose result it is, if not this statement's.
  private var shared: FetchedResult?
  /// Results of the next runs.
  private var fetched = FIFO<Fetched>()
  /// The cursor that the rows come from, if it is open.
  private var cursor: Cursor?

  /// Names of prepared statements: one that opens a cursor, one that gets rows from it, one that closes it.
  private struct Cursor {
    let open: String
    let fetch: String
    let close: String
  }

  /// What was there for a run before it began.
  private enum Fetched {
    case result(FetchedResult)
    /// A row of one that holds those of many runs, or none.
    case row(Int32?, FetchedResult)
  }

  /// Rows that are in memory at a time.
  private static let piece: Int32 = 256

  init(_ sql: String, of connection: PostgresConnection) {
    self.sql = sql
    self.connection = connection
  }

  deinit { clear() }

  private func clear() {
    if let result, shared == nil { PQclear(result) }
    result = nil
    shared = nil
  }

  private func setResult(_ new: OpaquePointer?) {
    result = new
    row = -1
    end = new.map { PQntuples($0) } ?? 0
  }

  override func start(_ values: [SQLValue], inPieces: Bool) throws(StorageError) {
    switch fetched.popFirst() {
    case .result(let next): setResult(next.release())
    case .row(let index, let all):
      shared = all
      result = all.result
      row = (index ?? 0) - 1
      end = index.map { $0 + 1 } ?? 0
    case nil where inPieces: try open(values, types(of: values))
    case nil: setResult(try connection.execute(try plan(for: values), values))
    }
  }

  override func postpone(_ values: [SQLValue]) throws(StorageError) -> Bool {
    if let form {
      try connection.jobs.leave(WaitingRow(statement: self, form: form, values: values))
    } else {
      try connection.postpone(try prepared(values))
    }
    return true
  }

  /// The statement with values, to be sent.
  func prepared(_ values: [SQLValue]) throws(StorageError) -> PreparedStatement {
    try PreparedStatement(try plan(for: values), values)
  }

  /// The statement for several rows, to be sent.
  func prepared(_ group: RowGroup) throws(StorageError) -> PreparedStatement {
    guard group.rows.count > 1, let form, group.types.contains(where: { $0 != 0 }) else {
      return try prepared(group.rows[0])
    }
    renew()
    if let known = rowPlans.first(where: { Self.serves($0.types, group.types) }) {
      return PreparedStatement(known.name, group.rows, known.types)
    }
    let types = Self.complete(group.types, from: rowPlans.map(\.types))
    let name = try connection.prepare(form.text(types), [])
    rowPlans.append((types, name))
    return PreparedStatement(name, group.rows, types)
  }

  override func fetch(_ all: [[SQLValue]]) throws(StorageError) {
    for start in stride(from: 0, to: all.count, by: Int(Self.piece)) {
      let part = Array(all[start..<min(all.count, start + Int(Self.piece))])
      if part.count > 1, let types = RowGroup.types(of: part), let text = PostgresRowForm.firsts(sql, types) {
        try fetch(part, types, text)
        continue
      }
      var statements: [PreparedStatement] = []
      for values in part { statements.append(try prepared(values)) }
      for result in try connection.execute(statements) { fetched.append(.result(result)) }
    }
  }

  /// Runs it for all values by a statement whose last column tells of which of them a row is, from 1.
  private func fetch(_ all: [[SQLValue]], _ types: [UInt32], _ text: String) throws(StorageError) {
    renew()
    let name: String
    if let known = setPlans.first(where: { $0.types == types }) {
      name = known.name
    } else {
      name = try connection.prepare(text, [])
      setPlans.append((types, name))
    }
    guard let result = try connection.execute([PreparedStatement(name, all, types)]).first else { return }
    var rows = [Int32?](repeating: nil, count: all.count)
    for row in 0..<result.rowCount {
      let number = Int(result.lastInteger(row)) - 1
      if rows.indices.contains(number) { rows[number] = row }
    }
    for row in rows { fetched.append(.row(row, result)) }
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
    renew()
    return values.map { PostgresType.number(of: $0) }
  }

  /// Forgets what was prepared over a connection that is lost.
  private func renew() {
    guard generation != connection.generation else { return }
    plans.removeAll()
    rowPlans.removeAll()
    setPlans.removeAll()
    cursors.removeAll()
    generation = connection.generation
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
    setResult(try connection.execute(cursor.fetch, []))
  }

  /// Whether a statement that was prepared for some types takes others; NULL, which has none, goes with each.
  private static func serves(_ prepared: [UInt32], _ types: [UInt32]) -> Bool {
    zip(prepared, types).allSatisfy { $1 == 0 || $0 == $1 }
  }

  /// Types of parameters, in place of those of NULL such as they were before, so that few combinations come
  /// together.
  private static func complete(_ types: [UInt32], from others: [[UInt32]]) -> [UInt32] {
    types.enumerated().map { index, type in
      type != 0 ? type : others.lazy.map { $0[index] }.first { $0 != 0 } ?? 0
    }
  }

  override func step() throws(StorageError) -> Bool {
    guard let before = result else { return false }
    row += 1
    if row < end { return true }
    guard let cursor, row == Self.piece else { return false }
    result = nil
    PQclear(before)
    setResult(try connection.execute(cursor.fetch, []))
    row = 0
    return end > 0
  }

  override func finish() {
    clear()
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
    case (PostgresType.integer8, 8): return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case (PostgresType.integer4, 4): return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case (PostgresType.integer2, 2): return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case (PostgresType.boolean, 1): return Int64(bytes[0])
    case (PostgresType.numeric, 8...): return Self.integer(numeric: bytes)
    default: return 0
    }
  }

  /// A whole number out of a `numeric`: the number of digits to the base 10,000, the weight of the first, the
  /// sign, the scale, and the digits, 16 bits each.
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
