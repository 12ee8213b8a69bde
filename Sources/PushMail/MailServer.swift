/// The server that takes our mail, and whom the mail is from.
public struct MailServer: Sendable {
  /// Whether mail goes over TLS.
  public enum Encryption: Sendable, Equatable {
    /// Always: over a connection that begins with TLS (smtps) or changes to it (STARTTLS, RFC 3207).
    case always
    /// If the server offers STARTTLS; whoever sits between can prevent it.
    case ifOffered
    /// Never, for a server on this machine.
    case never
  }

  /// `smtp://HOST:PORT` or `smtps://HOST:PORT`, with the port.
  public let url: String
  /// Whom mail is from.
  public let from: MailAddress
  /// Whether mail goes over TLS.
  public var encryption = Encryption.always
  /// What the server wants to know, if anything.
  public var login: (user: String, password: String)?
  /// A file with certificates, PEM, to trust besides the system's.
  public var authorities: String?

  /// Checks an address such as `smtp://mail.example.com`, `smtp://[::1]:25` or `smtps://mail.example.com:465`: nil if it has
  /// another scheme, no host, user information or a path. Without a port it is 587, or 465 for smtps.
  public init?(url: String, from: MailAddress) {
    let lower = url.lowercased()
    let scheme = lower.hasPrefix("smtp://") ? "smtp" : lower.hasPrefix("smtps://") ? "smtps" : nil
    guard let scheme else { return nil }
    var authority = lower.dropFirst(scheme.utf8.count + 3)
    if authority.hasSuffix("/") { authority = authority.dropLast() }
    guard let (host, port) = Self.split(authority) else { return nil }
    self.url = "\(scheme)://\(host):\(port ?? (scheme == "smtps" ? 465 : 587))"
    self.from = from
  }

  /// Whether mail to it can be read on the way by nobody, so that a password may be sent.
  public var isPrivate: Bool { url.hasPrefix("smtps:") || encryption == .always }

  private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
    var (host, rest) = (authority, Substring())
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      (host, rest) = (authority[...end], authority[authority.index(after: end)...])
      guard host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
        return nil
      }
    } else {
      if let colon = authority.firstIndex(of: ":") {
        (host, rest) = (authority[..<colon], authority[colon...])
      }
      guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(isHostByte) else { return nil }
    }
    if rest.isEmpty { return (String(host), nil) }
    let digits = rest.dropFirst()
    guard rest.first == ":", digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits),
      port > 0
    else { return nil }
    return (String(host), port)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    (97...122).contains(byte) || (48...57).contains(byte) || byte == 45 || byte == 46 || byte == 95
  }
}
