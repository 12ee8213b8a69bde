import BorealisBase
import CLinux

/// The network of a connection, for limits: one IPv4 address, or the /64 of an IPv6 address,
/// which is what one household or host is given (RFC 6177).
package struct PeerNetwork: Hashable, Sendable {
  /// An IPv4 address after `ffff`, or the first half of an IPv6 address; 0 when unknown.
  package let rawValue: UInt64

  /// Wraps the bits.
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The network of an address.
  package init(of address: IPAddress) { rawValue = address.isV4 ? address.low : address.high }

  /// The /48 that an IPv6 network is in, which is what one site may be given; nil for others.
  package var site: PeerNetwork? { rawValue >> 48 > 0 ? PeerNetwork(rawValue: rawValue & ~0xffff) : nil }

  /// Asks the kernel for the peer of a connected socket.
  package init(of descriptor: Int32) { rawValue = cl_peer_network(descriptor) }
}

extension IPAddress {
  /// Asks the kernel for the peer of a connected socket; nil if it has no IP address.
  package init?(peerOf descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard cl_peer_ip(descriptor, &bytes) == 0 else { return nil }
    self.init(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
  }
}
