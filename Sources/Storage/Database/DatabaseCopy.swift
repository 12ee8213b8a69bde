import BorealisBase
import BorealisCrypto
import Glibc

/// A value as it goes from one database into another.
enum CopiedValue {
  case null
  case integer(Int64)
  /// Of a text, in UTF-8, or of bytes.
  case bytes([UInt8])
}

/// Moves what a database holds into another one of the other kind, and proves that the same is there.
package struct DatabaseCopy {
  /// What a table holds, in both databases.
  package struct Table: Sendable, Equatable {
    package let name: String
    /// How many rows it has.
    package let rows: Int
    /// Lower-case hexadecimal SHA-256 over every column of every row, in the order of the key.
    package let digest: String
  }

  private let source: Database
  private let target: Database
  private let shapes: [TableShape]

  /// Copies everything in one transaction of the target, which holds nothing if this throws. Both databases
  /// are kept from others that write. The source must have this program's schema (`.olderThanProgram` and
  /// others), the target must hold nothing (`.inUse` if another server has it, `.constraint` if it holds
  /// something). `onTable` hears of each table that was copied and compared. Memory is bounded by some
  /// hundred rows. Blocks.
  package static func run(
    from source: DatabaseLocation, to target: DatabaseLocation, log: Log, onTable: (Table) -> Void
  ) throws(StorageError) {
    switch (source, target) {
    case (.sqlite, .postgres):
      let from = try openSource(source, log)
      defer {
        from.rollBack()
        from.close()
      }
      do {
        let before = try target.openToRead(isLimited: false)
        defer { before.close() }
        try expectNothing(in: before)
      }
      let into = try openWriter(target, migrates: true, log)
      defer { into.close() }
      try Self(from, into, shapesIn: from).move(onTable)
    case (.postgres, .sqlite(let path)):
      guard access(path, F_OK) != 0 else { throw StorageError(.constraint, "\(path) is there") }
      let from = try openSource(source, log)
      defer {
        from.rollBack()
        from.close()
      }
      let isNew = try SQLiteFile.make(path: path) { into throws(StorageError) in
        try Self(from, into, shapesIn: into).move(onTable)
      }
      guard isNew else { throw StorageError(.constraint, "\(path) is there") }
    default: throw StorageError(.other, "one database has to be a file, the other one in PostgreSQL")
    }
  }

  private init(_ source: Database, _ target: Database, shapesIn file: Database) throws(StorageError) {
    self.source = source
    self.target = target
    shapes = try TableShape.all(in: file)
  }

  /// Fails if a database of PostgreSQL holds more than what a new one begins with.
  private static func expectNothing(in database: Database) throws(StorageError) {
    let tables = try database.all("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()") {
      $0.text()
    }
    guard !tables.isEmpty else { return }
    guard tables.contains("schema_migration"), tables.contains("fence") else {
      throw StorageError(.constraint, "it holds tables that are not Borealis's, such as \(tables[0])")
    }
    let known = try Migrator.verify(database, against: embeddedPostgresMigrations)
    guard known == embeddedPostgresMigrations.count else {
      throw StorageError(
        .olderThanProgram(found: known, known: embeddedPostgresMigrations.count),
        "the database has an older schema")
    }
    // Numbers of rows that the migrations put in.
    let own: [String: Int64] = [
      "plan": 3, "account": 1, "schema_migration": .max, "fence": .max, "commit_mark": .max,
    ]
    for table in tables.sorted() {
      let limit = own[table] ?? 0
      guard limit < .max else { continue }
      let count = try database.number(
        "SELECT count(*) FROM (SELECT 1 FROM \"\(table)\" LIMIT \(limit + 1)) AS found")
      guard count <= limit else {
        throw StorageError(.constraint, "it holds something already: see its table \(table)")
      }
    }
  }

  /// Opens it so that nobody else writes before it is closed.
  private static func openSource(_ location: DatabaseLocation, _ log: Log) throws(StorageError) -> Database {
    let database = try openWriter(location, migrates: false, log)
    try database.begin(.writing)
    try database.postgres?.stayInTransaction()
    return database
  }

  private static func openWriter(
    _ location: DatabaseLocation, migrates: Bool, _ log: Log
  ) throws(StorageError) -> Database {
    if case .sqlite(let path) = location {
      let database = try Database(path: path, mode: .create)
      try Migrator.expectNewest(database, of: location.migrations)
      return database
    }
    var options = Store.Options()
    options.migrates = migrates
    // A table has the time that it takes.
    options.statementPatience = .max
    options.commitPatience = 60_000
    return try location.openWriter(
      log: log, options: options, migrations: location.migrations, isEnding: { false }, onDoubt: { _ in },
      { _ in }
    ).0
  }

  private func move(_ onTable: (Table) -> Void) throws(StorageError) {
    for database in [source, target] where database.sqlite != nil {
      // What has to be sorted may be larger than the memory.
      try database.run(script: "PRAGMA temp_store = FILE")
    }
    if target.sqlite != nil { try target.run("PRAGMA foreign_keys = OFF") }
    try target.begin(.writing)
    do throws(StorageError) {
      if let connection = target.postgres {
        try connection.stayInTransaction()
        // Somebody may have been faster.
        try Self.expectNothing(in: target)
      }
      // The rows that a new database begins with.
      for shape in shapes.reversed() { try target.script("DELETE FROM \"\(shape.name)\"") }
      for shape in shapes {
        let copied = try copy(shape)
        let there = try describe(shape, in: target) { _ throws(StorageError) in }
        guard copied == there else {
          throw StorageError(
            .corrupt, "the table \(shape.name) is not the same after it was copied: \(copied), \(there)")
        }
        onTable(there)
      }
      if target.sqlite != nil, try target.first("PRAGMA foreign_key_check", map: { _ in true }) == true {
        throw StorageError(.constraint, "rows refer to others that do not exist")
      }
      for shape in shapes { try continueNumbers(of: shape) }
      try target.commit()
    } catch {
      target.rollBack()
      throw error
    }
  }

  /// Copies the rows of a table; what they were.
  private func copy(_ shape: TableShape) throws(StorageError) -> Table {
    do throws(StorageError) {
      if let connection = target.postgres {
        var described: Table?
        guard let rows = PostgresRows(connection) else {
          throw StorageError(.io, "not connected to the database")
        }
        try rows.copy(into: shape.name, shape.columns.map(\.name)) { add throws(StorageError) in
          described = try describe(shape, in: source, add)
        }
        return described ?? Table(name: shape.name, rows: 0, digest: "")
      }
      let insert = try target.prepare(shape.insertion)
      return try describe(shape, in: source) { row throws(StorageError) in
        try insert.run(
          zip(row, shape.columns).map { value, column in
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .bytes(let bytes):
              column.kind == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
            }
          })
      }
    } catch {
      throw StorageError(error.kind, "the table \(shape.name): \(error.message)")
    }
  }

  /// Hands out the rows of a table in the order of its key, and tells what they are.
  private func describe(
    _ shape: TableShape, in database: Database, _ body: ([CopiedValue]) throws(StorageError) -> Void
  ) throws(StorageError) -> Table {
    var digest = SHA256.digest([])
    var rows = 0
    try database.prepare(shape.selection).each([]) { row throws(StorageError) in
      var bytes = digest
      var values: [CopiedValue] = []
      values.reserveCapacity(shape.columns.count)
      for (place, column) in shape.columns.enumerated() {
        let value = row.value(Int32(place), isNumber: column.kind == .integer)
        value.describe(into: &bytes)
        values.append(value)
      }
      try body(values)
      digest = SHA256.digest(bytes)
      rows += 1
    }
    return Table(name: shape.name, rows: rows, digest: Hex.encode(digest))
  }

  /// Has new rows numbered behind the highest that was ever given.
  private func continueNumbers(of shape: TableShape) throws(StorageError) {
    guard let column = shape.numbered, shape.columns.first(where: { $0.name == column })?.kind == .integer
    else {
      return
    }
    let highest = try target.number("SELECT coalesce(max(\"\(column)\"), 0) FROM \"\(shape.name)\"")
    if target.sqlite != nil {
      guard shape.keepsNumbers else { return }
      let sequence = "pg_get_serial_sequence('\(shape.name)', '\(column)')::regclass"
      let given = try source.number("SELECT coalesce(pg_sequence_last_value(\(sequence)), 0)")
      try target.script("DELETE FROM sqlite_sequence WHERE name = '\(shape.name)'")
      try target.script(
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('\(shape.name)', \(max(highest, given)))")
    } else {
      let given = try source.number(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '\(shape.name)'")
      // Of a column that the database does not number, there is no sequence, and nothing happens.
      let last = max(highest, given)
      _ = try target.number(
        "SELECT setval(pg_get_serial_sequence('\(shape.name)', '\(column)'), \(max(last, 1)), \(last > 0))")
    }
  }
}

extension CopiedValue {
  /// Appends the value so that two rows with the same bytes are the same.
  fileprivate func describe(into bytes: inout [UInt8]) {
    func append(_ number: Int64) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
    switch self {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      append(number)
    case .bytes(let content):
      bytes.append(2)
      append(Int64(content.count))
      bytes += content
    }
  }
}

extension Database {
  /// Runs a statement that the program has put together.
  fileprivate func script(_ sql: String) throws(StorageError) { try prepare(sql).run([]) }

  /// The same for one that gives a number.
  fileprivate func number(_ sql: String) throws(StorageError) -> Int64 {
    try prepare(sql).first([]) { $0.integer() } ?? 0
  }
}
