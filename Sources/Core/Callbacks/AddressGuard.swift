import BorealisBase
import CLinux

/// Decides which addresses callbacks may connect to: public addresses of other machines, and the networks
/// that the operator allows. An app must not reach internal services through a callback URL (SSRF).
package struct AddressGuard: Sendable {
  private let allowed: [IPNetwork]
  private let own: @Sendable () -> [IPAddress]?

  /// `allowed` are networks that may be connected to in any case. `own` returns this machine's addresses, nil
  /// if they are unknown; it is called each time, since they may change.
  package init(
    allowing allowed: [IPNetwork] = [],
    own: @escaping @Sendable () -> [IPAddress]? = AddressGuard.ownAddresses
  ) {
    self.allowed = allowed
    self.own = own
  }

  /// The addresses of this machine's network interfaces, nil if the system does not report them. Addresses
  /// that a router translates to them are not included.
  package static func ownAddresses() -> [IPAddress]? {
    var bytes: [UInt8] = []
    var count = 64
    repeat {
      bytes = [UInt8](repeating: 0, count: 16 * count)
      count = Int(cl_own_addresses(&bytes, Int32(clamping: bytes.count / 16)))
    } while 16 * count > bytes.count
    guard count >= 0 else { return nil }
    return (0..<count).compactMap { IPAddress(bytes: Array(bytes[16 * $0..<16 * ($0 + 1)])) }
  }

  /// Whether a connection to an address may be made.
  package func allows(_ address: IPAddress) -> Bool {
    if allowed.contains(where: { $0.contains(address) }) { return true }
    if let inner = Self.embedded(in: address) { return allows(inner) }
    guard Self.isPublic(address) else { return false }
    // A service that listens on all addresses often trusts connections from this machine. The machine's
    // addresses must be known, since any public address might be one of them.
    return own().map { !$0.contains(address) } ?? false
  }

  /// Whether the Internet routes an address.
  static func isPublic(_ address: IPAddress) -> Bool {
    if !address.isV4, !global.contains(where: { $0.contains(address) }) { return false }
    return !special.contains { $0.contains(address) }
  }

  /// The IPv4 address to which a NAT64 translator would connect (RFC 6052), nil if there is none.
  private static func embedded(in address: IPAddress) -> IPAddress? {
    translated.contains { $0.contains(address) }
      ? IPAddress(v4: UInt32(truncatingIfNeeded: address.low)) : nil
  }

  private static let translated = ranges(["64:ff9b::/96"])

  /// The IPv6 space that IANA has allocated as global unicast: the rest is loopback, link-local, private,
  /// multicast or unassigned.
  private static let global = ranges(["2000::/3"])

  /// Special-purpose addresses (IANA registries, RFC 6890).
  private static let special = ranges([
    "0.0.0.0/8",  // this network
    "10.0.0.0/8",  // private
    "100.64.0.0/10",  // between a provider and its customers (CGNAT)
    "127.0.0.0/8",  // loopback
    "169.254.0.0/16",  // link-local, and what clouds tell their machines
    "172.16.0.0/12",  // private
    "192.0.0.0/24",  // protocol assignments
    "192.0.2.0/24",  // documentation
    "192.88.99.0/24",  // 6to4 relays
    "192.168.0.0/16",  // private
    "198.18.0.0/15",  // benchmarks
    "198.51.100.0/24",  // documentation
    "203.0.113.0/24",  // documentation
    "224.0.0.0/4",  // multicast
    "240.0.0.0/4",  // reserved, and broadcast
    "2001::/23",  // protocol assignments, Teredo among them
    "2001:db8::/32",  // documentation
    "2002::/16",  // 6to4: an IPv4 address of any kind inside
    "3fff::/20",  // documentation
  ])

  private static func ranges(_ texts: [String]) -> [IPNetwork] {
    texts.map { text in
      guard let range = IPNetwork(text) else { preconditionFailure("\(text) is not a valid network") }
      return range
    }
  }
}
