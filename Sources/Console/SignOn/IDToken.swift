import BorealisBase
import BorealisCrypto

/// Checks ID tokens that came from the token endpoint itself: TLS has shown who issued them, so the signature
/// need not (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
enum IDToken {
  /// Bytes that a token may have.
  static let mostBytes = 64 << 10
  /// Seconds by which the provider's clock may differ.
  static let skew: Int64 = 120
  /// Seconds since a token was issued. It was requested just now, but some providers date it back by five
  /// minutes.
  static let mostAge: Int64 = 600

  /// What a token must say.
  struct Expectation: Sendable {
    var issuer, clientID, nonce: String
  }

  /// The claims of a token that says it; the error names the first that is wrong, without its value.
  static func claims(
    _ token: String, _ expected: Expectation, at now: Timestamp
  ) throws(SignOnFailure) -> JSONObject {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard token.utf8.count <= mostBytes, parts.count == 3, let header = object(parts[0]),
      let claims = object(parts[1]), let algorithm = header["alg"]?.string, algorithm != "none"
    else { throw wrong("is not a signed token") }
    guard let issuer = claims["iss"]?.string, issuer.hasSameBytes(as: expected.issuer) else {
      throw wrong("has another iss")
    }
    try check(audience: claims, expected.clientID)
    try check(times: claims, now.seconds)
    guard let nonce = claims["nonce"]?.string,
      constantTimeEquals(Array(nonce.utf8), Array(expected.nonce.utf8))
    else { throw wrong("has another nonce") }
    // Section 2: at most 255 ASCII characters.
    guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count),
      subject.utf8.allSatisfy({ (32..<127).contains($0) })
    else { throw wrong("has no valid sub") }
    return claims
  }

  private static func check(audience claims: JSONObject, _ clientID: String) throws(SignOnFailure) {
    let audiences = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
    guard audiences.contains(where: { $0.hasSameBytes(as: clientID) }) else { throw wrong("has another aud") }
    let isParty = claims["azp"].map { $0.string?.hasSameBytes(as: clientID) == true }
    guard isParty ?? (audiences.count == 1) else { throw wrong("has another azp") }
  }

  private static func check(times claims: JSONObject, _ now: Int64) throws(SignOnFailure) {
    func seconds(_ name: String) -> Double? { claims[name]?.double }
    guard let end = seconds("exp"), end > Double(now - skew) else { throw wrong("has expired (exp)") }
    guard let issued = seconds("iat"), issued <= Double(now + skew), issued >= Double(now - mostAge) else {
      throw wrong("was not issued now (iat)")
    }
    guard claims["nbf"] == nil || (seconds("nbf") ?? .infinity) <= Double(now + skew) else {
      throw wrong("is not valid yet (nbf)")
    }
  }

  private static func object(_ part: Substring) -> JSONObject? {
    guard let bytes = Base64.decodeURL(part.utf8) else { return nil }
    return (try? parseJSON(bytes, limits: SignOnProvider.limits))?.object
  }

  private static func wrong(_ what: String) -> SignOnFailure { .provider("its ID token \(what)") }
}
