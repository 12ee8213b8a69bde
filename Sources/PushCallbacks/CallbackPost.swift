import PushBase

/// One request to an app server.
struct CallbackPost: Sendable {
  let url: String
  /// Header fields besides those of every request, as `Name: value`.
  let fields: [String]
  let body: [UInt8]
}

/// What came of a request.
public struct CallbackAnswer: Sendable, Equatable {
  /// The HTTP status; 0 if there was no answer.
  public var status = 0
  /// Why there is no whole answer; nil if there is one.
  public var error: String?
  /// The beginning of the answer's body.
  public var body: [UInt8] = []
  /// From the begin to the end, in milliseconds.
  public var milliseconds: Int64 = 0
  /// The address that the guard refused; for the operator's log only, since it may tell of the inner network.
  var refused: IPAddress?

  /// Whether the app server has taken the events.
  public var isSuccess: Bool { error == nil && (200..<300).contains(status) }

  /// One line for people on what went wrong; nil for a success.
  public var problem: String? {
    if let error { return error }
    if isSuccess { return nil }
    return (300..<400).contains(status)
      ? "answered \(status): redirects are not followed" : "answered \(status)"
  }
}
