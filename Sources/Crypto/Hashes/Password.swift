import BorealisBase
import COpenSSL

/// Passwords as they are stored: scrypt (RFC 7914) with a random salt.
///
/// The text names its own cost, so that it can be raised later: `scrypt$15$8$3$salt$digest`, base-2 logarithm
/// of N, r, p, and both in Base64. N = 2^15, r = 8 and p = 3 are one of the equal choices of the OWASP
/// Password Storage Cheat Sheet: 32 MiB and some 0.2 s of a core. Do it on a thread that may take that long.
package enum Password {
  private static let digestSize = 32
  private static let saltSize = 16
  private static let standard = Cost(logN: 15, r: 8, p: 3)

  private struct Cost: Equatable {
    let logN, r, p: UInt64

    /// 128 * N * r bytes for the table and some for the rest.
    var memory: UInt64 { 128 * (1 << logN) * r + 128 * r * p + (1 << 20) }
    /// Nothing stored may ask for more than about 130 MiB, or for a minute.
    var isBounded: Bool { (10...17).contains(logN) && (1...8).contains(r) && (1...16).contains(p) }
  }

  /// Hashes a password for storing.
  package static func hash(_ password: String) throws(CryptoError) -> String {
    let salt = SystemRandom.bytes(saltSize)
    let digest = try derive(password, salt: salt, standard)
    return
      "scrypt$\(standard.logN)$\(standard.r)$\(standard.p)$\(Base64.encode(salt))$\(Base64.encode(digest))"
  }

  /// Whether a password matches a hash; false for a text in another format.
  package static func matches(_ password: String, _ stored: String) -> Bool {
    let parts = stored.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0] == "scrypt", let logN = UInt64(parts[1]), let r = UInt64(parts[2]),
      let p = UInt64(parts[3]), let salt = Base64.decode(parts[4].utf8),
      let digest = Base64.decode(parts[5].utf8),
      digest.count == digestSize
    else { return false }
    let cost = Cost(logN: logN, r: r, p: p)
    guard cost.isBounded, let given = try? derive(password, salt: salt, cost) else { return false }
    return constantTimeEquals(given, digest)
  }

  /// Takes as long as `matches` for a user who does not exist, so that timing does not reveal which users
  /// exist.
  package static func waste(_ password: String) {
    _ = try? derive(password, salt: [UInt8](repeating: 0, count: saltSize), standard)
  }

  private static func derive(
    _ password: String, salt: [UInt8], _ cost: Cost
  ) throws(CryptoError) -> [UInt8] {
    let bytes = Array(password.utf8)
    var digest = [UInt8](repeating: 0, count: digestSize)
    let done = bytes.withUnsafeBytes { secret in
      EVP_PBE_scrypt(
        secret.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, salt, salt.count,
        1 << cost.logN,
        cost.r, cost.p, cost.memory, &digest, digest.count)
    }
    guard done == 1 else { throw CryptoError.fromQueue() }
    return digest
  }
}
