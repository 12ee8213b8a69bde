/// What one connection, and all connections of one server together, may take. Times are whole seconds and may
/// last up to two seconds longer.
package struct HTTPServerLimits: Sendable {
  /// Limits of a request's parts.
  package var message = HTTPLimits()
  /// Requests with larger bodies are screened before the body is read; screening each small one would cost
  /// more than it saves.
  package var unscreenedBytes = 4 << 10
  /// Bytes that each connection has for itself; what it holds beyond them counts in the shared memory.
  package var uncountedBytes = 4 << 10
  /// Connections of one server; another one replaces the one that has been idle longest.
  package var connections = 10_000
  /// Answers that may wait for one connection, in bytes. Its next request is not read while more than this
  /// waits, so that what is held stays below this and one answer more.
  package var outboundBytes = 1 << 20
  /// Steps of TLS handshakes in one turn of the loop, about 0.2 ms each, so that many new connections do not
  /// delay others; the rest continues in the next turn.
  package var handshakesPerTurn = 16
  /// Seconds for the TLS handshake.
  package var handshakeSeconds: UInt32 = 10
  /// Seconds from a request's first byte to the end of its header.
  package var headerSeconds: UInt32 = 10
  /// Seconds from the end of a request's header to the end of its body.
  package var bodySeconds: UInt32 = 30
  /// Seconds that a handler may take to answer; then the client gets 503.
  package var answerSeconds: UInt32 = 60
  /// Seconds a connection may stay without a request.
  package var idleSeconds: UInt32 = 75
  /// Seconds in which a peer may read none of the bytes queued for it.
  package var writeSeconds: UInt32 = 30
  /// Bytes per second that a peer must read: an answer has `writeSeconds` plus its size divided by this.
  package var writeBytesPerSecond = 4 << 10
  /// Seconds a closing connection waits for the peer to have read the last answer and to close.
  package var lingerSeconds: UInt32 = 2
  /// Bytes read and dropped in that time.
  package var lingerBytes = 256 << 10

  /// The values above.
  package init() {}

  /// Seconds that a connection may be in a phase; sending is bounded by how fast the peer reads.
  func seconds(in phase: HTTPConnection.Phase) -> UInt32 {
    switch phase {
    case .handshaking: handshakeSeconds
    case .idle: idleSeconds
    case .reading: headerSeconds
    case .answering: answerSeconds
    case .lingering: lingerSeconds
    case .closing: .max
    }
  }
}
