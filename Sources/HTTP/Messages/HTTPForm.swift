/// The fields of a form as browsers send them by default, `application/x-www-form-urlencoded` (WHATWG URL,
/// section 5).
package struct HTTPForm: Sendable, Equatable {
  /// Names and values in order, decoded.
  package let items: [HTTPTarget.Item]

  /// Reads a body. Nil if an escape is malformed, if decoded text is not UTF-8 or holds a NUL, and for more
  /// fields than `most`.
  package init?(_ body: [UInt8], most: Int = HTTPTarget.mostItems) {
    guard let items = HTTPTarget.items(body, most: most) else { return nil }
    self.items = items
  }

  /// The first value under a name.
  package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// All values under a name, such as those of checked boxes.
  package func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}

extension HTTPHeaders {
  /// The value of a cookie (RFC 6265 section 5.4); the first one of several.
  package func cookie(_ name: String) -> String? {
    for field in fields where field.name == "cookie" {
      for pair in field.value.split(separator: ";") {
        let sides = pair.drop { $0 == " " }.split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if sides.count == 2, sides[0] == name { return String(sides[1]) }
      }
    }
    return nil
  }
}
