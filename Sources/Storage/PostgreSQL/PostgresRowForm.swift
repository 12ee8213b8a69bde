/// A statement that inserts one row or deletes one by its key, and so can do the same for many rows: its text
/// with arrays in place of single values.
struct PostgresRowForm {
  /// What goes into a column.
  private enum Item {
    case parameter
    case constant(Substring)
  }

  /// The table.
  let table: String
  /// The parameters that decide which row an insert comes upon, which one statement may do only once
  /// (https://www.postgresql.org/docs/15/sql-insert.html); empty if that is all the same.
  private let key: [Int]
  /// What stands before the values, and behind.
  private let start: Substring
  private let rest: Substring
  /// Empty for a statement that deletes.
  private let items: [Item]

  /// Nil for any other statement.
  init?(_ sql: String) {
    let whole = sql[...]
    if let words = Self.rest(of: whole, behind: "DELETE FROM ") {
      let parts = words.split(separator: " ")
      guard parts.count == 5, parts[1] == "WHERE", parts[3] == "=", parts[4] == "$1" else { return nil }
      table = String(parts[0])
      start = whole.dropLast(2)
      (key, rest, items) = ([], "", [])
      return
    }
    guard let words = Self.rest(of: whole, behind: "INSERT INTO ") else { return nil }
    let name = words.prefix { $0 != " " && $0 != "(" }
    var following = words.dropFirst(name.count)
    var columns: [Substring] = []
    if let list = Self.rest(of: following, behind: " (") {
      guard let end = list.firstIndex(of: ")") else { return nil }
      columns = Self.list(list[..<end])
      following = list[list.index(after: end)...]
    }
    let before = whole[..<following.startIndex]
    guard let values = Self.rest(of: following, behind: " VALUES ("), let end = values.firstIndex(of: ")")
    else { return nil }
    var items: [Item] = []
    var names: [Substring] = []
    for (index, value) in Self.list(values[..<end]).enumerated() {
      if value.first == "$" {
        // In their order, each once.
        guard value == "$\(names.count + 1)" else { return nil }
        items.append(.parameter)
        names.append(index < columns.count ? columns[index] : "")
      } else {
        guard value == "''" || value == "NULL" || value.allSatisfy(\.isNumber) else { return nil }
        items.append(.constant(value))
      }
    }
    let tail = values[values.index(after: end)...]
    guard !names.isEmpty, !tail.contains("$"), !tail.contains("RETURNING") else { return nil }
    var key: [Int] = []
    if let conflict = Self.rest(of: tail, behind: " ON CONFLICT (") {
      guard let end = conflict.firstIndex(of: ")") else { return nil }
      let isUpdate = !conflict.hasSuffix(" DO NOTHING")
      for column in Self.list(conflict[..<end]) where isUpdate {
        guard columns.contains(column) else { return nil }
        if let parameter = names.firstIndex(of: column) { key.append(parameter) }
      }
    } else if !tail.isEmpty {
      return nil
    }
    table = String(name)
    (self.key, start, rest, self.items) = (key, before, tail, items)
  }

  /// What two rows of one statement must not have in common; nil if that does not matter.
  func key(of values: [SQLValue]) -> [SQLValue]? { key.isEmpty ? nil : key.map { values[$0] } }

  /// The text for arrays of elements of some types; a parameter without a type is NULL in all rows, and not
  /// one of this text.
  func text(_ types: [UInt32]) -> String {
    var arrays: [String] = []
    for type in types where type != 0 {
      arrays.append("$\(arrays.count + 1)::\(PostgresType.name(type))[]")
    }
    guard !items.isEmpty else { return "\(start)ANY (\(arrays.joined(separator: ", ")))" }
    var (parameter, array) = (0, 0)
    let values = items.map { item in
      switch item {
      case .constant(let text): return String(text)
      case .parameter:
        parameter += 1
        guard types[parameter - 1] != 0 else { return "NULL" }
        array += 1
        return "v\(array)"
      }
    }
    let names = (1...max(1, array)).map { "v\($0)" }.joined(separator: ", ")
    return """
      \(start) SELECT \(values.joined(separator: ", ")) FROM unnest(\(arrays.joined(separator: ", "))) AS v (\(names))\(rest)
      """
  }

  /// The text of a query whose rows are the first ones of a query for each of many values, with the number of
  /// the value in the last column, from 1. Nil if it is no query, or has no values.
  static func firsts(_ sql: String, _ types: [UInt32]) -> String? {
    guard sql.hasPrefix("SELECT "), !types.isEmpty, !types.contains(0) else { return nil }
    let arrays = types.enumerated().map { "$\($0 + 1)::\(PostgresType.name($1))[]" }
    let names = types.indices.map { "v\($0 + 1)" }
    let query = sql.replacing("$", with: "v.v")
    return """
      SELECT f.*, v.n FROM unnest(\(arrays.joined(separator: ", "))) WITH ORDINALITY AS v (\(names.joined(separator: ", ")), n) \
      CROSS JOIN LATERAL (SELECT * FROM (\(query)) AS q LIMIT 1) AS f
      """
  }

  private static func rest(of text: Substring, behind start: String) -> Substring? {
    text.hasPrefix(start) ? text.dropFirst(start.count) : nil
  }

  private static func list(_ text: Substring) -> [Substring] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let end = part.lastIndex { $0 != " " }
      return end.map { part[...$0].drop { $0 == " " } } ?? ""
    }
  }
}

/// Types of PostgreSQL, by their fixed numbers in its catalog.
enum PostgresType {
  static let boolean: UInt32 = 16
  static let bytes: UInt32 = 17
  static let integer8: UInt32 = 20
  static let integer2: UInt32 = 21
  static let integer4: UInt32 = 23
  static let text: UInt32 = 25
  static let numeric: UInt32 = 1700

  /// The type of a value, 0 for NULL: PostgreSQL derives it from the use.
  static func number(of value: SQLValue) -> UInt32 {
    switch value {
    case .null: 0
    case .integer: integer8
    case .text: text
    case .blob: bytes
    }
  }

  /// The name of a type of values.
  static func name(_ number: UInt32) -> StaticString {
    switch number {
    case bytes: "bytea"
    case text: "text"
    default: "bigint"
    }
  }
}
