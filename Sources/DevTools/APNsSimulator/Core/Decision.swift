/// What the transport does about a request.
struct Decision: Sendable, Equatable {
  /// What happens to the stream.
  enum Stream: Sendable, Equatable {
    case answer(Answer)
    case reset(code: UInt32)
    case nothing
  }

  /// An answer with all its fields.
  struct Answer: Sendable, Equatable {
    let verdict: Verdict
    let id: HeaderValue
    /// For `apns-unique-id`, in the sandbox only.
    let uniqueID: HeaderValue?
    var body = FailureAction.BodyForm.whole
    /// Seconds.
    var retryAfter: Int?
  }

  /// What happens to the connection.
  enum Connection: Sendable, Equatable {
    case goAway(last: GoAwayLast, code: UInt32, reason: String?)
    case cut
    case freeze
    case streams(UInt32)
  }

  /// The number in a GOAWAY.
  enum GoAwayLast: Sendable, Equatable {
    case stream(Int32)
    /// 2^31-1 now, the true one later.
    case announced
  }

  var stream: Stream
  /// Milliseconds to wait before anything is done.
  var delay = 0
  var connection: [Connection] = []

  /// Whether the request gets an answer.
  var isAnswer: Bool { if case .answer = stream { true } else { false } }
}
