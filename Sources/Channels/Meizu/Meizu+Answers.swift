import BorealisBase
import Core
import HTTP
import Model

extension Meizu {
  /// Reads Meizu's answer.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    let reply = VendorReply(answer, of: "Meizu", texts: ["message"])
    let text = reply.text
    switch reply.code {
    case 200 where answer.status == 200: return .accepted
    case 500, 1001, 1003: return .busy(answer, rests: false, text)
    // Requests come too fast; of a device the same number means something else.
    case 110_010: return .busy(answer, rests: true, text)
    // The signature, the app ID and key, the list of apps that may not send.
    case 1006, 110_000, 110_001, 110_009, 110_031, 110_033: return .pauseAndAlertOperator(text)
    case 110_019, 110_051: return .stopUntilQuotaReset(text)
    // Parameters, limits of a task, passthrough.
    case let code? where [1005, 110_004, 110_032, 110_053].contains(code): return .rejectContent(String(code))
    // A push with a code that is not listed waits, and the operator sees the code.
    default:
      return .ofStatus(answer, text, isOwn: reply.code != nil, unauthorized: .pauseAndAlertOperator(text))
    }
  }

  /// What Meizu says of the push IDs that it did not take: lists by codes.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    let outcome = interpret(answer)
    guard outcome == .accepted else { return VendorAnswer(outcome) }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    for list in (try? parseJSON(answer.body))?["value"]?.object?.members ?? [] {
      let said: VendorOutcome =
        switch list.key {
        case "110002", "110003": .dropToken(list.key)
        case "519": .busy(answer, rests: false, "Meizu answered 519")
        case "110010": .notificationsOff
        // 110011: the device has had its marketing of the day. 520: five in a minute are enough.
        default: .rejectContent("ID" + VendorText.line(String(list.key.prefix(16))))
        }
      for token in list.value.array ?? [] {
        if let token = token.string { exceptions[Array(token.utf8)] = said }
      }
    }
    return VendorAnswer(.accepted, exceptions: exceptions)
  }

  /// What Meizu's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "110002", "110003":
      Phrase(
        "Meizu does not know the token, or the app has unsubscribed: usually the app was removed.",
        "魅族返回 PushId 无效或已取消订阅，通常是应用已被卸载。")
    case "ID110011":
      Phrase("The device has had all marketing that Meizu allows in a day.", "该设备当日可接收的公信消息已达魅族的上限。")
    case "ID520":
      Phrase("Meizu shows a device no more messages of an app in a minute.", "同一设备一分钟内的消息过多，已被魅族折叠。")
    case "1005", "110004": Phrase("Meizu rejected a field of the notification.", "魅族拒绝了通知中的某个字段。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let meizu = ChannelWords(reasons: [
    "110002": ChannelReason(.channelTokenGone, .token), "110003": ChannelReason(.channelTokenGone, .token),
    "ID110011": ChannelReason(.channelRefused, .device), "ID520": ChannelReason(.channelRefused, .device),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
