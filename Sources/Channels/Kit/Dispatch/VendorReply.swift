import BorealisBase
import Core
import HTTP
import Model

/// A maker's answer in JSON with a number that says what became of the request.
struct VendorReply {
  /// Nil if the answer is no JSON object.
  let body: JSONObject?
  /// The number; nil if there is none.
  let code: Int64?
  /// For people: who answered, the status, the number and the service's text.
  let text: String

  /// Reads an answer. Some services write the number as a text. `texts` are members with a text for people:
  /// the first one that is there is taken.
  init(_ answer: HTTPAnswer, of name: String, code member: String = "code", texts: [String]) {
    body = (try? parseJSON(answer.body))?.object
    code = Self.number(body?[member])
    let reason = texts.lazy.compactMap { [body] in body?[$0]?.string }.first ?? ""
    text = VendorText.line("\(name) answered \(answer.status) \(code.map { String($0) } ?? "") \(reason)")
  }

  /// A number that may be written as a text.
  static func number(_ value: JSONValue?) -> Int64? {
    value?.int64 ?? value?.string.flatMap { Int64($0) }
  }
}

extension VendorOutcome {
  /// Whether the same request would get the same answer again.
  var isFinal: Bool {
    switch self {
    case .accepted, .rejectContent, .dropDeadToken, .dropToken, .dropForeignToken, .suspectToken,
      .pauseAndAlertOperator:
      true
    case .retryAfter, .refreshAuthOnce, .stopUntilQuotaReset, .sendSinglyUntilQuotaReset, .prepareAgain:
      false
    }
  }

  /// What the status of an answer says whose body says nothing. One that is not in the service's own form may
  /// be a proxy's: it says nothing about the credential.
  static func ofStatus(
    _ answer: HTTPAnswer, _ text: String, isOwn: Bool, unauthorized: VendorOutcome
  ) -> VendorOutcome {
    switch answer.status {
    case 401 where isOwn: unauthorized
    case 403 where isOwn, 404 where isOwn: .pauseAndAlertOperator(text)
    case 200..<400, 401, 403, 404, 407: .foreign(answer, text)
    case 429, 503: .busy(answer, rests: true, text)
    case 408, 500...: .busy(answer, rests: false, text)
    default: .rejectContent("Status\(answer.status)")
    }
  }

  /// Somebody else answers than the service, such as a proxy, or the service in a form that nobody knows.
  static func foreign(_ answer: HTTPAnswer, _ text: String) -> VendorOutcome {
    .retryAfter(RetrySchedule(firstSeconds: 60), seconds: answer.retryAfter, rests: true, text)
  }

  /// The service refuses a proof of this moment as one of another time. Nobody would think of resuming a
  /// credential that a wrong clock has paused.
  static func wrongClock(_ text: String) -> VendorOutcome {
    .retryAfter(
      RetrySchedule(firstSeconds: 10), seconds: nil, rests: true, "\(text): is the server's clock right?")
  }

  /// The service has trouble, or too much to do: again after some seconds, or those that it asks for.
  static func busy(_ answer: HTTPAnswer, rests: Bool, _ text: String) -> VendorOutcome {
    .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter, rests: rests, text)
  }
}
