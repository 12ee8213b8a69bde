import CLinux
import PushBase

/// The network of a connection, for limits: one IPv4 address, or the /64 of an IPv6 address,
/// which is what one household or host is given (RFC 6177).
public struct PeerNetwork: Hashable, Sendable {
  /// An IPv4 address after `ffff`, or the first half of an IPv6 address; 0 when unknown.
  public let rawValue: UInt64

  /// Wraps the bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The network of an address.
  public init(of address: IPAddress) { rawValue = address.isV4 ? address.low : address.high }

  /// The /48 that an IPv6 network is in, which is what one site may be given; nil for others.
  public var site: PeerNetwork? { rawValue >> 48 > 0 ? PeerNetwork(rawValue: rawValue & ~0xffff) : nil }

  /// Asks the kernel for the peer of a connected socket.
  public init(of descriptor: Int32) { rawValue = cl_peer_network(descriptor) }
}

extension IPAddress {
  /// Asks the kernel for the peer of a connected socket; nil if it has no IP address.
  public init?(peerOf descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard cl_peer_ip(descriptor, &bytes) == 0 else { return nil }
    self.init(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
  }
}
