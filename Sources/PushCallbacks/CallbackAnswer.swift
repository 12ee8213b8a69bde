import PushHTTPClient

/// What an app server said to a test event.
public struct CallbackAnswer: Sendable, Equatable {
  /// The HTTP status; 0 without a response.
  public let status: Int
  /// One line for people about the error; nil if the app server accepted the event.
  public let problem: String?
  /// The beginning of the response body.
  public let body: [UInt8]
  /// Duration in milliseconds.
  public let milliseconds: Int64

  /// Whether the app server accepted the event.
  public var isSuccess: Bool { problem == nil }

  init(_ answer: HTTPAnswer) {
    status = answer.status
    problem = answer.problem
    body = answer.body
    milliseconds = answer.milliseconds
  }
}
