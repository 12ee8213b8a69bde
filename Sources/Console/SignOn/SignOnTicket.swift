import BorealisBase
import BorealisCrypto

/// What the browser keeps in a cookie while its user is at the identity provider: a random number, an end and
/// the page to go to, signed. State, nonce and the verifier of PKCE (RFC 7636) are derived from the number
/// with the server's key. So nothing is stored, and every node can take the answer.
struct SignOnTicket: Sendable {
  /// Seconds that somebody may take to log in at the provider.
  static let seconds: Int64 = 600

  let cookie: String
  /// What the answer to the browser must bring along: it belongs to this browser.
  let state: String
  /// What the ID token must bring along: it belongs to this login.
  let nonce: String
  /// What the token endpoint gets to see, and the browser only its digest: the code belongs to this login.
  let verifier: String
  /// The page of the console to go to then; nil for the first one.
  let place: String?

  /// What the browser shows of the verifier.
  var challenge: String { Self.challenge(of: verifier) }

  /// The digest of a verifier (RFC 7636, section 4.2, `S256`).
  static func challenge(of verifier: String) -> String {
    Base64.encodeURL(SHA256.digest(Array(verifier.utf8)))
  }

  /// A new one.
  init(to place: String?, key: [UInt8], at now: Timestamp) {
    self.init(
      end: now.seconds + Self.seconds, seed: Hex.encode(SystemRandom.bytes(32)), place: place, key: key)
  }

  /// The one of a cookie; nil if it was not made with the key, or has ended.
  init?(cookie: String, key: [UInt8], at now: Timestamp) {
    let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, let end = Int64(parts[0]), end > now.seconds, end <= now.seconds + Self.seconds,
      let place = Base64.decodeURL(parts[2].utf8)
    else { return nil }
    self.init(
      end: end, seed: String(parts[1]), place: place.isEmpty ? nil : String(decoding: place, as: UTF8.self),
      key: key)
    guard constantTimeEquals(Array(self.cookie.utf8), Array(cookie.utf8)) else { return nil }
  }

  private init(end: Int64, seed: String, place: String?, key: [UInt8]) {
    func derive(_ purpose: String, _ text: String) -> [UInt8] {
      HMAC.sha256(key: key, Array("\(purpose) \(text)".utf8))
    }
    let number = "\(end).\(seed)"
    let text = "\(number).\(Base64.encodeURL(Array((place ?? "").utf8)))"
    cookie = "\(text).\(Hex.encode(derive("cookie", text)))"
    state = Base64.encodeURL(derive("state", number))
    nonce = Base64.encodeURL(derive("nonce", number))
    verifier = Base64.encodeURL(derive("verifier", number))
    self.place = place
  }

  /// Whether an answer belongs to it.
  func hasState(_ given: String?) -> Bool {
    constantTimeEquals(Array((given ?? "").utf8), Array(state.utf8))
  }
}
