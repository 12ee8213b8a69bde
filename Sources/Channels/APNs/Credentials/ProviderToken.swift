import BorealisBase
import BorealisCrypto

/// A provider token (RFC 7519), signed by a key of the developer's team.
package struct ProviderToken: Sendable, Equatable {
  /// The value of the request header `authorization`: `bearer`, a space and the token.
  package let authorization: [UInt8]
  /// The time in the token, in whole seconds. APNs rejects a token that is older than an hour.
  package let issuedAt: Timestamp

  /// Signs a new token.
  static func make(
    key: ES256Key, keyID: String, teamID: String, at now: Timestamp
  ) throws(CryptoError) -> ProviderToken {
    // Both IDs are ten characters of A-Z and 0-9, so they need no escaping.
    let header = base64URL(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
    let claims = base64URL(Array(#"{"iss":"\#(teamID)","iat":\#(now.seconds)}"#.utf8))
    let signed = header + [UInt8(ascii: ".")] + claims
    let signature = base64URL(try key.sign(signed))
    return ProviderToken(
      authorization: Array("bearer ".utf8) + signed + [UInt8(ascii: ".")] + signature,
      issuedAt: Timestamp(milliseconds: now.seconds * 1000))
  }

  /// RFC 4648 section 5, without padding.
  private static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    Base64.encode(bytes).utf8.compactMap { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
  }
}
