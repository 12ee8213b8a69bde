import BorealisBase

/// Where a node takes the requests of others.
package struct NodeAddress: Hashable, Sendable {
  /// The node's name, which its certificate must carry as a DNS name.
  package let name: String
  /// A host name or an IP address, without brackets.
  package let host: String
  package let port: UInt16

  /// Puts an address together.
  package init(name: String, host: String, port: UInt16) {
    (self.name, self.host, self.port) = (name, host, port)
  }

  /// Whether the host is an address of this machine, which no other reaches: only these are used without TLS.
  package var isLoopback: Bool { IPNetwork.isLoopback(host) }
}
