// Usage: embed-migrations OUTPUT FILE... — writes the files as an array of `Migration` in Swift.
// Names are `0001_initial.sql`: four digits without gaps, then lower-case letters, digits and `_`.
import Glibc

func fail(_ message: String) -> Never {
  let line = Array("embed-migrations: \(message)\n".utf8)
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

guard CommandLine.arguments.count > 2 else { fail("usage: embed-migrations OUTPUT FILE...") }
var source = "let embeddedMigrations: [Migration] = [\n"
for (index, path) in CommandLine.arguments.dropFirst(2).enumerated() {
  let file = path.split(separator: "/").last.map(String.init) ?? path
  let digits = file.utf8.prefix(4)
  let name = file.dropFirst(5).dropLast(4)
  guard file.hasSuffix(".sql"), digits.allSatisfy({ (48...57).contains($0) }),
    Int(file.prefix(4)) == index + 1,
    file.dropFirst(4).first == "_", !name.isEmpty,
    name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 95 })
  else { fail("\(file) is not the name of migration \(index + 1)") }
  let text = String(decoding: contents(path), as: UTF8.self)
  guard !text.contains("\"\"\"##"), text.hasSuffix("\n") else { fail("\(file) cannot be embedded") }
  source += "  Migration(version: \(index + 1), name: \"\(name)\", sql: ##\"\"\"\n\(text)\n\"\"\"##),\n"
}
source += "]\n"
guard let file = fopen(CommandLine.arguments[1], "wb"), fputs(source, file) >= 0, fclose(file) == 0 else {
  fail("cannot write \(CommandLine.arguments[1])")
}
