import BorealisBase

/// Sends requests to other servers on threads of its own, so that a slow server delays nothing else. Safe to
/// use from any thread.
package final class HTTPTransport: Sendable {
  /// Called once for each request, on the thread of the transport.
  package typealias Completion = @Sendable (HTTPAnswer) -> Void

  /// What requests may do, and for how long.
  package struct Options: Sendable {
    /// Says which addresses may be connected to; nil for all.
    package var allows: (@Sendable (IPAddress) -> Bool)?
    /// The proxy that requests go through; nil for none. With `allows` hosts are looked up here, and the
    /// proxy is asked for an address.
    package var proxy: OutgoingProxy?
    /// A PEM file of certificates to trust in addition to the system's.
    package var authorities: String?
    /// Whether addresses may begin with `http:`.
    package var allowsPlainHTTP = false
    /// Whether HTTP/2 is used over TLS where the server has it: many requests share few connections. For few
    /// servers that get many requests each.
    package var usesHTTP2 = true
    /// The connect timeout in milliseconds.
    package var connectMilliseconds = 5000
    /// The total timeout in milliseconds; with HTTP/2 that of the answer, and as long for a request to be
    /// sent at all.
    package var totalMilliseconds = 15_000
    /// Fields of a response that are kept, the first of each name; not of responses over HTTP/2.
    package var keptFields: [String] = []
    /// Bytes of a response's body that are kept.
    package var keptBytes = 2048
    /// Bytes of a response's body after which the rest is not read.
    package var mostBytes = 65_536
    /// The most requests without an outcome; more are not sent.
    package var mostRequests = 16_384
    /// The most connections to one server; 0 for no limit.
    package var connectionsPerHost = 0

    /// The defaults.
    package init() {}
  }

  private let curl: CurlTransport
  /// Sends what goes over TLS, and has all answers come on one thread; nil without HTTP/2.
  private let streams: StreamTransport?

  /// Starts the threads, whose names have at most 12 bytes; nil if the system cannot start one.
  package init?(_ options: Options, thread: String) {
    guard let curl = CurlTransport(options, thread: options.usesHTTP2 ? thread + "-h1" : thread) else {
      return nil
    }
    self.curl = curl
    streams = options.usesHTTP2 ? StreamTransport(options, beside: curl, thread: thread) : nil
  }

  /// Sends a request. `completion` is called at once if the request is not sent because the transport is
  /// closed or has too many.
  package func send(_ request: OutgoingRequest, completion: @escaping Completion) {
    if let streams {
      streams.send(request, completion: completion)
    } else {
      curl.send(request, completion: completion)
    }
  }

  /// Runs short work, such as making requests, on the thread that sends; not once it is closed.
  package func run(_ work: @escaping @Sendable () -> Void) {
    if let streams { streams.run(work) } else { curl.run(work) }
  }

  /// Ends the threads; requests in flight complete as closed.
  package func close() {
    streams?.close()
    curl.close()
  }
}

extension HTTPAnswer {
  static var closed: HTTPAnswer {
    var answer = HTTPAnswer(error: "closed")
    answer.isClosed = true
    return answer
  }

  static var tooMany: HTTPAnswer { HTTPAnswer(error: "too many requests are under way") }
}
