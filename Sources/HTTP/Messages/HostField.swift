import BorealisBase

/// The value of `Host` and of the authority of a target: a host, and a port unless it is the scheme's default
/// (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum HostField {
  static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
    let end: Int
    if text.first == UInt8(ascii: "[") {
      guard let bracket = text.firstIndex(of: UInt8(ascii: "]")),
        isIPv6(text[(text.startIndex + 1)..<bracket])
      else { return false }
      end = bracket + 1
    } else {
      end = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
      guard end > text.startIndex, isName(text[..<end]) else { return false }
    }
    guard end < text.endIndex else { return true }
    return text[end] == UInt8(ascii: ":") && isPort(text[(end + 1)...])
  }

  private static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
    text.contains(UInt8(ascii: ":")) && IPAddress(String(decoding: text, as: UTF8.self)) != nil
  }

  /// A name or an IPv4 address, with escapes; no name in use has the other characters that RFC 3986 allows.
  private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
    var index = text.startIndex
    while index < text.endIndex {
      switch text[index] {
      case 48...57, 65...90, 97...122, 45, 46, 95, 126: index += 1
      case UInt8(ascii: "%"):
        guard index + 2 < text.endIndex, text[(index + 1)...(index + 2)].allSatisfy(isHexDigit) else {
          return false
        }
        index += 3
      default: return false
      }
    }
    return true
  }

  /// No digits mean the scheme's default port.
  private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.allSatisfy({ 48...57 ~= $0 }) else { return false }
    let digits = text.drop { $0 == 48 }
    return digits.count <= 5 && digits.reduce(0) { $0 * 10 + Int($1 - 48) } <= 65_535
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...70, 97...102: true
    default: false
    }
  }
}
