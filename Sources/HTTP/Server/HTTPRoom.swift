import BorealisBase
import BorealisNet

/// Counts the connections of one loop over all of its servers.
package final class HTTPRoom {
  private struct Unowned {
    unowned let server: HTTPServer
  }

  /// Connections that are open.
  var open = 0
  /// They live as long as their loop.
  private var servers: [Unowned] = []

  /// For a loop without connections.
  package init() {}

  func add(_ server: HTTPServer) { servers.append(Unowned(server: server)) }

  /// Makes room for a connection from a network, if necessary by closing the unauthenticated one that has
  /// been idle longest, of the same network if that is at its share. An authenticated one is closed only if
  /// there is no other, and never while it is in use. False if there is no room.
  func admit(_ network: PeerNetwork?, to server: HTTPServer) -> Bool {
    if let network, !server.peers.enter(network) {
      guard evict(from: network), server.peers.enter(network) else { return false }
    }
    if open >= server.limits.connections, !evict(from: nil) {
      server.peers.leave(network)
      return false
    }
    return true
  }

  private func evict(from network: PeerNetwork?) -> Bool {
    let servers = servers.map(\.server).sorted { $0.table.count > $1.table.count }
    for list in [HTTPConnection.Idleness.unauthenticated, .authenticated] {
      for server in servers {
        guard let slot = server.table.longestIdle(list, from: network) else { continue }
        server.metrics.evictedConnections.add()
        server.close(slot)
        return true
      }
    }
    return false
  }
}
