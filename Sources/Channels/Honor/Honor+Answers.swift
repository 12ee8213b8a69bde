import BorealisBase
import Core
import HTTP
import Model

extension Honor {
  /// Reads Honor's answer. Its codes are those of HTTP in some reports and like Huawei's in others. Only a
  /// code that is known to mean success counts as such: a push with an unknown code waits, and the operator
  /// sees the code.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    let reply = VendorReply(answer, of: "Honor", texts: ["message"])
    let text = reply.text
    let sent = reply.body?["data"]?["sendResult"]?.bool
    switch reply.code {
    case 200, 80_000_000, 80_100_000: return sent == false ? Self.notSent(text) : .accepted
    // One client takes 0 for success.
    case 0 where sent == true: return .accepted
    case 80_200_001, 80_200_003: return .refreshAuthOnce(text)
    case 80_300_002: return .pauseAndAlertOperator(text)
    case 80_300_007: return .dropToken("ExpiredToken")
    case let code? where (80_100_001..<80_200_000).contains(code) || (80_300_000..<80_400_000).contains(code):
      return .rejectContent(String(code))
    default: break
    }
    // A code of HTTP in the body says more than the status of the answer.
    var answer = answer
    if answer.status == 200, let code = reply.code, (201...599).contains(code) { answer.status = Int(code) }
    return .ofStatus(answer, text, isOwn: reply.code != nil, unauthorized: .refreshAuthOnce(text))
  }

  private static func notSent(_ text: String) -> VendorOutcome {
    .retryAfter(RetrySchedule(firstSeconds: 60), seconds: nil, rests: false, text)
  }

  /// The tokens that Honor calls expired, and those that failed, in a request that it took otherwise.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    let reply = VendorReply(answer, of: "Honor", texts: ["message"])
    // As Huawei's.
    if reply.code == 80_300_002 { return VendorAnswer(.dropForeignToken("80300002")) }
    let outcome = interpret(answer)
    guard outcome == .accepted || outcome == Self.notSent(reply.text), let data = reply.body?["data"]?.object
    else { return VendorAnswer(outcome) }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    for token in (data["failTokens"]?.array ?? []).compactMap(\.string) {
      exceptions[Array(token.utf8)] = Self.notSent("Honor could not send to the token")
    }
    for token in (data["expireTokens"]?.array ?? []).compactMap(\.string) {
      exceptions[Array(token.utf8)] = .dropToken("ExpiredToken")
    }
    return VendorAnswer(outcome, exceptions: exceptions)
  }

  /// What Honor's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "ExpiredToken":
      Phrase("Honor no longer knows the token: usually the app was removed.", "荣耀返回 Token 无效，通常是应用已被卸载。")
    case "80300002":
      Phrase(
        "The token belongs to another app, or Honor does not let the app send.", "Token 属于其他应用，或荣耀不允许该应用推送。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let honor = ChannelWords(reasons: [
    "ExpiredToken": ChannelReason(.channelTokenGone, .token),
    "80300002": ChannelReason(.channelTokenForeign, .token),
    "80300008": ChannelReason(.channelTooLarge, .size),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
