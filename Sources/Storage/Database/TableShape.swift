/// A table as both kinds of databases have it.
struct TableShape {
  /// What a column holds.
  enum Kind {
    case integer, text, bytes
  }

  let name: String
  let columns: [(name: String, kind: Kind)]
  /// The columns that tell rows apart.
  private let key: [String]
  /// The column by which the database may number rows.
  let numbered: String?
  /// Whether SQLite gives none of these numbers twice.
  let keepsNumbers: Bool

  /// All tables with what a server keeps, in an order in which none refers to a later one. From a file of
  /// SQLite: the other kind has some more, which are its own.
  static func all(in file: Database) throws(StorageError) -> [TableShape] {
    let tables = try file.all(
      """
      SELECT name, sql LIKE '%AUTOINCREMENT%' AS numbered FROM sqlite_schema
      WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migration' ORDER BY name
      """
    ) { (name: $0.text("name"), isNumbered: $0.bool("numbered")) }
    var shapes: [TableShape] = []
    var parents: [String: Set<String>] = [:]
    for table in tables {
      let columns = try file.statement("SELECT name, type, pk FROM pragma_table_xinfo(?) ORDER BY cid").all(
        [.text(table.name)]
      ) { (name: $0.text("name"), type: $0.text("type"), place: $0.integer("pk")) }
      let key = columns.filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name)
      let kinds: [String: Kind] = ["INTEGER": .integer, "TEXT": .text, "BLOB": .bytes]
      shapes.append(
        TableShape(
          name: table.name, columns: columns.map { ($0.name, kinds[$0.type.uppercased()] ?? .bytes) },
          key: key, numbered: key.count == 1 ? key[0] : nil, keepsNumbers: table.isNumbered))
      parents[table.name] = Set(
        try file.statement("SELECT \"table\" AS parent FROM pragma_foreign_key_list(?)").all(
          [.text(table.name)]
        ) { $0.text("parent") }
      ).subtracting([table.name])
    }
    var ordered: [TableShape] = []
    while !shapes.isEmpty {
      let waiting = Set(shapes.map(\.name))
      let free = shapes.filter { parents[$0.name]?.isDisjoint(with: waiting) ?? true }
      guard !free.isEmpty else { throw StorageError(.other, "tables refer to one another in a circle") }
      ordered += free
      shapes.removeAll { shape in free.contains { $0.name == shape.name } }
    }
    return ordered
  }

  private func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

  /// All rows in the order of the key.
  var selection: String {
    let order =
      key.isEmpty ? columns.map { "\"\($0.name)\" NULLS FIRST" }.joined(separator: ", ") : list(key)
    return "SELECT \(list(columns.map(\.name))) FROM \"\(name)\" ORDER BY \(order)"
  }

  /// A row with parameters for all columns.
  var insertion: String {
    let values = columns.map { _ in "?" }.joined(separator: ", ")
    return "INSERT INTO \"\(name)\" (\(list(columns.map(\.name)))) VALUES (\(values))"
  }
}
