import BorealisBase

/// An event of a pool, for the log and the operator.
package enum HTTP2PoolEvent: Equatable, Sendable {
  /// A connection is ready; with its address.
  case connected(address: String)
  /// A connection could not be made, or was lost; with the reason and the milliseconds until the next
  /// attempt.
  case failed(reason: String, retryMilliseconds: UInt64)
  /// The server rejects the client's certificate; with its message. Other connections would fail too.
  case refusedCertificate(reason: String)
  /// The server accepts no more requests on a connection; with the code's name and its message, such as
  /// `{"reason":"Shutdown"}`.
  case goAway(code: String, debug: String)
  /// The server speaks HTTP/1.1 only; a `failed` follows.
  case lacksHTTP2
  /// The pool has closed.
  case closed
}

/// A pool at one moment.
package struct HTTP2PoolStatus: Equatable, Sendable {
  /// Connections that take requests.
  package var ready = 0
  /// Connections that are being made.
  package var connecting = 0
  /// Connections that only wait for responses.
  package var draining = 0
  /// Requests in flight.
  package var openStreams = 0
  /// Requests that may be in flight at once on the ready connections.
  package var streamLimit = 0
  /// Whether the pool is paused.
  package var isPaused = false
  /// Whether the pool was closed, and all results were delivered.
  package var isClosed = false
  /// Why the latest connection failed or ended; nil while none has.
  package var lastFailure: String?
  /// When that was.
  package var lastFailureAt: Timestamp?
  /// Since when there has been a connection without a break; nil if there is none.
  package var connectedSince: Timestamp?
  /// When there was a connection last.
  package var lastConnectedAt: Timestamp?
  /// Since when connections have failed without one that could be used; nil if the latest could.
  package var failingSince: Timestamp?
  /// Failures since the last answer.
  package var failuresInRow = 0
  /// Connections that became ready.
  package var connected: UInt64 = 0
  /// Connections that failed or were lost.
  package var failed: UInt64 = 0
  /// GOAWAYs received.
  package var goAways: UInt64 = 0
  /// Requests with an answer.
  package var answered: UInt64 = 0
  /// Requests that were certainly not processed.
  package var notSent: UInt64 = 0
  /// Requests with an unknown result.
  package var unknown: UInt64 = 0

  /// A pool that has done nothing yet.
  package init() {}
}
