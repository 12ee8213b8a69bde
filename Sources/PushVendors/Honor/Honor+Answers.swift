import PushBase
import PushDomain
import PushHTTPClient
import PushJSON
import PushRouter

extension Honor {
  /// Reads Honor's answer. Its codes are those of HTTP in some reports and like Huawei's in others.
  public func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    let body = (try? parseJSON(answer.body))?.object
    let code = body?["code"]?.int64 ?? body?["code"]?.string.flatMap { Int64($0) } ?? 0
    let text = VendorText.line("Honor answered \(answer.status) \(code) \(body?["message"]?.string ?? "")")
    switch code {
    case 80_000_000, 80_100_000: return .accepted
    case 80_200_001, 80_200_003: return .refreshAuthOnce(text)
    case 80_300_002: return .pauseAndTellOperator(text)
    case 80_300_007: return .dropToken("ExpiredToken")
    case 80_100_001..<80_200_000, 80_300_000..<80_400_000: return .rejectContent(String(code))
    default: break
    }
    // A code of HTTP in the body says more than the status of the answer.
    let status = (200...599).contains(code) && answer.status == 200 ? Int(code) : answer.status
    switch status {
    case 200:
      guard body != nil else {
        return .retryAfter(RetrySchedule(firstSeconds: 60), seconds: nil, rests: true, text)
      }
      return .accepted
    case 401: return .refreshAuthOnce(text)
    case 403, 404: return .pauseAndTellOperator(text)
    case 429, 503:
      return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter, rests: true, text)
    case 408, 500...:
      return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter, rests: false, text)
    case 201..<400: return .retryAfter(RetrySchedule(firstSeconds: 60), seconds: nil, rests: true, text)
    default: return .rejectContent("Status\(status)")
    }
  }

  /// The tokens that Honor calls expired, and those that failed, in a request that it took otherwise.
  public func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    // As Huawei's.
    if VendorReply(answer, of: "Honor", texts: []).code == 80_300_002 {
      return VendorAnswer(.dropForeignToken("80300002"))
    }
    let outcome = interpret(answer)
    guard outcome == .accepted, let data = (try? parseJSON(answer.body))?["data"]?.object else {
      return VendorAnswer(outcome)
    }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    for token in (data["failTokens"]?.array ?? []).compactMap(\.string) {
      exceptions[Array(token.utf8)] = .retryAfter(
        RetrySchedule(firstSeconds: 60), seconds: nil, rests: false, "Honor could not send to the token")
    }
    for token in (data["expireTokens"]?.array ?? []).compactMap(\.string) {
      exceptions[Array(token.utf8)] = .dropToken("ExpiredToken")
    }
    return VendorAnswer(.accepted, exceptions: exceptions)
  }

  /// What Honor's words mean.
  public func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "ExpiredToken":
      Phrase("Honor no longer knows the token: usually the app was removed.", "荣耀已不认识该令牌，通常是应用已被卸载。")
    case "80300002":
      Phrase("The token belongs to another app, or Honor does not let the app send.", "令牌属于其他应用，或荣耀不允许该应用推送。")
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
