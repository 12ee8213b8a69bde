import BorealisBase
import Core
import HTTP
import Model

extension Xiaomi {
  /// Reads Mi Push's answer. The codes are those of dev.mi.com, documentation pId=1560, of 2024-10-18. A push
  /// with a code that is not listed waits, and the operator sees the code.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    let reply = VendorReply(answer, of: "Xiaomi", texts: ["reason", "description"])
    let text = reply.text
    switch reply.code {
    case 0 where answer.status == 200: return .accepted
    // Trouble at the service.
    case 1, -1, 10_001, 10_002, 10_003, 20_607, 26_003, 65_029: return .busy(answer, rests: false, text)
    // Too many requests.
    case 10_022, 10_023, 10_024, 10_027: return .busy(answer, rests: true, text)
    // Permission, secret or package.
    case 10_005, 10_014, 10_026, 10_031, 10_036, 21_301, 21_302, 21_305, 22_022:
      return .pauseAndAlertOperator(text)
    case let code? where (22_000...22_008).contains(code): return .pauseAndAlertOperator(text)
    case let code? where [20_301, 66_108].contains(code): return .dropToken(String(code))
    // The day's notifications are used up.
    case 10_034, 200_001: return .stopUntilQuotaReset(text)
    // Parameters.
    case let code? where [10_008, 10_012, 10_016, 10_017, 10_018].contains(code):
      return .rejectContent(String(code))
    default:
      return .ofStatus(answer, text, isOwn: reply.code != nil, unauthorized: .pauseAndAlertOperator(text))
    }
  }

  /// How many notifications the app may send today, and how many Mi Push has counted.
  package func quota(in answer: HTTPAnswer) -> (total: Int64, used: Int64)? {
    let data = (try? parseJSON(answer.body))?["data"]
    guard let total = VendorReply.number(data?["day_quota"]), total >= 0,
      let used = VendorReply.number(data?["day_acked"]), used >= 0
    else { return nil }
    return (total, used)
  }

  /// The tokens that Mi Push calls bad in a request that it took otherwise. With several tokens "no valid
  /// target" is told of all of them.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    // The app is invalid, or a token is another app's.
    let code = VendorReply(answer, of: "Xiaomi", texts: []).code
    if code == 22_000 { return VendorAnswer(.dropForeignToken("22000")) }
    let outcome = interpret(answer)
    guard outcome == .accepted,
      let bad = (try? parseJSON(answer.body))?["data"]?["bad_regids"]?.string, !bad.isEmpty
    else { return VendorAnswer(outcome) }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    for token in bad.split(separator: ",") { exceptions[Array(token.utf8)] = .dropToken("BadRegID") }
    return VendorAnswer(.accepted, exceptions: exceptions)
  }

  /// What Mi Push's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "BadRegID", "20301", "66108":
      Phrase("Xiaomi does not know the token: usually the app was removed.", "小米返回 RegId 无效，通常是应用已被卸载。")
    case "22000":
      Phrase("The token belongs to another app, or Xiaomi does not know the app.", "Token 属于其他应用，或小米未识别该应用。")
    case "10016", "10017", "10018":
      Phrase("Xiaomi rejected a field of the notification.", "小米拒绝了通知中的某个字段。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let xiaomi = ChannelWords(reasons: [
    "BadRegID": ChannelReason(.channelTokenGone, .token), "20301": ChannelReason(.channelTokenGone, .token),
    "66108": ChannelReason(.channelTokenGone, .token),
    "22000": ChannelReason(.channelTokenForeign, .token),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
