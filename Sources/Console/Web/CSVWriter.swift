/// A table for spreadsheets (RFC 4180): UTF-8 behind a byte order mark, without which Excel reads it as the
/// encoding of the country. What a spreadsheet would take for a formula gets an apostrophe in front: at the
/// beginning of a field, and inside of it behind what some spreadsheets take for the end of one.
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
    if let first = field.utf8.first, Self.isBlank(first) { bytes.append(UInt8(ascii: "'")) }
    var mayBegin = true
    for scalar in field.unicodeScalars {
      if mayBegin, Self.startsFormula(scalar) { bytes.append(UInt8(ascii: "'")) }
      bytes += String(scalar).utf8
      if scalar == "\"" { bytes.append(UInt8(ascii: "\"")) }
      // Whoever sees a field begin here takes quotation marks for its frame.
      mayBegin = Self.endsField(scalar) || (mayBegin && scalar == "\"")
    }
    if needsQuotes { bytes.append(UInt8(ascii: "\"")) }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 9 || byte == 13 }

  /// In countries with a comma in their numbers, a semicolon.
  private static func endsField(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\t", "\n", "\r", ";": true
    default: false
    }
  }

  /// Also in full width, as Chinese and Japanese spreadsheets take them.
  private static func startsFormula(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "=", "+", "-", "@", "\u{ff1d}", "\u{ff0b}", "\u{ff0d}", "\u{ff20}": true
    default: false
    }
  }
}
