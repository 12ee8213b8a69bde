/// Texts of services, and for them.
enum VendorText {
  /// What somebody else says, as one line of bounded length.
  static func line(_ text: String) -> String {
    let plain = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
    return String(String(plain).split(separator: " ").joined(separator: " ").prefix(200))
  }

  /// A text of at most so many UTF-16 units, which no service counts as more characters than that. What is cut ends with "…".
  static func shortened(_ text: String, to most: Int) -> String {
    shortened(text, to: most) { $0.utf16.count }
  }

  /// The width of a character where those of Latin count 1 and those of Chinese 2.
  static func halfWidth(_ character: Character) -> Int {
    character.isASCII ? 1 : max(2, character.utf16.count)
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
