/// Walks DER (X.690): definite lengths, tags of one byte. Every step is checked against the bounds.
struct DERReader {
  /// Tags that are looked for.
  enum Tag {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let utf8String: UInt8 = 0x0c
    static let sequence: UInt8 = 0x30
    /// Set in the tag of whatever holds other elements.
    static let constructed: UInt8 = 0x20
  }

  /// A tag and the bytes of its value.
  struct Element {
    let tag: UInt8
    let value: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>

  /// Reads consecutive elements.
  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Whether all was read.
  var isAtEnd: Bool { rest.isEmpty }

  /// The next element, nil if it does not fit or its length is not in DER's form.
  mutating func next() -> Element? {
    guard let tag = rest.popFirst(), tag & 0x1f != 0x1f, let count = length(), count <= rest.count else {
      return nil
    }
    defer { rest = rest.dropFirst(count) }
    return Element(tag: tag, value: rest.prefix(count))
  }

  /// The next element's value if it has this tag.
  mutating func next(_ tag: UInt8) -> ArraySlice<UInt8>? {
    guard let element = next(), element.tag == tag else { return nil }
    return element.value
  }

  private mutating func length() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    if first < 0x80 { return Int(first) }
    // More than three bytes would be more than any file that is read here.
    let size = Int(first & 0x7f)
    guard (1...3).contains(size), rest.count >= size else { return nil }
    let count = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
    rest = rest.dropFirst(size)
    return count
  }
}
