import BorealisBase

/// How the servers of NATS are reached.
package struct BusSettings: Hashable, Sendable {
  /// Why a text does not say that. No case holds a part of the text, which may have a password in it.
  package enum Problem: Error, Hashable, Sendable {
    /// It does not begin with `nats://` or `tls://`.
    case scheme
    /// A host or a port is missing or malformed.
    case host
    /// A user name or a password is malformed.
    case credentials
    /// An option is not known, given twice or empty.
    case option
    /// Certificates are named without `tls://`, or a certificate without its key.
    case certificates
  }

  /// Who the node is for the servers.
  package enum Credentials: Hashable, Sendable {
    /// Nobody in particular.
    case none
    /// A user with a password.
    case user(String, password: String)
    /// Somebody who knows a token.
    case token(String)
    /// What a file of NATS says (JWT and seed).
    case file(String)
  }

  /// Files for TLS, in PEM.
  package struct TLS: Hashable, Sendable {
    /// The authorities that a server's certificate is checked against; nil for those of the system.
    package let authorities: String?
    /// The node's own certificate with those above it; nil for none.
    package let certificate: String?
    package let key: String?
  }

  /// Each `host:port`; the first that can be reached is used, and another one when it fails.
  package let servers: [String]
  /// Who the node is.
  package let credentials: Credentials
  /// Nil for connections without TLS.
  package let tls: TLS?

  /// Reads `nats://[user:password@]host[:port][,host[:port]...]`, also with `tls://`. One name without a
  /// password is a token. Options follow behind `?`: `credentials=FILE`, and for TLS `ca=FILE`, `cert=FILE`
  /// and `key=FILE`.
  package init(_ url: String) throws(Problem) {
    let isTLS = url.hasPrefix("tls://")
    guard isTLS || url.hasPrefix("nats://") else { throw .scheme }
    let rest = url.dropFirst(isTLS ? 6 : 7)
    let halves = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var place = halves[0]
    if place.hasSuffix("/") { place.removeLast() }
    var user: Credentials = .none
    if let at = place.lastIndex(of: "@") {
      user = try Self.credentials(place[..<at])
      place = place[place.index(after: at)...]
    }
    var servers: [String] = []
    for part in place.split(separator: ",", omittingEmptySubsequences: false) {
      servers.append(try Self.server(part))
    }
    self.servers = servers
    let options = try Self.options(halves.count > 1 ? halves[1] : "")
    if let file = options["credentials"] {
      guard user == .none else { throw .option }
      user = .file(file)
    }
    credentials = user
    guard (options["cert"] == nil) == (options["key"] == nil) else { throw .certificates }
    guard isTLS || options["ca"] == nil && options["cert"] == nil else { throw .certificates }
    tls = isTLS ? TLS(authorities: options["ca"], certificate: options["cert"], key: options["key"]) : nil
  }

  private static func credentials(_ text: Substring) throws(Problem) -> Credentials {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = decoded(parts[0]), !name.isEmpty else { throw .credentials }
    guard parts.count > 1 else { return .token(name) }
    guard let password = decoded(parts[1]) else { throw .credentials }
    return .user(name, password: password)
  }

  private static func server(_ text: Substring) throws(Problem) -> String {
    guard let authority = URLAuthority(text), !text.hasSuffix(":") else { throw .host }
    return "\(authority.host):\(authority.port ?? 4222)"
  }

  private static func options(_ text: Substring) throws(Problem) -> [Substring: String] {
    var options: [Substring: String] = [:]
    for part in text.split(separator: "&", omittingEmptySubsequences: false) where !text.isEmpty {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, ["credentials", "ca", "cert", "key"].contains(pair[0]), options[pair[0]] == nil,
        let value = decoded(pair[1]), !value.isEmpty
      else { throw .option }
      options[pair[0]] = value
    }
    return options
  }

  /// Replaces `%41` by `A`; nil if that is no text, or has a zero in it.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
