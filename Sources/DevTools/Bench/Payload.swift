import CLinux

/// The content of a test message: a mark, who publishes it and the moment of sending as 16 hexadecimal
/// digits, and filling.
enum Payload {
  private static let mark = UInt8(ascii: "~")
  private static let stampDigits = 16
  private static let digits = Array("0123456789abcdef".utf8)

  /// The smallest size.
  static let minimum = 1 + stampDigits

  /// Digits of the stamp below those of the publisher: a clock since the start of the machine reaches them in
  /// two years.
  private static let timeBits = UInt64(56)

  /// A message of `size` bytes sent at `time` by a publisher below 256.
  static func make(size: Int, time: UInt64, publisher: Int = 0) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: max(size, minimum))
    stamp(&bytes, at: 0, time: time | UInt64(publisher) << timeBits)
    return bytes
  }

  /// Writes mark and moment over the bytes from `start` on.
  static func stamp(_ bytes: inout [UInt8], at start: Int, time: UInt64) {
    bytes[start] = mark
    for place in 0..<stampDigits {
      bytes[start + 1 + place] = digits[Int(truncatingIfNeeded: time >> UInt64(60 - 4 * place)) & 15]
    }
  }

  /// When the message within these bytes was sent; nil if it holds no mark.
  static func time(in bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    stamp(in: bytes, range).map { $0 & (1 << timeBits - 1) }
  }

  /// Who published the message within these bytes; nil if it holds no mark.
  static func publisher(in bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
    stamp(in: bytes, range).map { Int($0 >> timeBits) }
  }

  private static func stamp(in bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var index = range.lowerBound
    while index < range.upperBound, bytes[index] != mark { index += 1 }
    guard range.upperBound - index >= minimum else { return nil }
    var time: UInt64 = 0
    for place in 1...stampDigits {
      let byte = bytes[index + place]
      switch byte {
      case 48...57: time = time << 4 | UInt64(byte - 48)
      case 97...102: time = time << 4 | UInt64(byte - 87)
      default: return nil
      }
    }
    return time
  }
}
