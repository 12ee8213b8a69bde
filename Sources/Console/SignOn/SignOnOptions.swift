import BorealisBase
import Storage

/// The identity provider that people log in to the console with (OpenID Connect), and what its claims mean
/// here.
package struct SignOnOptions: Sendable {
  /// Its issuer identifier, a URL that `isAddress` accepts.
  package var issuer: String
  /// Who this server is at the provider.
  package var clientID, clientSecret: String
  /// What people call the provider.
  package var name: String
  /// The scopes to ask for, with `openid`.
  package var scopes: [String]
  /// The claim whose values give roles; nil if roles are given in the console only.
  package var roleClaim: String?
  /// What its values give.
  package var roles: [RoleRule]
  /// Whether an email address counts as verified if the provider does not say whether it is.
  package var trustsEmail: Bool
  /// Where people find the console, without a slash at the end.
  package var site: String

  /// Puts the required ones together.
  package init(issuer: String, clientID: String, clientSecret: String, site: String) {
    self.issuer = issuer
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.site = site
    (name, scopes) = ("SSO", ["openid", "email", "profile"])
    (roleClaim, roles, trustsEmail) = (nil, [], false)
  }

  /// Where the provider sends browsers back to.
  var redirectURI: String { site + SignOnPages.callback }

  /// Whether the provider is reached without TLS: one on this machine, for tests.
  var isPlain: Bool { issuer.hasPrefix("http:") }

  /// Whether a URL may be the provider's, or this server's own: with https, or also with http on this
  /// machine.
  package static func isAddress(_ url: String, allowsPlain: Bool = true) -> Bool {
    guard url.utf8.count <= 2000,
      url.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !Array("\"<>\\#".utf8).contains($0) })
    else { return false }
    let isPlain = url.hasPrefix("http://")
    guard isPlain || url.hasPrefix("https://"),
      let authority = URLAuthority(url.drop { $0 != ":" }.dropFirst(3).prefix { !"/?".contains($0) })
    else { return false }
    return !isPlain || (allowsPlain && isThisMachine(authority.host))
  }

  private static func isThisMachine(_ host: String) -> Bool {
    if host == "localhost" { return true }
    let loopback = ["127.0.0.0/8", "::1/128"].compactMap { IPNetwork($0) }
    guard let address = IPAddress(host.filter { $0 != "[" && $0 != "]" }) else { return false }
    return loopback.contains { $0.contains(address) }
  }
}

/// A value of a claim, and the role that it gives in an account.
package struct RoleRule: Sendable, Equatable {
  /// The value, such as the name of a group.
  package let value: String
  package let role: Role
  /// The developer key of the account; nil for the first account.
  package let account: AppKey?

  /// Reads `VALUE=ROLE` or `VALUE=ROLE@DEVKEY`; the value may contain `=`. Nil for anything else.
  package init?(_ text: String) {
    guard let equals = text.lastIndex(of: "=") else { return nil }
    let sides = text[text.index(after: equals)...].split(separator: "@", omittingEmptySubsequences: false)
    value = text[..<equals].withoutOuterWhitespace
    guard !value.isEmpty, (1...2).contains(sides.count), let role = Role(word: String(sides[0])) else {
      return nil
    }
    self.role = role
    account = sides.count == 2 ? AppKey(String(sides[1])) : nil
    if sides.count == 2, account == nil { return nil }
  }

  /// The highest role that values give in each account.
  static func roles(of values: [String], by rules: [RoleRule]) -> [AppKey?: Role] {
    var roles: [AppKey?: Role] = [:]
    for rule in rules where values.contains(where: { $0.hasSameBytes(as: rule.value) }) {
      roles[rule.account] = max(rule.role, roles[rule.account] ?? .viewer)
    }
    return roles
  }
}
