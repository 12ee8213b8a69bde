/// Where callbacks go: an http or https address of up to 2048 bytes of printable ASCII, with a host, and without user
/// information and fragment.
public struct CallbackAddress: Hashable, Sendable {
  /// The address as it was given.
  public let text: String
  /// Scheme, host and port in one spelling, such as `https://example.com:443`.
  public let origin: String

  /// The most bytes of an address.
  public static let limit = 2048

  /// Checks an address.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.limit, bytes.allSatisfy({ $0 > 32 && $0 < 127 && !Self.forbidden.contains($0) })
    else { return nil }
    let lower = text.lowercased()
    let scheme = lower.hasPrefix("https://") ? "https" : lower.hasPrefix("http://") ? "http" : nil
    guard let scheme else { return nil }
    let authority = lower.dropFirst(scheme.utf8.count + 3).prefix { $0 != "/" && $0 != "?" }
    guard let (host, port) = Self.split(authority) else { return nil }
    self.text = text
    origin = "\(scheme)://\(host):\(port ?? (scheme == "https" ? 443 : 80))"
  }

  /// `#` starts a fragment; the others are no part of any address (RFC 3986), and programs differ over them.
  private static let forbidden = Set(#"#\"<>^`{|}"#.utf8)

  private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
    var host = authority
    var rest: Substring = ""
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[...end]
      rest = authority[authority.index(after: end)...]
      let digits = host.dropFirst().dropLast()
      guard digits.contains(":"), digits.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
        return nil
      }
    } else {
      if let colon = authority.firstIndex(of: ":") {
        (host, rest) = (authority[..<colon], authority[colon...])
      }
      guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(isHostByte) else { return nil }
    }
    if rest.isEmpty { return (String(host), nil) }
    guard rest.first == ":" else { return nil }
    let digits = rest.dropFirst()
    if digits.isEmpty { return (String(host), nil) }
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits), port > 0 else {
      return nil
    }
    return (String(host), port)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    (97...122).contains(byte) || (48...57).contains(byte) || byte == 45 || byte == 46 || byte == 95
  }
}
