/// A complete request.
public struct HTTPRequest: Sendable, Equatable {
  /// The method, a token as it was sent: `GET`.
  public var method: String
  /// Path and query, or `*`, percent-encoded as sent, without the scheme and authority of an absolute form.
  public var target: String
  /// 0 or 1, of HTTP/1.x.
  public var minorVersion: Int
  /// The fields. Those of a trailer are dropped.
  public var headers: HTTPHeaders
  /// The content, with any chunked coding removed.
  public var body: [UInt8]
  /// Whether the client allows another request on the connection.
  public var keepAlive: Bool

  /// A request from its parts, for tests and for callers without a connection.
  public init(
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
