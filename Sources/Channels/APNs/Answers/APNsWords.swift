import Model

/// What the answers of APNs mean for those who ask why a push did not arrive.
extension ChannelWords {
  static let apns = ChannelWords(
    point: .apple, waiting: .appleWaiting, unreachable: .appleUnreachable, notInTime: .appleNotInTime,
    refused: .appleRefused, tokenEnds: [.wrongService: .wrongEnvironment, .otherApp: .tokenOfOtherApp],
    reasons: Dictionary(
      uniqueKeysWithValues: APNsReason.allCases.compactMap { reason in
        reason.meaning.map { (reason.rawValue, $0) }
      }
    ).merging([
      // A status without a reason.
      "Status410": ChannelReason(.tokenGone, .token),
      ChannelEnd.noAnswer: ChannelReason(.appleNoAnswer, .other),
    ]) { $1 })
}

extension APNsReason {
  fileprivate var meaning: ChannelReason? {
    switch self {
    case .badDeviceToken: ChannelReason(.wrongEnvironment, .token, namesService: true)
    case .deviceTokenNotForTopic: ChannelReason(.tokenOfOtherApp, .token)
    case .unregistered, .expiredToken: ChannelReason(.tokenGone, .token)
    case .topicDisallowed, .topicMismatch, .badTopic, .missingTopic: ChannelReason(.topicRefused, .credential)
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
      .invalidProviderToken, .missingProviderToken, .unrelatedKeyIdInToken, .badEnvironmentKeyIdInToken,
      .badEnvironmentKeyInToken, .tooManyProviderTokenUpdates:
      ChannelReason(.credentialRefused, .credential)
    case .payloadTooLarge: ChannelReason(.payloadTooLarge, .size)
    case .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown, .idleTimeout:
      ChannelReason(.appleBusy, .overload)
    default: nil
    }
  }
}

extension WhyPoint {
  /// APNs accepted it.
  package static let apple = WhyPoint("apple", "Accepted by APNs", "苹果已接收")
}

extension WhyCause {
  /// APNs has not responded.
  package static let appleWaiting = WhyCause(
    "apple_waiting", .wait,
    "APNs has not responded yet.",
    "苹果尚未应答。")
  /// The server cannot reach APNs.
  package static let appleUnreachable = WhyCause(
    "apple_unreachable", .reachApple,
    "The server cannot reach APNs.",
    "服务器无法连接苹果。")
  /// A VoIP push or the start of a Live Activity was sent, and no response came.
  package static let appleNoAnswer = WhyCause(
    "apple_no_answer", .sendAgain,
    "It was sent, but the response of APNs was lost, so it is unknown whether it arrived. It is "
      + "not sent again, since it might ring twice.",
    "已发送但苹果的应答丢失，无法确认是否到达；为避免重复响铃，不再重发。")
  /// APNs does not know the token: sandbox and production are mixed up, or it is no token.
  package static let wrongEnvironment = WhyCause(
    "wrong_environment", .matchEnvironment,
    "APNs does not know the token: sandbox and production are mixed up, or the token is damaged.",
    "苹果不认识该 Token：开发环境与生产环境混用，或 Token 有误。")
  /// The token belongs to another app: the key or certificate is for another bundle ID.
  package static let tokenOfOtherApp = WhyCause(
    "token_of_other_app", .matchTopic,
    "The token belongs to another app: the key or certificate is for another bundle ID.",
    "Token 属于其他应用：密钥或证书的 Bundle ID 不匹配。")
  /// The app was removed from the device, or the token has expired.
  package static let tokenGone = WhyCause(
    "token_gone", .awaitReinstall,
    "The app was removed from the device, or its token has expired.",
    "应用已被卸载，或 Token 已失效。")
  /// The key or certificate may not push to this bundle ID.
  package static let topicRefused = WhyCause(
    "topic_refused", .matchTopic,
    "The key or certificate may not push to this bundle ID.",
    "密钥或证书无权向该 Bundle ID 推送。")
  /// APNs rejects the key or certificate.
  package static let credentialRefused = WhyCause(
    "credential_refused", .mendCredential,
    "APNs rejects the key or certificate.",
    "苹果拒绝了密钥或证书。")
  /// The notification is too large for APNs.
  package static let payloadTooLarge = WhyCause(
    "payload_too_large", .shorten,
    "The notification is too large for APNs.",
    "通知内容超过苹果的大小限制。")
  /// APNs was too busy, or the device gets too many pushes.
  package static let appleBusy = WhyCause(
    "apple_busy", .wait,
    "APNs was too busy, or the device gets too many pushes.",
    "苹果服务繁忙，或该设备推送过于频繁。")
  /// APNs had not accepted it when its time to live ended.
  package static let appleNotInTime = WhyCause(
    "apple_not_in_time", .extendLifetime,
    "APNs had not accepted it when its time to live ended.",
    "有效期结束时苹果仍未接收。")
  /// APNs rejected it for another reason.
  package static let appleRefused = WhyCause(
    "apple_refused", .lookUpReason,
    "APNs rejected it.",
    "苹果拒绝了该推送。")

  /// All that only APNs has.
  package static let ofAPNs: [WhyCause] = [
    .appleWaiting, .appleUnreachable, .appleNoAnswer, .wrongEnvironment, .tokenOfOtherApp, .tokenGone,
    .topicRefused, .credentialRefused, .payloadTooLarge, .appleBusy, .appleNotInTime, .appleRefused,
  ]
}

extension WhyRemedy {
  /// Let the server reach APNs.
  package static let reachApple = WhyRemedy(
    "reach_apple",
    "Let the server reach api.push.apple.com and api.sandbox.push.apple.com on port 443; the "
      + "push then continues automatically.",
    "请确保服务器可访问 api.push.apple.com 和 api.sandbox.push.apple.com 的 443 端口；恢复后推送会自动继续。")
  /// Have the app report whether its token is for sandbox or production; the key or certificate must be for
  /// that environment.
  package static let matchEnvironment = WhyRemedy(
    "match_environment",
    "Builds from Xcode have sandbox tokens, those from TestFlight and the App Store production "
      + "tokens: have the app report the right one, and add a credential for that environment.",
    "Xcode 构建使用开发环境 Token，TestFlight 和 App Store 使用生产环境：请让应用上报正确的环境，并配置对应的密钥或证书。")
  /// Use a key or certificate for the app's own bundle ID.
  package static let matchTopic = WhyRemedy(
    "match_topic",
    "Use a key or certificate for the app's own bundle ID, and check the bundle ID under Settings.",
    "使用与应用 Bundle ID 一致的密钥或证书，并在设置中检查 Bundle ID。")
  /// Look up the reason of APNs.
  package static let lookUpReason = WhyRemedy(
    "look_up_reason",
    "Look up the reason in Apple's documentation.",
    "请在苹果文档中查询该原因。")

  /// All that only APNs has.
  package static let ofAPNs: [WhyRemedy] = [
    .reachApple, .matchEnvironment, .matchTopic, .lookUpReason,
  ]
}
