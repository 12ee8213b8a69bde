import BorealisBase

/// A JWT of a provider, taken apart; nothing is verified yet.
struct SimulatedProviderToken: Sendable {
  /// `kid`: the key's ID.
  let keyID: String
  /// `iss`: the team's ID.
  let teamID: String
  /// `iat`: when it was made.
  let issuedAt: Timestamp
  /// What the signature covers.
  let signedBytes: [UInt8]
  /// 64 bytes: r and s.
  let signature: [UInt8]

  /// Reads three parts in unpadded base64url (RFC 7515 section 7.1) with `alg` ES256, a `kid`, an `iss` and a
  /// numeric `iat`. Nil for anything else.
  init?(_ text: HeaderValue) {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.count <= 4096, parts.count == 3, let header = Self.object(parts[0]),
      let claims = Self.object(parts[1]), let signature = Base64URL.decode(parts[2]), signature.count == 64,
      header["alg"]?.string == "ES256", let keyID = header["kid"]?.string, !keyID.isEmpty,
      let teamID = claims["iss"]?.string, !teamID.isEmpty, let seconds = claims["iat"]?.int64,
      (0..<1 << 40).contains(seconds)
    else { return nil }
    self.keyID = keyID
    self.teamID = teamID
    issuedAt = Timestamp(milliseconds: seconds * 1000)
    signedBytes = Array(text[parts[0].startIndex..<parts[1].endIndex])
    self.signature = signature
  }

  private static func object(_ part: HeaderValue) -> JSONObject? {
    guard let bytes = Base64URL.decode(part) else { return nil }
    return (try? parseJSON(bytes))?.object
  }
}
