/// A language as a BCP 47 tag (RFC 5646), such as `zh-Hans`. Upper and lower case are the same.
package struct LanguageTag: Hashable, Sendable {
  /// Bytes of the longest one: what RFC 5646 (section 4.4.1) asks to be kept, without extensions.
  package static let longest = 35

  /// As it was written.
  package let text: String
  private let key: String

  /// Reads a tag; nil for what is not one: 2 to 8 letters, then groups of 1 to 8 letters and digits after
  /// hyphens.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.longest, let first = parts.first,
      (2...8).contains(first.count), first.allSatisfy(Self.isLetter),
      parts.dropFirst().allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy(Self.isLetterOrDigit) })
    else { return nil }
    self.text = text
    key = text.lowercased()
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte)
  }

  /// Which of some languages a device gets that has reported one: that one, or else the next more general one
  /// that is there, as RFC 4647 (section 3.4) looks up: `zh-Hant`, then `zh` for `zh-Hant-TW`. Nil for the
  /// default.
  package static func place(of reported: String, among tags: [LanguageTag]) -> Int? {
    // Android has written tags with underscores.
    var parts = reported.lowercased().split { $0 == "-" || $0 == "_" }
    while !parts.isEmpty {
      let key = parts.joined(separator: "-")
      if let place = tags.firstIndex(where: { $0.key == key }) { return place }
      parts.removeLast()
      // What begins an extension means nothing without it.
      if parts.last?.utf8.count == 1 { parts.removeLast() }
    }
    return nil
  }

  /// Whether two are the same language.
  package static func == (left: Self, right: Self) -> Bool { left.key == right.key }
  /// Equal ones have equal hashes.
  package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
