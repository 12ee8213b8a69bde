import PushBase

/// An event of a pool, for the log and the operator.
public enum HTTP2PoolEvent: Equatable, Sendable {
  /// A connection is ready; with its address.
  case connected(address: String)
  /// A connection could not be made, or was lost; with the reason and the milliseconds until the next attempt.
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
public struct HTTP2PoolStatus: Equatable, Sendable {
  /// Connections that take requests.
  public var ready = 0
  /// Connections that are being made.
  public var connecting = 0
  /// Connections that only wait for responses.
  public var draining = 0
  /// Requests in flight.
  public var openStreams = 0
  /// Requests that may be in flight at once on the ready connections.
  public var streamLimit = 0
  /// Whether the pool is paused.
  public var isPaused = false
  /// Whether the pool was closed, and all results were delivered.
  public var isClosed = false
  /// Why the latest connection failed or ended; nil while none has.
  public var lastFailure: String?
  /// When that was.
  public var lastFailureAt: Timestamp?
  /// Since when there has been a connection without a break; nil if there is none.
  public var connectedSince: Timestamp?
  /// When there was a connection last.
  public var lastConnectedAt: Timestamp?
  /// Since when connections have failed without one that could be used; nil if the latest could.
  public var failingSince: Timestamp?
  /// Failures since the last answer.
  public var failuresInRow = 0
  /// Connections that became ready.
  public var connected: UInt64 = 0
  /// Connections that failed or were lost.
  public var failed: UInt64 = 0
  /// GOAWAYs received.
  public var goAways: UInt64 = 0
  /// Requests with an answer.
  public var answered: UInt64 = 0
  /// Requests that were certainly not processed.
  public var notSent: UInt64 = 0
  /// Requests with an unknown result.
  public var unknown: UInt64 = 0

  /// A pool that has done nothing yet.
  public init() {}
}
