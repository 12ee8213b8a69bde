import BorealisBase

/// Where callbacks go: an http or https address of up to 2048 bytes of printable ASCII, with a host, and
/// without user information and fragment.
package struct CallbackAddress: Hashable, Sendable {
  /// The address as it was given.
  package let text: String
  /// Scheme, host and port in one spelling, such as `https://example.com:443`.
  package let origin: String

  /// The most bytes of an address.
  package static let limit = 2048

  /// Checks an address.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.limit, bytes.allSatisfy({ $0 > 32 && $0 < 127 && !Self.forbidden.contains($0) })
    else { return nil }
    let lower = text.lowercased()
    let scheme = lower.hasPrefix("https://") ? "https" : lower.hasPrefix("http://") ? "http" : nil
    guard let scheme else { return nil }
    let rest = lower.dropFirst(scheme.utf8.count + 3)
    guard let authority = URLAuthority(rest.prefix { $0 != "/" && $0 != "?" }) else { return nil }
    self.text = text
    origin = "\(scheme)://\(authority.host):\(authority.port ?? (scheme == "https" ? 443 : 80))"
  }

  /// `#` starts a fragment; the others are no part of any address (RFC 3986), and programs differ over them.
  private static let forbidden = Set(#"#\"<>^`{|}"#.utf8)
}
