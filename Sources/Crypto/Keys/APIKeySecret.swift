import BorealisBase

/// Secrets of API keys: `brlk` and 20 random letters and digits, which are 119 random bits. They have 24
/// characters, since official clients of JPush refuse other secrets. By the beginning, which no master secret
/// has, programs that look for leaked secrets recognize them.
package enum APIKeySecret {
  /// The beginning of each.
  package static let prefix = "brlk"
  private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let size = 24

  /// A new secret from the kernel's random numbers.
  package static func generate() -> String {
    var secret = Array(prefix.utf8)
    // The largest multiple of their number, so that all characters are equally likely.
    let bound = UInt8(256 / characters.count * characters.count)
    while secret.count < size {
      for byte in SystemRandom.bytes(size) where byte < bound && secret.count < size {
        secret.append(characters[Int(byte) % characters.count])
      }
    }
    return String(decoding: secret, as: UTF8.self)
  }
}
