import BorealisBase
import COpenSSL

/// Codes of authenticator apps: TOTP (RFC 6238) with HMAC-SHA-1, six digits and steps of 30 seconds, the one
/// form that all of these apps understand.
package enum OneTimePassword {
  /// Bytes of a secret (RFC 4226 section 4 recommends 160 bits).
  package static let secretSize = 20
  private static let step: Int64 = 30

  /// The step that a moment belongs to.
  package static func step(at time: Timestamp) -> Int64 { time.seconds / step }

  /// The six digits for a step.
  package static func code(secret: [UInt8], step: Int64) -> String {
    var message = ByteWriter()
    message.write(UInt64(bitPattern: step))
    let digest = HMAC.sha1(key: secret, message.bytes)
    let offset = Int(digest[19] & 15)
    let number = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
    let digits = String(number % 1_000_000)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The step of a code: the current one, or the one before or after, since clocks differ. Nil if it is none
  /// of these, or not later than `last`, the last used step: a code is valid once (RFC 6238 section 5.2).
  package static func match(
    _ code: String, secret: [UInt8], at time: Timestamp, after last: Int64
  ) -> Int64? {
    let given = Array(code.utf8)
    let now = step(at: time)
    return (now - 1...now + 1).first {
      $0 > last && constantTimeEquals(given, Array(Self.code(secret: secret, step: $0).utf8))
    }
  }

  /// A secret as people type it, in Base32 (RFC 4648 section 6) without padding.
  package static func text(of secret: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var output: [UInt8] = []
    var (bits, count) = (UInt32(0), UInt32(0))
    for byte in secret {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        output.append(alphabet[Int(bits >> count & 31)])
      }
    }
    if count > 0 { output.append(alphabet[Int(bits << (5 - count) & 31)]) }
    return String(decoding: output, as: UTF8.self)
  }
}

extension HMAC {
  /// The 20 bytes of HMAC-SHA-1, for one-time passwords only.
  static func sha1(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    let isDone =
      COpenSSL.HMAC(
        EVP_sha1(), key, Int32(clamping: key.count), message, message.count, &digest, nil) != nil
    precondition(isDone, "HMAC-SHA-1 failed")
    return digest
  }
}
