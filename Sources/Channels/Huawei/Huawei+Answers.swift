import BorealisBase
import Core
import HTTP
import Model

extension Huawei {
  /// Reads Push Kit's answer.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    Self.outcome(PushKitAnswer(answer, from: "Huawei"))
  }

  private static func outcome(_ answer: PushKitAnswer) -> VendorOutcome {
    answer.code == "80300007" ? .dropToken("80300007") : answer.outcome
  }

  /// The tokens that Push Kit calls bad in a request that it took otherwise.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    let answer = PushKitAnswer(answer, from: "Huawei")
    // The app may not send, or a token is another app's.
    if answer.code == "80300002" { return VendorAnswer(.dropForeignToken("80300002")) }
    let outcome = Self.outcome(answer)
    guard outcome == .accepted, answer.code == "80100000", let details = answer.details else {
      return VendorAnswer(outcome)
    }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    func add(_ value: JSONValue?) {
      for token in value?.array ?? [] {
        if let token = token.string { exceptions[Array(token.utf8)] = .dropToken("80100000") }
      }
      // Some versions group them by reason.
      for member in value?.object?.members ?? [] { add(member.value) }
    }
    add(details["illegal_tokens"])
    return VendorAnswer(.accepted, exceptions: exceptions)
  }

  /// What Push Kit's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "80100000", "80300007":
      Phrase("Huawei does not know the token: usually the app was removed.", "华为返回 Token 无效，通常是应用已被卸载。")
    case "80300002":
      Phrase(
        "The token belongs to another app, or Huawei does not let the app send.",
        "Token 属于其他应用，或华为不允许该应用推送。")
    case "80100004": Phrase("The push had expired when Huawei got it.", "华为收到推送时已过期。")
    case "80100016": Phrase("Huawei refuses words in the text.", "华为拒绝了文本中的敏感词。")
    case "80300008": Phrase("The notification exceeds Huawei's limit of 4096 bytes.", "通知超出华为的 4096 字节限制。")
    case "80100001", "80100003", "80100013":
      Phrase("Huawei rejected a field of the notification.", "华为拒绝了通知中的某个字段。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let huawei = ChannelWords(reasons: [
    "80100000": ChannelReason(.channelTokenGone, .token),
    "80300007": ChannelReason(.channelTokenGone, .token),
    "80300002": ChannelReason(.channelTokenForeign, .token),
    "80300008": ChannelReason(.channelTooLarge, .size),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
