/// Lower-case hexadecimal text.
public enum Hex {
  /// The number that up to 16 lower-case digits spell; nil for none, too many or other characters.
  @inlinable
  public static func value(_ text: some Collection<UInt8>) -> UInt64? {
    guard (1...16).contains(text.count) else { return nil }
    var value: UInt64 = 0
    for byte in text {
      guard let digit = digit(byte) else { return nil }
      value = value << 4 | UInt64(digit)
    }
    return value
  }

  /// The lowest `count` digits of a number.
  public static func digits(_ value: UInt64, count: Int) -> String {
    String(unsafeUninitializedCapacity: count) { buffer in
      for index in 0..<count {
        buffer[index] = character(UInt8(value >> UInt64(4 * (count - 1 - index)) & 15))
      }
      return count
    }
  }

  /// Two digits for each byte.
  @inlinable
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Two digits for each byte, as ASCII behind a text.
  @inlinable
  public static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
    for byte in bytes {
      text.append(character(byte >> 4))
      text.append(character(byte & 15))
    }
  }

  /// The bytes that an even number of lower-case digits spell, nil for anything else.
  public static func decode(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The value of a digit in either case; for anything else some number, and `isValid` becomes false.
  @inline(__always)
  static func digit(_ byte: UInt8, _ isValid: inout Bool) -> UInt8 {
    let (decimal, letter) = (byte &- UInt8(ascii: "0"), (byte | 0x20) &- UInt8(ascii: "a"))
    isValid = isValid && (decimal < 10 || letter < 6)
    return decimal < 10 ? decimal : letter &+ 10 & 15
  }

  @usableFromInline
  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 97...102: byte - 87
    default: nil
    }
  }

  /// The digit of a number below 16, as ASCII.
  @inlinable
  public static func character(_ digit: UInt8) -> UInt8 { digit < 10 ? 48 + digit : 87 + digit }
}

/// Base64 with the standard alphabet and padding (RFC 4648 section 4).
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes with padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let available = min(3, bytes.count - start)
      var group: UInt32 = 0
      for offset in 0..<3 { group = group << 8 | (offset < available ? UInt32(bytes[start + offset]) : 0) }
      for position in 0..<4 {
        text.append(position <= available ? alphabet[Int(group >> (18 - 6 * UInt32(position)) & 63)] : 61)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Encodes with the alphabet for addresses and file names and without padding (RFC 4648 section 5).
  public static func encodeURL(_ bytes: [UInt8]) -> String {
    let text = encode(bytes).utf8.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes either alphabet, with or without padding; nil for anything else.
  public static func decodeAny(_ text: some Collection<UInt8>) -> [UInt8]? {
    var digits = text.map { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: byte
      }
    }
    if digits.count.isMultiple(of: 4) {
      for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
    }
    return decodeURL(digits)
  }

  /// Decodes what `encodeURL` gives; nil for anything else.
  public static func decodeURL(_ text: some Collection<UInt8>) -> [UInt8]? {
    var padded: [UInt8] = []
    for byte in text {
      switch byte {
      case UInt8(ascii: "-"): padded.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): padded.append(UInt8(ascii: "/"))
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      default: padded.append(byte)
      }
    }
    while !padded.count.isMultiple(of: 4) { padded.append(UInt8(ascii: "=")) }
    return decode(padded)
  }

  /// Decodes padded text; nil for other characters, bad padding or non-zero spare bits.
  @inlinable
  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var digits = 0
    var padding = 0
    for byte in text {
      if byte == 61 {
        padding += 1
        group <<= 6
      } else {
        guard padding == 0, let digit = value(of: byte) else { return nil }
        group = group << 6 | digit
      }
      digits += 1
      guard digits == 4 else { continue }
      guard padding <= 2 else { return nil }
      let spare = group & (padding == 2 ? 0xffff : padding == 1 ? 0xff : 0)
      guard spare == 0 else { return nil }
      for position in 0..<(3 - padding) { bytes.append(UInt8(group >> (16 - 8 * UInt32(position)) & 255)) }
      group = 0
      digits = 0
    }
    return bytes
  }

  @inlinable
  static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case 65...90: UInt32(byte - 65)
    case 97...122: UInt32(byte - 71)
    case 48...57: UInt32(byte + 4)
    case 43: 62
    case 47: 63
    default: nil
    }
  }
}
