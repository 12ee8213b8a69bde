/// A table for spreadsheets (RFC 4180): UTF-8 behind a byte order mark, without which Excel reads it as the encoding of the
/// country. A field that a spreadsheet would take for a formula gets an apostrophe in front.
struct CSVWriter: Sendable {
  private(set) var bytes: [UInt8] = [0xef, 0xbb, 0xbf]

  /// Adds a line.
  mutating func row(_ fields: [String]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(field)
    }
    bytes += [13, 10]
  }

  private mutating func append(_ field: String) {
    let isFormula = field.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false
    let needsQuotes = field.utf8.contains { [13, 10, UInt8(ascii: ","), UInt8(ascii: "\"")].contains($0) }
    if needsQuotes { bytes.append(UInt8(ascii: "\"")) }
    if isFormula { bytes.append(UInt8(ascii: "'")) }
    for byte in field.utf8 {
      bytes.append(byte)
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
    }
    if needsQuotes { bytes.append(UInt8(ascii: "\"")) }
  }
}
