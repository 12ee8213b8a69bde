import BorealisBase
import BorealisNet
import Synchronization

/// Counts open connections by network, so that none can take all of them. Shared by all loops.
package final class HTTPPeerLimit: Sendable {
  private let connections: Int
  private let exempt: [IPNetwork]
  private let open = Mutex<[PeerNetwork: Int]>([:])

  /// Allows each network this many connections at a time, except trusted proxies and this machine, which act
  /// for others.
  package init(connections: Int, exempt: [IPNetwork] = []) {
    self.connections = connections
    self.exempt = exempt
  }

  /// The network that a connection counts for, nil if for none.
  func network(of peer: IPAddress?) -> PeerNetwork? {
    guard let peer else { return PeerNetwork(rawValue: 0) }
    return exempt.contains { $0.contains(peer) } ? nil : PeerNetwork(of: peer)
  }

  /// Counts a new connection; false if the network has too many already.
  func enter(_ network: PeerNetwork) -> Bool {
    open.withLock { open in
      let count = open[network, default: 0]
      guard count < connections else { return false }
      open[network] = count + 1
      return true
    }
  }

  /// Removes a counted connection.
  func leave(_ network: PeerNetwork?) {
    guard let network else { return }
    open.withLock { open in
      guard let count = open[network] else { return }
      open[network] = count > 1 ? count - 1 : nil
    }
  }
}
