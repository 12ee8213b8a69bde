/// A complete request.
package struct HTTPRequest: Sendable, Equatable {
  /// The method, a token as it was sent: `GET`.
  package var method: String
  /// Path and query, or `*`, percent-encoded as sent, without the scheme and authority of an absolute form.
  package var target: String
  /// 0 or 1, of HTTP/1.x.
  package var minorVersion: Int
  /// The fields. Those of a trailer are dropped.
  package var headers: HTTPHeaders
  /// The content, with any chunked coding removed.
  package var body: [UInt8]
  /// Whether the client allows another request on the connection.
  package var keepAlive: Bool

  /// A request from its parts, for tests and for callers without a connection.
  package init(
    method: String, target: String, minorVersion: Int = 1, headers: HTTPHeaders = [:], body: [UInt8] = [],
    keepAlive: Bool = true
  ) {
    self.method = method
    self.target = target
    self.minorVersion = minorVersion
    self.headers = headers
    self.body = body
    self.keepAlive = keepAlive
  }
}
