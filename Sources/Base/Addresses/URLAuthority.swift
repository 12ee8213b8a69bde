/// The host and the port of a URL's authority (RFC 3986, section 3.2), without user information.
public struct URLAuthority: Hashable, Sendable {
  /// A name in lower case, an IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The port, from 1, or nil if none is given.
  public let port: UInt16?

  /// Reads `HOST` or `HOST:PORT`, in lower case. It is nil for anything but a name of letters, digits, `-`,
  /// `.` and `_` of up to 253 bytes or an address in brackets, and for a port that is not from 1 to 65535. A
  /// colon without digits means no port (RFC 3986, section 3.2.3).
  public init?(_ text: some StringProtocol) {
    let text = text.lowercased()
    let hostEnd: String.Index
    if text.first == "[" {
      guard let bracket = text.firstIndex(of: "]") else { return nil }
      hostEnd = text.index(after: bracket)
      guard Self.isAddress(text[..<bracket].dropFirst()) else { return nil }
    } else {
      hostEnd = text.firstIndex(of: ":") ?? text.endIndex
      guard Self.isName(text[..<hostEnd]) else { return nil }
    }
    host = String(text[..<hostEnd])
    let rest = text[hostEnd...]
    guard rest.isEmpty || rest.first == ":" else { return nil }
    let digits = rest.dropFirst().utf8
    if digits.isEmpty {
      port = nil
    } else {
      guard digits.allSatisfy({ (48...57).contains($0) }), let number = UInt16(rest.dropFirst()), number > 0
      else { return nil }
      port = number
    }
  }

  private static func isAddress(_ text: Substring) -> Bool {
    text.contains(":") && text.utf8.allSatisfy { isHexDigit($0) || $0 == 58 || $0 == 46 }
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.count <= 253 && text.utf8.allSatisfy(isNameByte)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...102).contains(byte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (97...122).contains(byte) || (48...57).contains(byte) || byte == 45 || byte == 46 || byte == 95
  }
}
