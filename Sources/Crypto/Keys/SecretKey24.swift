import BorealisBase

/// Secrets in the shape that JPush issues: 24 lower-case hexadecimal digits, 96 random bits.
package enum SecretKey24 {
  /// A new secret from the kernel's random numbers.
  package static func generate() -> String { Hex.encode(SystemRandom.bytes(12)) }
}
