import BorealisBase
import BorealisCrypto

@testable import DevTools

/// A signing key of a provider.
struct TestKey {
  let keyID: String
  let teamID: String
  private let key: ES256Key

  init(_ keyID: String = "KEY0000001", team teamID: String = "TEAM000001") throws {
    self.keyID = keyID
    self.teamID = teamID
    key = try ES256Key.generate()
  }

  /// The private key as PEM.
  var pem: String { key.pem }

  func publicPEM() throws -> String { try key.publicKeyPEM() }

  /// r and s, 32 bytes each.
  func sign(_ message: [UInt8]) throws -> [UInt8] { try key.sign(message) }

  /// What the simulator is told of the key.
  func known(
    environment: PushEnvironment? = nil, bundles: [String]? = nil, family: String? = nil
  ) throws -> ProviderKey {
    ProviderKey(
      keyID: keyID, teamID: teamID, publicKey: try ES256PublicKey(pem: publicPEM()),
      environment: environment, bundles: bundles.map { $0.map { Array($0.utf8)[...] } }, family: family)
  }

  /// A JWT of the claims that Apple wants.
  func token(at seconds: Int64) throws -> String {
    try token(
      header: #"{"alg":"ES256","kid":"\#(keyID)"}"#, claims: #"{"iss":"\#(teamID)","iat":\#(seconds)}"#)
  }

  /// A JWT of any header and claims.
  func token(header: String, claims: String) throws -> String {
    let signed = Self.base64URL(Array(header.utf8)) + "." + Self.base64URL(Array(claims.utf8))
    return signed + "." + Self.base64URL(try sign(Array(signed.utf8)))
  }

  static func base64URL(_ bytes: [UInt8]) -> String {
    String(Base64.encode(bytes).compactMap { $0 == "=" ? nil : $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  /// A signature as most libraries give it: a sequence of two integers.
  static func der(_ raw: [UInt8]) -> [UInt8] {
    let numbers = [raw.prefix(32), raw.suffix(32)].flatMap { half in
      let digits = (half.first ?? 0) < 0x80 ? Array(half) : [0] + half
      return [2, UInt8(digits.count)] + digits
    }
    return [0x30, UInt8(numbers.count)] + numbers
  }
}
