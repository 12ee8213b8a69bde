import BorealisBase
import Core
import HTTP
import Model

extension WebPush {
  /// Reads a push service's answer (RFC 8030 section 5, RFC 8292 section 4.2).
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    let body = (try? parseJSON(answer.body))?.object
    let reason = body?["reason"]?.string ?? ""
    let text = VendorText.line("the push service answered \(answer.status) \(reason)")
    switch answer.status {
    case 200..<300: return .accepted
    case 410: return .dropDeadToken("SubscriptionGone")
    // Proxies answer so as well.
    case 404: return .dropToken("SubscriptionGone")
    // A service that refuses the signature, not the key: Apple says so with 403.
    case 401: return .refreshAuthOnce(text)
    case 403 where reason.hasSuffix("JwtToken"): return .refreshAuthOnce(text)
    case 403: return .dropForeignToken("OtherKey")
    case 400 where reason == "VapidPkHashMismatch": return .dropForeignToken("OtherKey")
    case 400: return .suspectToken("BadRequest")
    case 413: return .rejectContent("MessageTooBig")
    // The limit is of one subscription.
    case 429:
      return .retryAfter(
        RetrySchedule(firstSeconds: 60), seconds: answer.retryAfter, rests: false, text)
    case 503:
      return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter, rests: true, text)
    case 408, 500...:
      return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter, rests: false, text)
    default: return .rejectContent("Status\(answer.status)")
    }
  }

  /// A service that takes other subscriptions refuses this one's key: Mozilla says so with 401.
  package func refusedAgain(_ reason: String) -> VendorOutcome { .dropForeignToken("KeyRefused") }

  /// What reasons mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "SubscriptionGone":
      Phrase(
        "The browser's push service no longer knows the subscription: the user withdrew it, or it expired.",
        "浏览器的推送服务已不认识该订阅：用户已取消，或订阅已过期。")
    case "OtherKey":
      Phrase("The subscription was made with another VAPID key.", "该订阅使用的是其他 VAPID 密钥。")
    case "KeyRefused":
      Phrase(
        "The push service refuses the proof: the subscription was made with another VAPID key, or the server's clock is wrong.",
        "推送服务拒绝签名：该订阅使用的是其他 VAPID 密钥，或服务器时钟有误。")
    case "EndpointNotAllowed":
      Phrase("The subscription names a server that is not a known push service.", "该订阅指向未知的推送服务。")
    case "InvalidSubscription": Phrase("The keys of the subscription cannot be used.", "该订阅的密钥无法使用。")
    case "BadRequest":
      Phrase("The push service rejected the subscription or the content.", "推送服务拒绝了该订阅或通知内容。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let webPush = ChannelWords(reasons: [
    "SubscriptionGone": ChannelReason(.channelTokenGone, .token),
    "OtherKey": ChannelReason(.channelTokenForeign, .token),
    "KeyRefused": ChannelReason(.channelTokenForeign, .token),
    "EndpointNotAllowed": ChannelReason(.channelTokenForeign, .token),
    "InvalidSubscription": ChannelReason(.channelTokenGone, .token),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
