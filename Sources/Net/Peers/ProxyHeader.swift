import BorealisBase

/// The header of the PROXY protocol, versions 1 and 2, with which a load balancer begins a connection to say
/// whose it is (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt).
package struct ProxyHeader: Equatable, Sendable {
  /// The most bytes of one: version 2 may carry more about a connection, such as certificates.
  package static let most = 4096
  /// The most bytes of one in version 1.
  private static let mostText = 107

  /// What the beginning of a connection is.
  package enum Scan: Equatable, Sendable {
    /// It may become a header.
    case needMore
    /// It is none.
    case invalid
    /// It begins with one.
    case header(ProxyHeader)
  }

  /// Its bytes.
  package let count: Int
  /// The client; nil if the connection is the balancer's own, as for a health check, or if the balancer does
  /// not know.
  package let source: IPAddress?

  /// Looks at all bytes that have come.
  package static func scan(_ bytes: [UInt8]) -> Scan {
    if signature.starts(with: bytes.prefix(signature.count)) { return scanBinary(bytes) }
    return text.starts(with: bytes.prefix(text.count)) ? scanText(bytes) : .invalid
  }

  // MARK: Version 1

  private static let text = Array("PROXY ".utf8)

  private static func scanText(_ bytes: [UInt8]) -> Scan {
    guard let end = bytes.prefix(mostText).firstIndex(of: 10) else {
      return bytes.count < mostText ? .needMore : .invalid
    }
    guard end > 0, bytes[end - 1] == 13 else { return .invalid }
    let line = String(decoding: bytes[text.count..<max(text.count, end - 1)], as: UTF8.self)
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    if words.first == "UNKNOWN" { return .header(ProxyHeader(count: end + 1, source: nil)) }
    guard words.count == 5, let source = IPAddress(words[1]), let target = IPAddress(words[2]),
      words[3...].allSatisfy({ isPort($0) })
    else { return .invalid }
    let isV6 = words[0] == "TCP6"
    guard isV6 || words[0] == "TCP4", [words[1], words[2]].allSatisfy({ $0.contains(":") == isV6 }),
      isV6 || source.isV4 && target.isV4
    else { return .invalid }
    return .header(ProxyHeader(count: end + 1, source: source))
  }

  private static func isPort(_ word: Substring) -> Bool {
    word.utf8.allSatisfy { (48...57).contains($0) } && UInt16(word) != nil
  }

  // MARK: Version 2

  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
  /// The signature, version and command, family, and the length of the rest.
  private static let fixed = 16

  private static func scanBinary(_ bytes: [UInt8]) -> Scan {
    guard bytes.count > signature.count else { return .needMore }
    let command = bytes[12]
    guard command == 0x20 || command == 0x21 else { return .invalid }
    guard bytes.count >= fixed else { return .needMore }
    let length = Int(bytes[14]) << 8 | Int(bytes[15])
    // Of each family its addresses and ports; of those that are not TCP nothing is used.
    let needed =
      switch bytes[13] {
      case 0x11: 12
      case 0x21: 36
      default: 0
      }
    guard length >= needed, fixed + length <= most else { return .invalid }
    guard bytes.count >= fixed + length else { return .needMore }
    var source: IPAddress?
    if command == 0x21, needed > 0 {
      source = IPAddress(bytes: Array(bytes[fixed..<fixed + (needed == 12 ? 4 : 16)]))
    }
    return .header(ProxyHeader(count: fixed + length, source: source))
  }
}
