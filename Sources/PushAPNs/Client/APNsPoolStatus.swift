import PushBase

/// What a pool tells its source for the log and the operator.
public enum APNsPoolEvent: Equatable, Sendable {
  /// A connection is ready; with the address it goes to.
  case connected(address: String)
  /// A connection could not be made, or was lost; with the reason and the milliseconds until the next attempt.
  case failed(reason: String, retryMilliseconds: UInt64)
  /// The server refuses the client's certificate; with what it said. No other connection would fare better.
  case refusedCertificate(reason: String)
  /// The server takes no more requests on a connection; with the code's name and what it said, such as
  /// `{"reason":"Shutdown"}`.
  case goAway(code: String, debug: String)
  /// The pool has closed for good.
  case closed
}

/// A pool at one moment.
public struct APNsPoolStatus: Equatable, Sendable {
  /// Connections that take requests.
  public var ready = 0
  /// Connections that are being made.
  public var connecting = 0
  /// Connections that only wait for answers.
  public var draining = 0
  /// Requests under way.
  public var openStreams = 0
  /// Requests that may be under way at once on the connections that are ready.
  public var streamLimit = 0
  /// Whether nothing is taken from the source.
  public var isPaused = false
  /// Whether the pool was closed, and all results were handed over.
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
  /// Requests of which nobody knows.
  public var unknown: UInt64 = 0

  /// A pool that has done nothing yet.
  public init() {}
}
