import PushBase

/// Secrets in the shape that JPush issues: 24 lower-case hexadecimal digits, 96 random bits.
public enum SecretKey24 {
  /// A new secret from the kernel's random numbers.
  public static func generate() -> String { Hex.encode(SystemRandom.bytes(12)) }
}
