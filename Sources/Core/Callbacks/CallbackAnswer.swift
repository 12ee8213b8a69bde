import HTTP

/// What an app server said to a test event.
package struct CallbackAnswer: Sendable, Equatable {
  /// The HTTP status; 0 without a response.
  package let status: Int
  /// One line for people about the error; nil if the app server accepted the event.
  package let problem: String?
  /// The beginning of the response body.
  package let body: [UInt8]
  /// Duration in milliseconds.
  package let milliseconds: Int64

  /// Whether the app server accepted the event.
  package var isSuccess: Bool { problem == nil }

  init(_ answer: HTTPAnswer) {
    status = answer.status
    problem = answer.problem
    body = answer.body
    milliseconds = answer.milliseconds
  }
}
