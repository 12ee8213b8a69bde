/// Texts of services, and for them.
enum VendorText {
  /// What somebody else says, as one line of bounded length.
  static func line(_ text: String) -> String {
    let plain = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
    return String(String(plain).split(separator: " ").joined(separator: " ").prefix(200))
  }

  /// A text of at most so many UTF-16 units, which no service counts as more characters than that. What is
  /// cut ends with "…".
  static func shortened(_ text: String, to most: Int) -> String {
    shortened(text, to: most) { $0.utf16.count }
  }

  /// The width of a character in half-width units: each UTF-16 unit counts 1 if it is ASCII, otherwise 2. A
  /// Chinese character has 2, an emoji at least 4.
  static func halfWidth(_ character: Character) -> Int {
    character.utf16.reduce(0) { $0 + ($1 < 0x80 ? 1 : 2) }
  }

  /// The same with widths of characters, of which "…" has that of the widest.
  static func shortened(_ text: String, to most: Int, width: (Character) -> Int) -> String {
    let mark = width("…")
    var (used, kept) = (0, text.startIndex)
    for place in text.indices {
      used += width(text[place])
      if used > most { return text[..<kept] + "…" }
      if used <= most - mark { kept = text.index(after: place) }
    }
    return text
  }
}
