import BorealisBase
import BorealisCrypto

/// The secret that signs an app's callbacks.
package enum CallbackSecret {
  /// A new random secret: `whsec_` and 64 hexadecimal digits.
  package static func generate() -> String { "whsec_" + Hex.encode(SystemRandom.bytes(32)) }

  /// The stored, encrypted form of a secret.
  package static func seal(_ secret: String, app: AppID, with keys: SealingKeys) -> [UInt8] {
    keys.seal(Array(secret.utf8), for: context(app))
  }

  /// Decrypts the result of `seal`.
  package static func open(
    _ sealed: [UInt8], app: AppID, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    try keys.open(sealed, for: context(app))
  }

  /// Decrypts with any of the keys and encrypts with the current one.
  package static func reseal(
    _ sealed: [UInt8], app: AppID, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    keys.seal(try keys.open(sealed, for: context(app)), for: context(app))
  }

  /// The value of `X-Borealis-Signature`: for each secret `v1=` and the HMAC-SHA-256, in hexadecimal digits,
  /// of the timestamp, a dot and the body. The secret's bytes are those of its text.
  static func signature(_ body: [UInt8], at seconds: Int64, with secrets: [[UInt8]]) -> String {
    let signed = Array("\(seconds).".utf8) + body
    return secrets.map { "v1=" + Hex.encode(HMAC.sha256(key: $0, signed)) }.joined(separator: ",")
  }

  private static func context(_ app: AppID) -> SealingKeys.Context {
    SealingKeys.Context(app: app, purpose: "callback secret")
  }
}
