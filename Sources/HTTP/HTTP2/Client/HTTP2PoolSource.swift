/// A response.
package struct HTTP2Response: Equatable, Sendable {
  /// The status code, from 200.
  package let status: Int
  /// All fields, with the status.
  package let headers: HTTP2Headers
  /// The beginning of the body: at most `HTTP2PoolConfiguration.keptBytes`.
  package let body: [UInt8]
}

/// The result of a request. Every request that was submitted gets exactly one.
package enum HTTP2Result: Equatable, Sendable {
  /// The server responded.
  case answered(HTTP2Response)
  /// The server has certainly not processed it: it was not sent completely, or its stream was above the last
  /// one of a GOAWAY. It may be sent again immediately: the pool backs off if connections fail.
  case notSent
  /// The server refused only its stream and has not processed it: it may be sent again, but not in a busy
  /// loop.
  case refused
  /// It was sent and there was no response: the connection was lost, the stream reset, or the time limit
  /// passed. It may have been processed.
  case unknown
}

/// A result with the number of the request it belongs to.
package struct HTTP2ResultEntry: Sendable {
  /// The `tag` with which it was submitted.
  package let tag: UInt64
  /// The outcome.
  package let result: HTTP2Result
}

/// Supplies a pool with requests and takes their results. The calls come on the thread of the pool's loop and
/// must not block; those of one pool never overlap.
package protocol HTTP2PoolSource: AnyObject {
  /// Whether requests may be taken now; asked in each turn.
  var maySubmit: Bool { get }

  /// Submits at most this many requests to a connection, in sending order, and returns how many. Fewer mean
  /// that there are no more now: the pool does not ask again before the next `wake()`. `areScarce` says that
  /// these are the last free streams: a source with several users should reserve them for those with few
  /// requests in flight.
  func submit(upTo count: Int, areScarce: Bool, to connection: HTTP2ClientConnection) -> Int

  /// Handles the results of one turn of the loop, in no particular order.
  func answered(_ results: [HTTP2ResultEntry])

  /// Whether a response says that its connection is of no more use.
  func isUseless(after response: HTTP2Response) -> Bool

  /// Whether the message of a GOAWAY says that another connection would get the same.
  func isRefusal(goAway message: String) -> Bool

  /// Reports an event for operators.
  func noticed(_ event: HTTP2PoolEvent)
}
