import PushNet
import Synchronization

/// Counts open connections by the network they come from, so that none can take all there are. Shared by all loops.
public final class HTTPPeerLimit: Sendable {
  private let connections: Int
  private let open = Mutex<[PeerNetwork: Int]>([:])

  /// Allows each network so many connections at a time.
  public init(connections: Int = 10_000) { self.connections = connections }

  /// Counts a new connection; false if the network has too many already.
  func enter(_ network: PeerNetwork) -> Bool {
    open.withLock { open in
      let count = open[network, default: 0]
      guard count < connections else { return false }
      open[network] = count + 1
      return true
    }
  }

  /// A counted connection is gone.
  func leave(_ network: PeerNetwork) {
    open.withLock { open in
      guard let count = open[network] else { return }
      open[network] = count > 1 ? count - 1 : nil
    }
  }
}
