import BorealisBase
import Core
import HTTP
import Model

extension Harmony {
  /// Reads Push Kit's answer.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome { Self.outcome(PushKitAnswer(answer)) }

  /// What Push Kit says of single tokens, by reason.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    let answer = PushKitAnswer(answer)
    let outcome = Self.outcome(answer)
    switch answer.code {
    case "80100000", "80300007":
      var exceptions: [[UInt8]: VendorOutcome] = [:]
      let details = answer.details
      for group in (details?["illegalTokens"] ?? details?["illegal_tokens"])?.object?.members ?? [] {
        for token in (group.value.array ?? []).compactMap(\.string) {
          exceptions[Array(token.utf8)] = Self.outcome(ofReason: String(group.key.prefix(64)))
        }
      }
      return VendorAnswer(outcome, exceptions: exceptions)
    // The first: the app may not send, or a token is another app's.
    case "80300002": return VendorAnswer(.dropForeignToken("80300002"))
    case "80300028": return VendorAnswer(.dropForeignToken("80300028"))
    default: return VendorAnswer(outcome)
    }
  }

  /// Push Kit calls a token expired that was signed a moment ago.
  package func refusedAgain(_ reason: String) -> VendorOutcome {
    reason.contains(" 80200003") ? .wrongClock(reason) : .pauseAndAlertOperator(reason)
  }

  private static func outcome(_ answer: PushKitAnswer) -> VendorOutcome {
    switch answer.code {
    case "80200005": .refreshAuthOnce(answer.text)
    case "80300036": .pauseAndAlertOperator(answer.text)
    // What is wrong with each token stands beside it: alone it says nothing about them.
    case "80300007": .rejectContent("80300007")
    default: answer.outcome
    }
  }

  private static func outcome(ofReason reason: String) -> VendorOutcome {
    switch reason {
    case "tokenFormatError", "tokenPlatformNotSupport": .dropToken(reason)
    case "noRight": .dropForeignToken(reason)
    // The app lacks a right for this kind of push; others go on.
    default: .rejectContent(VendorText.line(reason))
    }
  }

  /// What Push Kit's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "tokenFormatError": Phrase("The token is none of Push Kit's.", "该 Token 不是 Push Kit 的 Token。")
    case "80300002":
      Phrase(
        "The token belongs to another app, or Huawei does not let the app send.",
        "Token 属于其他应用，或华为不允许该应用推送。")
    case "noRight", "80300028":
      Phrase("The token belongs to another project or app.", "Token 属于其他项目或应用。")
    case "tokenPlatformNotSupport":
      Phrase("The token is not of a device with HarmonyOS 5 or later.", "Token 不属于鸿蒙 5 及以上的设备。")
    case "noPushTypeRight":
      Phrase("The app has no right to this kind of push.", "应用未开通该推送类型的权益。")
    case "noRightToSendThisLiveNotificationEvent":
      Phrase("The app has no right to this kind of live view.", "应用未开通该类实况窗的权益。")
    case "80300029", "80300030": Phrase("The limit of test messages is reached.", "测试消息已达上限。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let harmony = ChannelWords(reasons: [
    "tokenFormatError": ChannelReason(.channelTokenGone, .token),
    "tokenPlatformNotSupport": ChannelReason(.channelTokenGone, .token),
    "noRight": ChannelReason(.channelTokenForeign, .token),
    "80300002": ChannelReason(.channelTokenForeign, .token),
    "80300028": ChannelReason(.channelTokenForeign, .token),
    // Without a word about the token.
    "80300007": ChannelReason(.channelRefused, .device),
    "80300008": ChannelReason(.channelTooLarge, .size),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
