import Glibc

/// An IPv4 or IPv6 address. An IPv4 address and the same one mapped into IPv6 (RFC 4291 section 2.5.5.2) are
/// equal.
public struct IPAddress: Hashable, Sendable {
  /// The first eight bytes, of an IPv4 address those of its mapped form: zero.
  public let high: UInt64
  /// The last eight bytes.
  public let low: UInt64

  /// Makes an address from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes an IPv4 address.
  public init(v4 bits: UInt32) { self.init(high: 0, low: Self.v4Mark | UInt64(bits)) }

  private static let v4Mark: UInt64 = 0xffff_0000_0000

  /// Whether it is an IPv4 address.
  public var isV4: Bool { high == 0 && low >> 32 == Self.v4Mark >> 32 }

  /// Reads `192.0.2.1` or `2001:db8::1`; anything else, an interface's name behind `%` too, gives nil.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
    let text = String(text)
    var v4 = in_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      self.init(v4: UInt32(bigEndian: v4.s_addr))
      return
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
    let halves = withUnsafeBytes(of: &v6) { bytes in
      (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }

  /// What limits count as one: an IPv4 address itself, and of an IPv6 address the /64, which is what one
  /// household or host is given (RFC 6177).
  public var network: IPAddress { isV4 ? self : IPAddress(high: high, low: 0) }

  /// The /48 of an IPv6 address, which is what one site may be given (RFC 6177); nil for IPv4.
  public var site: IPAddress? { isV4 ? nil : IPAddress(high: high & ~0xffff, low: 0) }

  /// The text that people write: dotted decimals, or hexadecimal groups as in RFC 5952.
  public var text: String {
    if isV4 { return (0..<4).map { String(low >> (24 - $0 * 8) & 0xff) }.joined(separator: ".") }
    var bytes = (high.bigEndian, low.bigEndian)
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// A range of addresses in CIDR notation (RFC 4632, RFC 4291 section 2.3).
public struct IPNetwork: Hashable, Sendable {
  /// Its first address.
  public let address: IPAddress
  /// Leading bits that an address in it shares, 0 to 128; those of an IPv4 network count the 96 of the mapped
  /// form.
  public let prefix: Int

  /// Reads `10.0.0.0/8`, `2001:db8::/32` or a single address. Nil for anything else, and if bits behind the
  /// prefix are set, since that is probably a mistake.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(first) else { return nil }
    let (width, offset) = first.contains(":") ? (128, 0) : (32, 96)
    var prefix = width
    if parts.count == 2 {
      let digits = parts[1].utf8
      guard (1...3).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
        let number = Int(parts[1]), number <= width
      else { return nil }
      prefix = number
    }
    self.address = address
    self.prefix = prefix + offset
    let mask = Self.mask(self.prefix)
    guard address.high & ~mask.high == 0, address.low & ~mask.low == 0 else { return nil }
  }

  /// This machine, as it sees itself.
  public static let loopback = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }

  /// Whether a host, a name or an address without brackets, is this machine, by an address that no other
  /// reaches.
  public static func isLoopback(_ host: String) -> Bool {
    guard let address = IPAddress(host) else { return host == "localhost" }
    return loopback.contains { $0.contains(address) }
  }

  /// Whether an address is in the range.
  public func contains(_ other: IPAddress) -> Bool {
    let mask = Self.mask(prefix)
    return (address.high ^ other.high) & mask.high == 0 && (address.low ^ other.low) & mask.low == 0
  }

  /// Whether all addresses of another range are in the range.
  public func contains(_ other: IPNetwork) -> Bool { prefix <= other.prefix && contains(other.address) }

  private static func mask(_ prefix: Int) -> (high: UInt64, low: UInt64) {
    func half(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }
    return (half(prefix), half(prefix - 64))
  }

  /// The text that it can be read from.
  public var text: String {
    let isV4 = address.isV4 && prefix >= 96
    return "\(address.text)/\(isV4 ? prefix - 96 : prefix)"
  }
}

extension IPAddress {
  /// Reads 4 or 16 bytes in network order; nil for any other number.
  public init?(bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    switch bytes.count {
    case 4: self.init(v4: reader.read() ?? 0)
    case 16: self.init(high: reader.read() ?? 0, low: reader.read() ?? 0)
    default: return nil
    }
  }
}
