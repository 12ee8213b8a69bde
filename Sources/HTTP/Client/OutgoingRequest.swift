import BorealisBase

/// A request to another server.
package struct OutgoingRequest: Sendable {
  /// What it asks the server to do.
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  package let method: Method
  /// Where it goes.
  package let url: String
  /// Header fields besides those of every request, as `Name: value`.
  package var fields: [String]
  /// Empty for GET.
  package let body: [UInt8]
  /// The content type of the body; nil for GET.
  package let contentType: String?

  /// A POST request.
  package init(
    url: String, fields: [String] = [], body: [UInt8], contentType: String = "application/json"
  ) {
    method = .post
    self.url = url
    self.fields = fields
    self.body = body
    self.contentType = contentType
  }

  private init(getting url: String, fields: [String]) {
    method = .get
    self.url = url
    self.fields = fields
    (body, contentType) = ([], nil)
  }

  /// A GET request.
  package static func get(_ url: String, fields: [String] = []) -> OutgoingRequest {
    OutgoingRequest(getting: url, fields: fields)
  }
}

/// The outcome of a request.
package struct HTTPAnswer: Sendable, Equatable {
  /// The HTTP status; 0 without a response.
  package var status = 0
  /// Why there is no complete response; nil if there is one.
  package var error: String?
  /// The beginning of the response body: at most `HTTPTransport.Options.keptBytes`.
  package var body: [UInt8] = []
  /// Duration in milliseconds.
  package var milliseconds: Int64 = 0
  /// Whether the request, or a part of it, was sent: without a response the server may have processed it.
  package var wasSent = false
  /// Seconds after which the server wants to be asked again (`Retry-After`); nil if it does not say.
  package var retryAfter: Int64?
  /// The fields of `HTTPTransport.Options.keptFields` that the response has, by these names.
  package var fields: [String: String] = [:]
  /// The address that was not allowed; for the operator's log only, since it may reveal the internal network.
  package var refused: IPAddress?
  /// Whether the transport was closed before there was a response.
  package var isClosed = false

  /// An outcome without a response.
  package init(error: String? = nil) { self.error = error }

  /// A response.
  package init(status: Int, body: [UInt8] = [], retryAfter: Int64? = nil) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
    wasSent = true
  }

  /// Whether the server accepted the request.
  package var isSuccess: Bool { error == nil && (200..<300).contains(status) }

  /// One line for people about the error; nil for a success.
  package var problem: String? {
    if let error { return error }
    if isSuccess { return nil }
    return (300..<400).contains(status)
      ? "answered \(status): redirects are not followed" : "answered \(status)"
  }
}
