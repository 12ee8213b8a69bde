/// A topic that an Apple push certificate may send to.
package struct CertificateTopic: Equatable, Sendable {
  /// The bundle ID, perhaps with a suffix such as `.voip`.
  package let name: String
  /// What it is for, such as `app`, `voip` or `complication`; empty if the certificate does not say.
  package let kind: String

  /// Wraps both.
  package init(name: String, kind: String) {
    self.name = name
    self.kind = kind
  }

  /// Reads the value of the extension 1.2.840.113635.100.6.3.6: a SEQUENCE of pairs of a UTF8String with the
  /// topic and a SEQUENCE of UTF8Strings with its kinds. Some encoders wrap it in one more OCTET STRING. Nil
  /// for anything else.
  package static func list(extension bytes: [UInt8]) -> [CertificateTopic]? {
    var value = bytes[...]
    var wrappers = 0
    while value.first == DERReader.Tag.octetString {
      var reader = DERReader(value)
      guard wrappers < 3, let inner = reader.next(DERReader.Tag.octetString), reader.isAtEnd else {
        return nil
      }
      wrappers += 1
      value = inner
    }
    var outer = DERReader(value)
    guard let content = outer.next(DERReader.Tag.sequence), outer.isAtEnd else { return nil }
    return pairs(content)
  }

  private static func pairs(_ content: ArraySlice<UInt8>) -> [CertificateTopic]? {
    var reader = DERReader(content)
    var topics: [CertificateTopic] = []
    while !reader.isAtEnd {
      guard let name = reader.next(DERReader.Tag.utf8String).flatMap(text),
        let kinds = reader.next(DERReader.Tag.sequence)
      else { return nil }
      var inner = DERReader(kinds)
      // The first kind is the one that counts; no certificate with several was seen.
      guard let kind = inner.next(DERReader.Tag.utf8String).flatMap(text) else { return nil }
      topics.append(CertificateTopic(name: name, kind: kind))
    }
    return topics
  }

  /// Printable text only: it is shown to people and compared with bundle IDs.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    guard (1...255).contains(bytes.count), bytes.allSatisfy({ $0 > 32 && $0 != 127 }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The value of the extension that `list` reads.
  static func encode(_ topics: [CertificateTopic]) -> [UInt8] {
    let pairs = topics.flatMap { topic in
      element(DERReader.Tag.utf8String, Array(topic.name.utf8))
        + element(DERReader.Tag.sequence, element(DERReader.Tag.utf8String, Array(topic.kind.utf8)))
    }
    return element(DERReader.Tag.sequence, pairs)
  }

  /// A tag, the length in the shortest form that its size allows, and the content (X.690 section 8.1.3).
  private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    guard count >= 0x80 else { return [tag, UInt8(count)] + content }
    let digits = withUnsafeBytes(of: UInt32(clamping: count).bigEndian) { Array($0.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(digits.count)] + digits + content
  }
}
