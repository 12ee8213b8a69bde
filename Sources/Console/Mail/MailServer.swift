import BorealisBase

/// The outgoing mail server and the sender address.
package struct MailServer: Sendable {
  /// Whether mail goes over TLS.
  package enum Encryption: Sendable, Equatable {
    /// Always: over a connection that begins with TLS (smtps) or changes to it (STARTTLS, RFC 3207).
    case always
    /// If the server offers STARTTLS; an attacker on the network can prevent it.
    case ifOffered
    /// Never, for a server on this machine.
    case never
  }

  /// `smtp://HOST:PORT` or `smtps://HOST:PORT`, with the port.
  package let url: String
  /// The sender address of outgoing mail.
  package let from: MailAddress
  /// Whether mail goes over TLS.
  package var encryption = Encryption.always
  /// The credentials, if the server requires any.
  package var login: (user: String, password: String)?
  /// A PEM file of certificates to trust in addition to the system's.
  package var authorities: String?

  /// Checks an address such as `smtp://mail.example.com`, `smtp://[::1]:25` or
  /// `smtps://mail.example.com:465`: nil if it has another scheme, no host, user information or a path.
  /// Without a port it is 587, or 465 for smtps.
  package init?(url: String, from: MailAddress) {
    let lower = url.lowercased()
    let scheme = lower.hasPrefix("smtp://") ? "smtp" : lower.hasPrefix("smtps://") ? "smtps" : nil
    guard let scheme else { return nil }
    var rest = lower.dropFirst(scheme.utf8.count + 3)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard let authority = URLAuthority(rest) else { return nil }
    self.url = "\(scheme)://\(authority.host):\(authority.port ?? (scheme == "smtps" ? 465 : 587))"
    self.from = from
  }

  /// The URL for libcurl, with the EHLO name: the domain of the sender address. A machine's own name is often
  /// unknown in DNS, as in a container, and many servers reject such a name.
  var urlWithOwnName: String {
    guard let name = URLAuthority(from.domain), name.port == nil else { return url }
    return "\(url)/\(name.host)"
  }

  /// Whether the connection is encrypted or local, so that a password may be sent.
  package var isPrivate: Bool { url.hasPrefix("smtps:") || encryption == .always }
}
