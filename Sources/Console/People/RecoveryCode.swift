import BorealisBase
import BorealisCrypto

/// Single-use codes for login without the authenticator app: 80 random bits each, stored only as digests.
enum RecoveryCode {
  /// How many codes are made at a time.
  static let count = 10
  private static let length = 16
  /// Without letters and digits that are mistaken for each other (Crockford's base 32).
  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")

  /// A new code, as people type it.
  static func make() -> String {
    let letters = SystemRandom.bytes(length).map { alphabet[Int($0) % alphabet.count] }
    return stride(from: 0, to: length, by: 4).map { String(letters[$0..<($0 + 4)]) }.joined(separator: "-")
  }

  /// The digest of what was typed; nil if it cannot be such a code.
  static func hash(_ typed: String) -> [UInt8]? {
    let plain = typed.lowercased().filter { $0 != "-" && !$0.isWhitespace }.map { letter in
      switch letter {
      case "o": Character("0")
      case "i", "l": Character("1")
      default: letter
      }
    }
    guard plain.count == length, plain.allSatisfy(alphabet.contains) else { return nil }
    return SHA256.digest(Array(String(plain).utf8))
  }
}
