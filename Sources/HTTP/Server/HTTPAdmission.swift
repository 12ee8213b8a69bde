import BorealisBase
import BorealisNet

/// Decides which requests may take memory: screens those whose bodies are not small before they are read, and
/// counts what connections hold for their senders.
struct HTTPAdmission {
  let limits: HTTPServerLimits
  let peers: HTTPPeerLimit
  let memory: HTTPMemory
  /// Refuses requests before their bodies are read; nil accepts all of them.
  var screen: HTTPServer.Screen?
  /// Returns the client's address of a request; nil means the connection's peer.
  var client: ((HTTPRequest, IPAddress?) -> IPAddress?)?

  /// Whether peers pass on requests of others, so that what is known of one request says nothing about the
  /// next.
  var peersActForOthers = false

  /// Screens a request, and records the network that it counts for.
  func look(
    at head: HTTPRequest, _ id: String, over connection: HTTPConnection, _ work: HTTPWork
  ) -> HTTPScreening? {
    let screening = screen?(head, id, connection.peer)
    record(screening, of: head, over: connection, work)
    return screening
  }

  /// Records that a request was screened, and the network that it counts for.
  func record(
    _ screening: HTTPScreening?, of head: HTTPRequest, over connection: HTTPConnection, _ work: HTTPWork
  ) {
    work.isScreened = true
    guard case .admitted(_, let isKnown)? = screening else { return }
    work.isKnown = isKnown
    work.sender = sender(of: head, over: connection)
    // Its memory counts for its sender from now on.
    work.share = nil
  }

  /// Whether a request whose body came in one read needs screening: not small ones and those of authenticated
  /// senders.
  func needsScreening(_ request: HTTPRequest, over connection: HTTPConnection, _ work: HTTPWork) -> Bool {
    request.body.capacity > limits.uncountedBytes && !work.isScreened
      && (peersActForOthers || !connection.isKnown)
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
        for: work.isScreened ? work.sender : connection.network,
        isKnown: work.isKnown || isKnown(connection, work))
    work.share = share
    return share.hold(cost)
  }

  /// Whether what a connection holds is an authenticated sender's, whatever the request is. Between nodes
  /// that holds for answers.
  private func isKnown(_ connection: HTTPConnection, _ work: HTTPWork) -> Bool {
    connection.isKnown && (!peersActForOthers || work.parser.isIdle && !work.isScreened)
  }

  /// The network that a request counts for: behind a proxy, the client's.
  private func sender(of head: HTTPRequest, over connection: HTTPConnection) -> PeerNetwork? {
    guard let address = client?(head, connection.peer) else { return connection.network }
    return peers.network(of: address)
  }
}
