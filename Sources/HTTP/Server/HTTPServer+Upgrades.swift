import BorealisBase
import BorealisNet

/// What happens to a request to upgrade to another protocol (RFC 9110 section 7.8).
package enum HTTPUpgrade {
  /// It gets an ordinary answer, and the connection stays.
  case answered(HTTPResponse)
  /// It gets this answer, 101, and the connection leaves the server: `adopt` is called on the loop's thread
  /// and owns it from then on.
  case granted(HTTPResponse, adopt: (MovingConnection) -> Void)
}

extension HTTPServer {
  /// Carries out the decision about a request. `rest` has the bytes that were read after it.
  func perform(_ upgrade: HTTPUpgrade, _ slot: UInt32, _ work: HTTPWork, rest: Span<UInt8>) {
    switch upgrade {
    case .answered(let response):
      handle(HTTPAnswers.Answer(token: token(slot), number: table.slab[slot].number, response: response))
    case .granted(let response, let adopt):
      metrics.answered(
        response.status, microseconds: (time.monotonic() &- work.started) / 1000)
      queue(response, slot, work, keepAlive: true)
      adopt(release(slot, unread: rest.indices.map { rest[$0] }))
    }
  }

  /// Removes a connection without closing it.
  private func release(_ slot: UInt32, unread: [UInt8]) -> MovingConnection {
    let connection = MovingConnection(table.slab[slot].connection, unread: unread)
    metrics.connections.add(-1)
    room.open -= 1
    peers.leave(table.slab[slot].network)
    table.remove(slot)
    hasReleased = true
    return connection
  }
}
