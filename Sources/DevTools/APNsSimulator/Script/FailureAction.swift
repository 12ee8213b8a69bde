/// What happens to a push instead of the ordinary answer.
enum FailureAction: Sendable, Equatable {
  /// How the body of an answer leaves.
  enum BodyForm: String, Sendable, CaseIterable {
    case whole
    /// In DATA frames of 7 bytes.
    case split
    /// Not at all.
    case absent
  }

  /// Which streams a GOAWAY says will still be served.
  enum LastStream: String, Sendable, CaseIterable {
    /// Those before the push; it is not processed itself.
    case before
    /// The push, too.
    case this
    /// All: the GOAWAY with the true number follows after a second.
    case announce
  }

  /// The ordinary answer, late.
  case delay
  /// Another answer.
  case answer(Verdict, body: BodyForm, retryAfter: Int?)
  /// RST_STREAM, after the push was accepted or without that.
  case reset(code: UInt32, accepted: Bool)
  /// No answer ever.
  case silence(accepted: Bool)
  /// GOAWAY with a reason as Apple gives it, in debug data. The connection ends when all its streams have.
  case goAway(last: LastStream, code: UInt32, reason: String?)
  /// The end of the TCP connection, without GOAWAY.
  case cut(accepted: Bool)
  /// The connection stays open, but nothing is read or sent.
  case freeze(accepted: Bool)
  /// SETTINGS with another limit of streams; the push is answered.
  case streams(UInt32)

  /// The word of the control API.
  var name: String {
    switch self {
    case .delay: "delay"
    case .answer: "answer"
    case .reset: "reset"
    case .silence: "silence"
    case .goAway: "goaway"
    case .cut: "cut"
    case .freeze: "freeze"
    case .streams: "streams"
    }
  }

  /// Whether the push counts as accepted by Apple.
  var accepts: Bool {
    switch self {
    case .delay, .streams: true
    case .answer(let verdict, _, _): verdict.isAccepted
    case .reset(_, let accepted), .silence(let accepted), .cut(let accepted), .freeze(let accepted): accepted
    case .goAway(let last, _, _): last != .before
    }
  }
}
