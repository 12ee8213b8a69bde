import BorealisBase

/// The password of a registration: 16 random bytes that only the device keeps. Servers store a hash of it.
public struct DeviceSecret: Hashable, Sendable, CustomStringConvertible {
  /// The first 8 bytes.
  public let high: UInt64
  /// The last 8 bytes.
  public let low: UInt64

  /// Makes a secret from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads 16 bytes; any other number of bytes gives nil.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == WireLimits.secretBytes else { return nil }
    (high, low) = bytes.withSpan { ($0.bigEndian(at: 0), $0.bigEndian(at: 8)) }
  }

  /// Its 16 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendBigEndian(high)
    bytes.appendBigEndian(low)
    return bytes
  }

  /// Never the secret, so that it does not end up in a log.
  public var description: String { "(secret)" }
}
