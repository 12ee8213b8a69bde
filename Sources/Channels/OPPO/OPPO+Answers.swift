import BorealisBase
import Core
import HTTP
import Model

extension OPPO {
  /// Reads the token of access, which is good for a day from when OPPO made it.
  func readToken(_ answer: HTTPAnswer, at now: Timestamp) -> AccessAnswer {
    let reply = VendorReply(answer, of: "OPPO", texts: ["message"])
    switch Self.outcome(reply.code, answer, reply.text) {
    case .accepted:
      let data = reply.body?["data"]?.object
      guard let token = data?["auth_token"]?.string, (1...4096).contains(token.utf8.count),
        token.isVisibleASCII
      else { return .later("OPPO's answer has no token of access", seconds: nil) }
      let made = VendorReply.number(data?["create_time"]).map { $0 / 1000 } ?? now.seconds
      let left = made.addingReportingOverflow(Self.accessLife - now.seconds)
      // A clock that goes wrong makes it neither useless nor everlasting.
      return .token(token, seconds: left.overflow ? 1 : min(max(1, left.partialValue), Self.accessLife))
    case .retryAfter(_, let seconds, _, let text): return .later(text, seconds: seconds)
    default: return .refused("OPPO refused the credential: \(reply.text)")
    }
  }

  /// Reads OPPO's answer.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    let reply = VendorReply(answer, of: "OPPO", texts: ["message"])
    return Self.outcome(reply.code, answer, reply.text)
  }

  /// What OPPO says of each token. Only the registration IDs that it names are bad.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    let reply = VendorReply(answer, of: "OPPO", texts: ["message"])
    var outcome = Self.outcome(reply.code, answer, reply.text)
    if case .dropToken(let reason) = outcome, tokens.count > 1 { outcome = .rejectContent(reason) }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    for item in reply.body?["data"]?.array ?? [] {
      guard let token = item["registrationId"]?.string, let code = VendorReply.number(item["errorCode"]),
        code != 0
      else { continue }
      let text = VendorText.line("OPPO answered \(code) \(item["errorMessage"]?.string ?? "")")
      exceptions[Array(token.utf8)] = Self.outcome(code, answer, text)
    }
    return VendorAnswer(outcome, exceptions: exceptions)
  }

  /// What a code means, of a request or of one message in it.
  private static func outcome(_ code: Int64?, _ answer: HTTPAnswer, _ text: String) -> VendorOutcome {
    switch code {
    case 0 where answer.status == 200: .accepted
    case -1, 55: .busy(answer, rests: false, text)
    case -2, 13: .busy(answer, rests: true, text)
    case 11, 29: .refreshAuthOnce(text)
    // The timestamp is too far from OPPO's.
    case 19: .wrongClock(text)
    // App key, signature, timestamp; the address of the server, the app's permission.
    case 14, 15, 16, 17, 18, 26, 27, 28, 30: .pauseAndAlertOperator(text)
    // OPPO has the message already.
    case 32: .accepted
    case 33: .stopUntilQuotaReset(text)
    case 10_000: .dropToken("10000")
    case let code? where (500...599).contains(code): .busy(answer, rests: false, text)
    // The user may turn them on again.
    case 10_001: .notificationsOff
    // Method, version, encoding, parameters, templates, aliases.
    case let code? where [12, 31, 40, 41, 54, 10_002, 10_003].contains(code) || (20...25).contains(code):
      .rejectContent(String(code))
    // A push with a code that is not listed waits, and the operator sees the code.
    default: .ofStatus(answer, text, isOwn: code != nil, unauthorized: .refreshAuthOnce(text))
    }
  }

  /// What OPPO's codes mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "10000":
      Phrase("OPPO does not know the token: usually the app was removed.", "OPPO 返回 RegId 无效，通常是应用已被卸载。")
    case "20", "21", "22", "23", "24", "25", "40", "41":
      Phrase("OPPO rejected a field of the notification.", "OPPO 拒绝了通知中的某个字段。")
    case "54":
      Phrase(
        "OPPO wants a message template for this category: private_msg_template_id.",
        "该消息分类需要携带私信模板：private_msg_template_id。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let oppo = ChannelWords(reasons: [
    "10000": ChannelReason(.channelTokenGone, .token),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
