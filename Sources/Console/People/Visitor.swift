import BorealisBase
import BorealisCrypto
import Storage

/// A logged-in user.
struct Visitor: Sendable {
  let person: PersonRow
  let session: ConsoleSessionRow
  let memberships: [MembershipRow]
  /// The names of accounts that the visitor belongs to and that are turned off.
  let suspended: [AccountID: String]
  /// What forms carry so that no other site can send them.
  let formToken: String

  var language: Language { Language(rawValue: person.language) ?? .english }

  /// What the visitor may do in an account; nil if it is not theirs.
  func role(in account: AccountID) -> Role? { memberships.first { $0.account == account }?.role }

  /// The token of a session's forms: bound to the cookie, so that it needs no place of its own.
  static func formToken(of cookie: String) -> String {
    Hex.encode(HMAC.sha256(key: Array(cookie.utf8), Array("borealis console form".utf8)))
  }
}

/// Tokens in cookies and links: 256 random bits, stored only as their digest.
enum WebToken {
  static func make() -> String { Hex.encode(SystemRandom.bytes(32)) }
  static func hash(_ token: String) -> [UInt8] { SHA256.digest(Array(token.utf8)) }
  /// Whether a text can be a token at all.
  static func isPlausible(_ text: String) -> Bool { text.utf8.count == 64 && Hex.decode(text) != nil }
}
