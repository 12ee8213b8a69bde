import PushBase

/// One request to an app server.
struct CallbackPost: Sendable {
  let url: String
  /// Header fields besides those of every request, as `Name: value`.
  var fields: [String]
  let body: [UInt8]
  /// The content type of the body.
  var contentType = "application/json"
}

/// The outcome of a request.
public struct CallbackAnswer: Sendable, Equatable {
  /// The HTTP status; 0 without a response.
  public var status = 0
  /// Why there is no complete response; nil if there is one.
  public var error: String?
  /// The beginning of the response body.
  public var body: [UInt8] = []
  /// Duration in milliseconds.
  public var milliseconds: Int64 = 0
  /// The address that the guard refused; for the operator's log only, since it may reveal the internal network.
  var refused: IPAddress?

  /// Whether the app server accepted the events.
  public var isSuccess: Bool { error == nil && (200..<300).contains(status) }

  /// One line for people about the error; nil for a success.
  public var problem: String? {
    if let error { return error }
    if isSuccess { return nil }
    return (300..<400).contains(status)
      ? "answered \(status): redirects are not followed" : "answered \(status)"
  }
}
