import BorealisBase

/// What to do when a push did not arrive. The names are part of the API; Docs/why-not-delivered.md explains
/// each. Channels have remedies of their own.
package struct WhyRemedy: Hashable, Sendable {
  /// Its name in the API.
  package let rawValue: String
  /// What to do, in a sentence or two; empty if there is nothing to do.
  package let text: Phrase

  /// A remedy with its name in the API, and what to do.
  package init(_ rawValue: String, _ english: String, _ chinese: String) {
    self.rawValue = rawValue
    text = Phrase(english, chinese)
  }

  /// By name.
  package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// By name.
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension WhyRemedy {
  /// Ask the app which registration ID it has now, and keep that.
  package static let refreshRegistration = WhyRemedy(
    "refresh_registration",
    "Have the app report its registration ID at each start, store it, and send again.",
    "应用每次启动时获取 Registration ID 并更新到服务端，然后重新发送。")
  /// Add the platform, with content for it.
  package static let addressPlatform = WhyRemedy(
    "address_platform",
    "Add the platform to `platform`, with a notification or a message for it.",
    "在 platform 中加入该平台，并提供通知或自定义消息内容。")
  /// Bind alias or tag before sending, and send again.
  package static let bindFirst = WhyRemedy(
    "bind_first",
    "The audience is fixed when a push is accepted: bind the alias or tag first, then send again.",
    "目标人群在推送被接收时确定：请先绑定别名或标签，再重新发送。")
  /// Free the alias: delete it, or remove devices from it.
  package static let freeAlias = WhyRemedy(
    "free_alias",
    "Delete the alias, or remove it from devices that are no longer used; then bind it again.",
    "删除该别名，或从不再使用的设备上解绑，然后重新绑定。")
  package static let changeAudience = WhyRemedy(
    "change_audience",
    "Check the audience of the push, and send again.",
    "检查推送的目标人群后重新发送。")
  /// Look for the push of the device's zone.
  package static let lookAtSchedule = WhyRemedy(
    "look_at_schedule",
    "Look at the other pushes of the schedule. A device gets the one of the time zone that it has reported, or of the server's.",
    "查看该定时推送的其他推送；设备收到的是其上报时区的那一条，未上报时按服务器时区。")
  /// See why the canary stopped, mend that, and send again.
  package static let lookAtCanary = WhyRemedy(
    "look_at_canary",
    "Look at the page of the push, or ask for its canary in the API: it says why the push stopped. Mend that, and send again.",
    "请查看推送详情页或通过 API 查询灰度状态，确认停止原因，处理后重新发送。")
  /// Ask about the other push.
  package static let lookAtOtherPush = WhyRemedy(
    "look_at_other_push",
    "Ask with the msg_id of the other push.",
    "请用另一条推送的 msg_id 查询。")
  /// Add it to the test devices, or send without `test_model`.
  package static let addTestDevice = WhyRemedy(
    "add_test_device",
    "Add the device to the test devices, or send without `test_model`.",
    "将设备加入测试设备，或去掉 test_model 后发送。")
  /// Remove the device from the black list.
  package static let unblock = WhyRemedy(
    "unblock",
    "Remove the device from the black list, then send again.",
    "将设备移出黑名单后重新发送。")
  /// Send less, or allow more.
  package static let raiseCap = WhyRemedy(
    "raise_cap",
    "Send fewer notifications in a day, raise the limit under Settings, or state with `classification` 1 that it is a system notification.",
    "减少每日通知条数、在设置中调高上限，或用 classification 1 声明为系统消息。")
  /// Send at another time, or change the quiet hours.
  package static let changeQuietHours = WhyRemedy(
    "change_quiet_hours",
    "Send at another time or with a longer `time_to_live`, change the quiet hours under Settings, or send with `quiet_hours` \"ignore\" or `classification` 1 what must arrive at any time.",
    "换个时间发送或增大 time_to_live，在设置中调整免打扰时段；任何时间都必须送达的推送请使用 quiet_hours \"ignore\" 或 classification 1。")
  /// Have the app report the token of the Live Activity.
  package static let startLiveActivity = WhyRemedy(
    "start_live_activity",
    "Have the app report the token of the Live Activity when it starts.",
    "请在实时活动开始时由应用上报 Token。")
  package static let sendAgain = WhyRemedy(
    "send_again",
    "Send it again.",
    "请重新发送。")
  package static let wait = WhyRemedy(
    "wait",
    "Wait: the server continues automatically.",
    "请等待，系统会自动继续。")
  /// Upload a key or a certificate for the environment of the token.
  package static let uploadCredential = WhyRemedy(
    "upload_credential",
    "Upload a credential for the channel under Settings; for APNs a key (.p8) or a certificate "
      + "for the token's environment.",
    "请在设置中上传该通道的凭证；苹果推送为对应环境的密钥（.p8）或证书。")
  /// Check the credential, and resume or replace it.
  package static let mendCredential = WhyRemedy(
    "mend_credential",
    "Check the credential under Settings (for APNs the key, key ID, team ID and bundle ID). Resume it if it is "
      + "right, or replace it: pushes that still wait are then sent.",
    "请在设置中检查凭证（苹果推送为密钥、Key ID、团队和 Bundle ID）：无误则恢复使用，否则更换；等待中的推送随后会发出。")
  /// Compare the credential with the app's values in the service's console.
  package static let verifyCredential = WhyRemedy(
    "verify_credential",
    "Compare the credential with the app's values in the service's console, above all the app and package name (for APNs the "
      + "bundle ID and the environment), and send again. No token is removed until the credential is known to be right.",
    "请核对凭证与厂商控制台中的应用信息，尤其是应用和包名（苹果推送为 Bundle ID 和环境），然后重新发送；在凭证得到验证之前不会移除任何 Token。")
  /// Have the app request a token at each start and pass it on.
  package static let registerToken = WhyRemedy(
    "register_token",
    "Have the app request its push token at each start and pass it to the library.",
    "应用每次启动时向系统推送服务获取 Token 并传给客户端库。")
  /// Nothing: the app was removed from the device, or reports a new token at its next start.
  package static let awaitReinstall = WhyRemedy(
    "await_reinstall",
    "Nothing: if the app is still installed, it reports a new token at its next start.",
    "无需处理：如果应用仍在设备上，下次启动时会上报新的 Token。")
  /// Shorten the notification.
  package static let shorten = WhyRemedy(
    "shorten",
    "Shorten text and extras to 4096 bytes in all.",
    "缩短内容和附加字段，总计不超过 4096 字节。")
  /// Look up the reason of the channel's service.
  package static let lookUpChannelReason = WhyRemedy(
    "look_up_channel_reason",
    "Look up the reason in the documentation of the channel's service.",
    "请在厂商通道的文档中查询该原因。")
  /// Give the push a longer time to live.
  package static let extendLifetime = WhyRemedy(
    "extend_lifetime",
    "Give the push a longer `time_to_live`, and send again.",
    "增大 time_to_live 后重新发送。")
  /// Choose another strategy.
  package static let changeStrategy = WhyRemedy(
    "change_strategy",
    "Send with a strategy that also uses the direct connection.",
    "选择同时使用长连接的推送策略。")
  /// Let the app run in the background: exempt it from battery saving, allow autostart, and check the
  /// network.
  package static let keepAlive = WhyRemedy(
    "keep_alive",
    "Check the device's network; exempt the app from battery saving and allow it to run in the "
      + "background.",
    "检查设备网络；将应用加入省电白名单，并允许自启动和后台运行。")
  /// Open the app, or use APNs for what must be seen at once.
  package static let openApp = WhyRemedy(
    "open_app",
    "It arrives when the app is opened. Send what must be seen at once as a notification, "
      + "through APNs.",
    "打开应用后即可收到；需要立即看到的内容请使用通知，由苹果推送。")
  package static let logInAgain = WhyRemedy(
    "log_in_again",
    "Restart the library in the app; two installs must not share one registration.",
    "请在应用中重新启动客户端库；两个安装不能共用同一注册。")
  /// Update the library in the app, and look at its log.
  package static let updateLibrary = WhyRemedy(
    "update_library",
    "Update the library in the app, and look at its log.",
    "请更新应用中的客户端库并查看其日志。")
  /// Send fewer pushes, or shorten their time to live.
  package static let sendFewer = WhyRemedy(
    "send_fewer",
    "Send fewer pushes to one device, or shorten their time to live.",
    "减少对单台设备的推送，或缩短有效期。")
  /// Choose another class, or send less to the device.
  package static let changeClass = WhyRemedy(
    "change_class",
    "Send less to one device in a day, or send service messages with the class that the maker has approved.",
    "减少单台设备每日的推送，或使用厂商批准的服务类消息分类。")
  /// Enable the app again.
  package static let enableApp = WhyRemedy(
    "enable_app",
    "Enable the app again.",
    "请重新启用该应用。")
  /// Check the device's settings for notifications.
  package static let checkPermission = WhyRemedy(
    "check_permission",
    "Check on the device: the app's notification permission, its channels, Focus and Do Not Disturb.",
    "请在设备上检查：应用通知权限、通知渠道、专注模式和勿扰模式。")
  /// Ask the system for banners while the app is in the foreground.
  package static let presentInForeground = WhyRemedy(
    "present_in_foreground",
    "Have the app request the banner (`willPresent`), or show the notification itself.",
    "请在应用中要求显示横幅（willPresent），或自行展示。")
  /// Nothing is wrong.
  package static let nothing = WhyRemedy(
    "nothing",
    "",
    "")
  /// Fix the app's server, and send the events again.
  package static let mendCallback = WhyRemedy(
    "mend_callback",
    "Fix your server or its URL; waiting events are sent again automatically, others with `resend`.",
    "请修复您的服务器或地址；等待中的事件会自动重发，其余可手动重发。")

  /// All that are no channel's own.
  package static let general: [WhyRemedy] = [
    .refreshRegistration, .addressPlatform, .bindFirst, .freeAlias, .changeAudience, .lookAtSchedule,
    .addTestDevice, .unblock, .raiseCap, .changeQuietHours,
    .startLiveActivity, .sendAgain, .wait, .uploadCredential, .mendCredential, .verifyCredential,
    .registerToken,
    .awaitReinstall, .shorten, .lookUpChannelReason, .extendLifetime, .changeStrategy, .keepAlive, .openApp,
    .logInAgain, .updateLibrary, .sendFewer, .changeClass, .enableApp, .checkPermission, .presentInForeground,
    .nothing,
    .mendCallback,
  ]
}
