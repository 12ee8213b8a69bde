import BorealisBase

/// The alphabet of JWTs (RFC 4648 section 5), without padding.
enum Base64URL {
  /// Decodes text; nil for padding, for other characters and for spare bits.
  static func decode(_ text: HeaderValue) -> [UInt8]? {
    var digits: [UInt8] = []
    digits.reserveCapacity(text.count + 3)
    for byte in text {
      switch byte {
      case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      default: digits.append(byte)
      }
    }
    while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
    return Base64.decode(digits)
  }
}
