import BorealisBase

/// The value of `apns-id`.
enum NotificationID {
  /// Whether text is a canonical UUID: 32 hexadecimal digits of any case as 8-4-4-4-12.
  static func isValid(_ text: HeaderValue) -> Bool {
    guard text.count == 36 else { return false }
    for (index, byte) in text.enumerated() {
      let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
      guard isHyphen ? byte == UInt8(ascii: "-") : digit(byte) != nil else { return false }
    }
    return true
  }

  /// A valid ID as a number, in which case does not matter.
  static func number(_ text: HeaderValue) -> UInt128 {
    text.reduce(0) { number, byte in digit(byte).map { number << 4 | UInt128($0) } ?? number }
  }

  /// A new random ID (RFC 9562 version 4), in upper case as Apple's are.
  static func make() -> HeaderValue {
    var bytes = SystemRandom.bytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
      for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? 48 + digit : 55 + digit) }
    }
    return text[...]
  }

  /// The value of a hexadecimal digit of either case.
  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}
