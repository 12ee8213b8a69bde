import PushBase

/// A POST request to another server.
public struct HTTPPost: Sendable {
  /// Where it goes.
  public let url: String
  /// Header fields besides those of every request, as `Name: value`.
  public var fields: [String]
  /// The body.
  public let body: [UInt8]
  /// The content type of the body.
  public let contentType: String

  /// All fields.
  public init(
    url: String, fields: [String] = [], body: [UInt8], contentType: String = "application/json"
  ) {
    self.url = url
    self.fields = fields
    self.body = body
    self.contentType = contentType
  }
}

/// The outcome of a request.
public struct HTTPAnswer: Sendable, Equatable {
  /// The HTTP status; 0 without a response.
  public var status = 0
  /// Why there is no complete response; nil if there is one.
  public var error: String?
  /// The beginning of the response body: at most `HTTPTransport.Options.keptBytes`.
  public var body: [UInt8] = []
  /// Duration in milliseconds.
  public var milliseconds: Int64 = 0
  /// Whether the request, or a part of it, was sent: without a response the server may have processed it.
  public var wasSent = false
  /// Seconds after which the server wants to be asked again (`Retry-After`); nil if it does not say.
  public var retryAfter: Int64?
  /// The address that was not allowed; for the operator's log only, since it may reveal the internal network.
  public var refused: IPAddress?
  /// Whether the transport was closed before there was a response.
  public var isClosed = false

  /// An outcome without a response.
  public init(error: String? = nil) { self.error = error }

  /// A response.
  public init(status: Int, body: [UInt8] = [], retryAfter: Int64? = nil) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
    wasSent = true
  }

  /// Whether the server accepted the request.
  public var isSuccess: Bool { error == nil && (200..<300).contains(status) }

  /// One line for people about the error; nil for a success.
  public var problem: String? {
    if let error { return error }
    if isSuccess { return nil }
    return (300..<400).contains(status)
      ? "answered \(status): redirects are not followed" : "answered \(status)"
  }
}
