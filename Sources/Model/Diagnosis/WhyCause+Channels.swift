/// What may keep a channel's service from bringing a push.
extension WhyCause {
  /// The app has no credential for the service of the token.
  package static let noCredential = WhyCause(
    "no_credential", .uploadCredential,
    "The app has no credential for this channel or environment.",
    "应用没有配置该通道或环境的凭证。")
  /// The app's credential is paused.
  package static let credentialStopped = WhyCause(
    "credential_stopped", .mendCredential,
    "The app's credential is paused, so nothing is sent.",
    "应用的凭证已停用，暂停发送。")
  package static let credentialExpired = WhyCause(
    "credential_expired", .uploadCredential,
    "The credential has expired.",
    "凭证已过期。")
  /// The service refused the token, and no known token has worked with the credential.
  package static let credentialNotVerified = WhyCause(
    "credential_not_verified", .verifyCredential,
    "The channel's service rejected the token, and the app's credential is not known to be right: it may belong to another app. "
      + "The token was kept.",
    "厂商通道拒绝了该 Token，而应用的凭证尚未得到验证，可能属于其他应用。Token 已保留。")
  /// The device never reported a token.
  package static let noToken = WhyCause(
    "no_token", .registerToken,
    "The device has not reported a push token.",
    "设备没有上报推送 Token。")
  /// The device reported its token after the push was accepted.
  package static let tokenLater = WhyCause(
    "token_later", .sendAgain,
    "The device reported its token only after the push was accepted.",
    "设备在推送被接收之后才上报 Token。")
  /// The device removed its token.
  package static let tokenRemoved = WhyCause(
    "token_removed", .registerToken,
    "The app removed its token.",
    "应用清除了自己的 Token。")
  /// The push service reported that the token is no longer valid.
  package static let tokenRetired = WhyCause(
    "token_retired", .awaitReinstall,
    "The push service had reported before that the token is no longer valid.",
    "推送服务此前已返回该 Token 失效。")
  /// Another registration of the app reported the same token.
  package static let tokenTaken = WhyCause(
    "token_taken", .registerToken,
    "Another registration of the app reported the same token.",
    "同一 Token 被应用的另一个注册使用。")
  /// The device has another token than when the push was sent.
  package static let tokenChanged = WhyCause(
    "token_changed", .sendAgain,
    "The device has reported another token since; this push went to the old one.",
    "设备之后更换了 Token，此推送发往旧的 Token。")
  /// The channel's service has not responded.
  package static let channelWaiting = WhyCause(
    "channel_waiting", .wait,
    "The channel's service has not responded yet.",
    "厂商通道尚未应答。")
  /// The channel's service cannot be reached, or answers with errors of its own.
  package static let channelUnreachable = WhyCause(
    "channel_unreachable", .wait,
    "The channel's service cannot be reached, or answers with errors of its own. The server keeps trying.",
    "无法连接厂商通道，或其服务异常；服务器会继续重试。")
  /// The channel's service wants nothing before a moment.
  package static let channelResting = WhyCause(
    "channel_resting", .wait,
    "The channel's service asked for a pause, or a quota of the app is used up. Nothing is sent before the time shown.",
    "厂商通道要求暂停，或应用的配额已用完；在所示时间之前不发送。")
  /// The channel's service had not accepted it when its time to live ended.
  package static let channelNotInTime = WhyCause(
    "channel_not_in_time", .extendLifetime,
    "The channel's service had not accepted it when its time to live ended.",
    "有效期结束时厂商通道仍未接收。")
  /// The channel's service rejected it.
  package static let channelRefused = WhyCause(
    "channel_refused", .lookUpChannelReason,
    "The channel's service rejected it.",
    "厂商通道拒绝了该推送。")

  /// The channel's service says that the token is no longer valid.
  package static let channelTokenGone = WhyCause(
    "channel_token_gone", .awaitReinstall,
    "The channel's service says that the token is no longer valid: usually the app was removed from the device.",
    "厂商通道返回 Token 已失效，通常是应用已被卸载。")
  /// The token belongs to another project than the app's credential.
  package static let channelTokenForeign = WhyCause(
    "channel_token_foreign", .mendCredential,
    "The token belongs to another project than the app's credential.",
    "Token 与应用的凭证不属于同一项目。")
  /// The notification is too large for the channel.
  package static let channelTooLarge = WhyCause(
    "channel_too_large", .shorten,
    "The notification is too large for the channel.",
    "通知超出该通道的大小限制。")

  /// The device shows no notifications of the app, by the service's answer or its receipt.
  package static let notificationsOff = WhyCause(
    "notifications_off", .checkPermission,
    "The channel's service says that notifications of the app are turned off on the device.",
    "厂商通道回执：设备上该应用的通知已关闭。")
  /// The service does not say which of both it is.
  package static let removedOrNotificationsOff = WhyCause(
    "removed_or_notifications_off", .checkPermission,
    "The channel's service says that the app was removed from the device, or that its notifications are turned off.",
    "厂商通道回执：应用已被卸载，或设备上该应用的通知已关闭。")

  static let ofChannels: [WhyCause] = [
    .noCredential, .credentialStopped, .credentialExpired, .credentialNotVerified, .noToken, .tokenLater,
    .tokenRemoved,
    .tokenRetired, .tokenTaken, .tokenChanged, .channelWaiting, .channelUnreachable,
    .channelResting, .channelNotInTime, .channelRefused, .channelTokenGone, .channelTokenForeign,
    .channelTooLarge, .notificationsOff, .removedOrNotificationsOff,
  ]
}
