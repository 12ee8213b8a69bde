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
    var needsQuotes = false
    for byte in field.utf8 {
      switch byte {
      case 10, 13, UInt8(ascii: ","), UInt8(ascii: "\""): needsQuotes = true
      default: break
      }
    }
    if needsQuotes { bytes.append(UInt8(ascii: "\"")) }
    if let first = field.utf8.first, Self.startsFormula(first) { bytes.append(UInt8(ascii: "'")) }
    guard needsQuotes else {
      bytes.append(contentsOf: field.utf8)
      return
    }
    for byte in field.utf8 {
      bytes.append(byte)
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func startsFormula(_ byte: UInt8) -> Bool {
    switch byte {
    case 9, 13, UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): true
    default: false
    }
  }
}
