import PushBase

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
    var rest = lower.dropFirst(scheme.utf8.count + 3)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard let authority = URLAuthority(rest) else { return nil }
    self.url = "\(scheme)://\(authority.host):\(authority.port ?? (scheme == "smtps" ? 465 : 587))"
    self.from = from
  }

  /// The URL as libcurl takes it, with the name that we give in EHLO: the domain that mail is from. A machine's own name is often
  /// one that nobody knows, as in a container, and many servers take no mail from such.
  var urlWithOwnName: String {
    guard let name = URLAuthority(from.domain), name.port == nil else { return url }
    return "\(url)/\(name.host)"
  }

  /// Whether mail to it can be read on the way by nobody, so that a password may be sent.
  public var isPrivate: Bool { url.hasPrefix("smtps:") || encryption == .always }
}
