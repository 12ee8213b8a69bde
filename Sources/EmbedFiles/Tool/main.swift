// Usage: embed-files migrations OUTPUT FILE... — writes the files as an array of `Migration` in Swift.
//        embed-files postgres-migrations OUTPUT FILE... — the same for those of PostgreSQL.
//        embed-files document OUTPUT FILE — writes the file as a string in Swift.
//        embed-files files OUTPUT FILE... — writes the files as a dictionary of strings in Swift, by name.
//        embed-files web-files OUTPUT FILE... — the same for the library for browsers.
//        embed-files docs OUTPUT ROOT FILE... — the same for the documentation, by paths below
//          the folder ROOT; pictures are in Base64.
// Migrations are named `0001_initial.sql`: four digits without gaps, then lower-case letters, digits and `_`.
import Glibc

func fail(_ message: String) -> Never {
  let line = Array("embed-files: \(message)\n".utf8)
  _ = write(2, line, line.count)
  exit(1)
}

func contents(_ path: String) -> [UInt8] {
  guard let file = fopen(path, "rb") else { fail("cannot read \(path)") }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = fread(&buffer, 1, buffer.count, file)
    if count == 0 { return bytes }
    bytes += buffer[..<count]
  }
}

/// The file's text as a string literal.
func literal(_ path: String) -> String {
  let text = String(decoding: contents(path), as: UTF8.self)
  guard !text.contains("\"\"\"##"), text.hasSuffix("\n") else { fail("\(path) cannot be embedded") }
  return "##\"\"\"\n\(text)\n\"\"\"##"
}

func migration(_ path: String, version: Int) -> String {
  let file = path.split(separator: "/").last.map(String.init) ?? path
  let digits = file.utf8.prefix(4)
  let name = file.dropFirst(5).dropLast(4)
  guard file.hasSuffix(".sql"), digits.allSatisfy({ (48...57).contains($0) }), Int(file.prefix(4)) == version,
    file.dropFirst(4).first == "_", !name.isEmpty,
    name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 95 })
  else { fail("\(file) is not the name of migration \(version)") }
  return "  Migration(version: \(version), name: \"\(name)\", sql: \(literal(path))),\n"
}

/// The file's bytes in Base64 (RFC 4648) as a string literal.
func picture(_ path: String) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  let bytes = contents(path)
  var text: [UInt8] = []
  text.reserveCapacity(bytes.count * 4 / 3 + 4)
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[start..<min(start + 3, bytes.count)]
    let number = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
    for place in 0..<4 {
      text.append(
        place > group.count ? UInt8(ascii: "=") : digits[Int(number >> UInt32(18 - 6 * place) & 63)])
    }
  }
  return "\"\(String(decoding: text, as: UTF8.self))\""
}

let arguments = CommandLine.arguments
guard arguments.count > 3 else { fail("usage: embed-files migrations|document OUTPUT FILE...") }
let files = arguments[3...]
let source: String
switch arguments[1] {
case "migrations", "postgres-migrations":
  let array = arguments[1] == "migrations" ? "embeddedMigrations" : "embeddedPostgresMigrations"
  let entries = files.enumerated().map { migration($0.element, version: $0.offset + 1) }
  source = "let \(array): [Migration] = [\n\(entries.joined())]\n"
case "document":
  guard files.count == 1 else { fail("a document is one file") }
  source = "let embeddedDocument = \(literal(files[3]))\n"
case "files", "web-files":
  let entries = files.map { path in
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return "  \"\(name)\": \(literal(path)),\n"
  }
  let dictionary = arguments[1] == "files" ? "embeddedFiles" : "embeddedWebFiles"
  source = "let \(dictionary): [String: String] = [\n\(entries.joined())]\n"
case "docs":
  let root = files[3]
  let entries = files.dropFirst().map { path in
    guard path.hasPrefix(root) else { fail("\(path) is not below \(root)") }
    let name = path.dropFirst(root.count).drop { $0 == "/" }
    return "  \"\(name)\": \(path.hasSuffix(".png") ? picture(path) : literal(path)),\n"
  }
  source = "let embeddedDocs: [String: String] = [\n\(entries.joined())]\n"
default: fail("unknown kind \"\(arguments[1])\"")
}
guard let file = fopen(arguments[2], "wb"), fputs(source, file) >= 0, fclose(file) == 0 else {
  fail("cannot write \(arguments[2])")
}
