/// A request's target, split and decoded (RFC 3986).
package struct HTTPTarget: Sendable, Equatable {
  /// A name and a value of the query.
  package struct Item: Sendable, Equatable {
    /// The name, decoded.
    package let name: String
    /// The value, decoded; empty if there is no equals sign.
    package let value: String
  }

  /// Items that a query may have.
  package static let mostItems = 128

  /// The path's segments, decoded; empty ones are left out, so `//a/` is the same as `/a`.
  package let path: [String]
  /// The query's items in order.
  package let query: [Item]

  /// Splits `path?query`. Nil if an escape is malformed, if decoded text is not UTF-8 or holds a NUL, for `.`
  /// and `..` segments, and for more than 64 segments or 128 items.
  package init?(_ target: String) {
    let bytes = target.utf8
    guard bytes.first == UInt8(ascii: "/") else { return nil }
    let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    var path: [String] = []
    for part in bytes[..<end].split(separator: UInt8(ascii: "/")) {
      guard path.count < 64, let segment = decodePercent(part, plusIsSpace: false) else { return nil }
      guard segment != ".", segment != ".." else { return nil }
      path.append(segment)
    }
    self.path = path
    guard end < bytes.endIndex else {
      query = []
      return
    }
    guard let items = Self.items(bytes[bytes.index(after: end)...], most: Self.mostItems) else { return nil }
    query = items
  }

  /// The first value under a name in the query.
  package subscript(name: String) -> String? { query.first { $0.name == name }?.value }

  static func items(_ text: some Collection<UInt8>, most: Int) -> [Item]? {
    var items: [Item] = []
    for part in text.split(separator: UInt8(ascii: "&")) {
      let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard items.count < most, let name = decodeEscapes(sides[0], plusIsSpace: true),
        let value = sides.count > 1 ? decodeEscapes(sides[1], plusIsSpace: true) : ""
      else { return nil }
      items.append(Item(name: name, value: value))
    }
    return items
  }
}

/// Decodes a part of a text; nil for malformed escapes, a NUL and text that is not UTF-8.
func decodePercent(_ text: Substring.UTF8View, plusIsSpace: Bool) -> String? {
  let isPlain = text.allSatisfy {
    $0 != UInt8(ascii: "%") && $0 != 0 && ($0 != UInt8(ascii: "+") || !plusIsSpace)
  }
  return isPlain ? String(Substring(text)) : decodeEscapes(text, plusIsSpace: plusIsSpace)
}

/// Decodes percent-encoded text; nil for malformed escapes, a NUL and text that is not UTF-8.
package func decodeEscapes(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.count)
  var rest = text.makeIterator()
  while let byte = rest.next() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
        return nil
      }
      bytes.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace: bytes.append(32)
    default: bytes.append(byte)
    }
  }
  guard !bytes.contains(0) else { return nil }
  return String(validating: bytes, as: UTF8.self)
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 48...57: byte - 48
  case 65...70: byte - 55
  case 97...102: byte - 87
  default: nil
  }
}
