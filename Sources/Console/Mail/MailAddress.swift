import BorealisBase

/// An address for mail, perhaps with a name: `push@example.com` or `Borealis <push@example.com>`.
package struct MailAddress: Sendable, Equatable {
  /// The address itself.
  package let address: String
  /// The display name; empty if there is none.
  package let name: String

  /// Reads one of both forms; nil for anything else. A name may be in quotation marks; it has no others in
  /// it, and no control characters.
  package init?(_ text: String) {
    guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else {
      guard Self.isAddress(text) else { return nil }
      (address, name) = (text, "")
      return
    }
    let inner = text[text.index(after: open)...].dropLast()
    var label = text[..<open].drop { $0 == " " }
    while label.last == " " { label.removeLast() }
    if label.count > 1, label.first == "\"", label.last == "\"" { label = label.dropFirst().dropLast() }
    guard Self.isAddress(String(inner)), label.utf8.count <= 128,
      label.isPlainLine, label.utf8.allSatisfy({ !Array("\"\\<>".utf8).contains($0) })
    else { return nil }
    address = String(inner)
    name = String(label)
  }

  /// The domain of the address.
  package var domain: String { String(address.split(separator: "@").last ?? "") }

  /// A local part and a domain of printable characters that have no meaning in a header (RFC 5322 section
  /// 3.4.1, without its quoted forms).
  private static func isAddress(_ text: String) -> Bool {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    return sides.count == 2 && !sides[0].isEmpty && !sides[1].isEmpty && text.utf8.count <= 254
      && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !Array("<>\"\\,;:()[]".utf8).contains($0) }
  }
}
