import PushBase
import PushHTTP
import PushNet

/// Decides which requests may take memory: screens those whose bodies are not small before they are read, and counts what
/// connections hold for their senders.
struct HTTPAdmission {
  let limits: HTTPServerLimits
  let peers: HTTPPeerLimit
  let memory: HTTPMemory
  /// Refuses requests before their bodies are read; nil accepts all of them.
  var screen: HTTPServer.Screen?
  /// Returns the client's address of a request; nil means the connection's peer.
  var client: ((HTTPRequest, IPAddress?) -> IPAddress?)?

  /// Screens a request, and records the network that it counts for.
  func look(
    at head: HTTPRequest, _ id: String, over connection: HTTPConnection, _ work: HTTPWork
  ) -> HTTPScreening? {
    work.isScreened = true
    let screening = screen?(head, id, connection.peer)
    if case .admitted(_, let isKnown)? = screening {
      work.isKnown = isKnown
      work.sender = sender(of: head, over: connection)
      // Its memory counts for its sender from now on.
      work.share = nil
    }
    return screening
  }

  /// Screens a request whose body came in one read; nil if it needs no screening, as small ones and those of
  /// authenticated senders.
  func screening(
    ofWhole request: HTTPRequest, over connection: HTTPConnection, _ work: HTTPWork
  ) -> HTTPScreening? {
    guard request.body.capacity > limits.uncountedBytes, !work.isScreened, !connection.isKnown else {
      return nil
    }
    return look(at: request, work.requestID, over: connection, work)
  }

  /// Counts what a connection holds; returns whether there is room for it.
  func hasRoom(for cost: Int, of connection: HTTPConnection, _ work: HTTPWork) -> Bool {
    guard cost > limits.uncountedBytes else {
      work.share = nil
      return true
    }
    let share =
      work.share
      ?? memory.share(
        for: work.isScreened ? work.sender : connection.network, isKnown: work.isKnown || connection.isKnown)
    work.share = share
    return share.hold(cost)
  }

  /// The network that a request counts for: behind a proxy, the client's.
  private func sender(of head: HTTPRequest, over connection: HTTPConnection) -> PeerNetwork? {
    guard let address = client?(head, connection.peer) else { return connection.network }
    return peers.network(of: address)
  }
}
