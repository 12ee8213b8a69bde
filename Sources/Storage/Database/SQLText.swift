/// The SQL of the repositories: what SQLite and PostgreSQL have in common, with a placeholder in braces for
/// the rest. No database accepts a brace there: a placeholder that nobody has replaced is an error.
///
/// | placeholder | SQLite | PostgreSQL |
/// |---|---|---|
/// | `{sqlite INDEXED BY i}` | `INDEXED BY i` | nothing |
/// | `{postgres COLLATE "C"}` | nothing | `COLLATE "C"` |
/// | `{bytes ff00}`, `{bytes}` | `x'ff00'`, `x''` | `'\xff00'::bytea`, `'\x'::bytea` |
/// | `{own push.app_id}` | whether the app is one of the `AppRows` of the statement | the same |
///
/// Docs/decisions/0049.
enum SQLText {
  enum Dialect {
    case sqlite
    case postgres
  }

  /// The text for one database. Throws if a placeholder is not known, or says whose rows the statement may
  /// use but the caller does not.
  static func expand(
    _ sql: String, for dialect: Dialect, in rows: AppRows? = nil
  ) throws(StorageError) -> String {
    var result = ""
    var rest = sql[...]
    while let start = rest.firstIndex(of: "{") {
      result += rest[..<start]
      guard let end = rest[start...].firstIndex(of: "}") else { break }
      let words = rest[rest.index(after: start)..<end]
      let name = words.prefix { $0 != " " }
      result += try replacement(name, String(words.dropFirst(name.count + 1)), dialect, rows)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func replacement(
    _ name: Substring, _ argument: String, _ dialect: Dialect, _ rows: AppRows?
  ) throws(StorageError) -> String {
    switch (name, dialect) {
    case ("sqlite", .sqlite), ("postgres", .postgres): return argument
    case ("sqlite", .postgres), ("postgres", .sqlite): return ""
    case ("bytes", .sqlite): return "x'\(argument)'"
    case ("bytes", .postgres): return "'\\x\(argument)'::bytea"
    case ("own", _):
      if let rows { return rows.condition(app: argument) }
      throw StorageError(.other, "a statement with {own \(argument)} is run without the apps it is for")
    default:
      throw StorageError(.other, "a statement has the unknown placeholder {\(name)}")
    }
  }

  /// The text for PostgreSQL, which numbers all parameters: `?` becomes `$1`, `$2` and so on, `?2` becomes
  /// `$2`. Texts in quotes and comments stay as they are.
  static func numberParameters(of sql: some Sequence<UInt8>) -> String {
    let mark = UInt8(ascii: "?")
    var (result, count) = ([UInt8](), 0)
    var (isQuoted, isComment) = (false, false)
    var bytes = Array(sql)[...]
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: "\n") { isComment = false }
      if byte == UInt8(ascii: "'"), !isComment { isQuoted.toggle() }
      if byte == UInt8(ascii: "-"), bytes.first == byte, !isQuoted { isComment = true }
      guard byte == mark, !isQuoted, !isComment else {
        result.append(byte)
        continue
      }
      let digits = bytes.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      bytes = bytes.dropFirst(digits.count)
      if digits.isEmpty { count += 1 }
      result += [UInt8(ascii: "$")] + (digits.isEmpty ? Array("\(count)".utf8) : Array(digits))
    }
    return String(decoding: result, as: UTF8.self)
  }
}
