extension WhyRemedy {
  /// What to do, in a sentence or two; empty if there is nothing to do.
  public var text: WhyText {
    switch self {
    case .refreshRegistration:
      WhyText(
        "Have the app report its registration ID at each start, store it, and send again.",
        "应用每次启动时获取 Registration ID 并更新到服务端，然后重新发送。")
    case .addressPlatform:
      WhyText(
        "Add the platform to `platform`, with a notification or a message for it.",
        "在 platform 中加入该平台，并提供通知或自定义消息内容。")
    case .bindFirst:
      WhyText(
        "The audience is fixed when a push is accepted: bind the alias or tag first, then send again.",
        "目标人群在推送被接收时确定：请先绑定别名或标签，再重新发送。")
    case .freeAlias:
      WhyText(
        "Delete the alias, or remove it from devices that are no longer used; then bind it again.",
        "删除该别名，或从不再使用的设备上解绑，然后重新绑定。")
    case .changeAudience:
      WhyText("Check the audience of the push, and send again.", "检查推送的目标人群后重新发送。")
    case .addTestDevice:
      WhyText(
        "Add the device to the test devices, or send without `test_model`.", "将设备加入测试设备，或去掉 test_model 后发送。")
    case .unblock:
      WhyText("Remove the device from the black list, then send again.", "将设备移出黑名单后重新发送。")
    case .startLiveActivity:
      WhyText("Have the app report the token of the Live Activity when it starts.", "请在实时活动开始时由应用上报 Token。")
    case .sendAgain: WhyText("Send it again.", "请重新发送。")
    case .wait: WhyText("Wait: the server continues automatically.", "请等待，系统会自动继续。")
    case .uploadCredential:
      WhyText(
        "Upload a credential for the channel under Settings; for APNs a key (.p8) or a certificate for the token's environment.",
        "请在设置中上传该通道的凭证；苹果推送为对应环境的密钥（.p8）或证书。")
    case .mendCredential:
      WhyText(
        "Check the credential (for APNs the key, key ID, team ID and bundle ID), replace what is wrong, and resume it.",
        "检查凭证（苹果推送为密钥、Key ID、团队和 Bundle ID），修正后恢复使用。")
    case .registerToken:
      WhyText(
        "Have the app request its push token at each start and pass it to the library.",
        "应用每次启动时向系统推送服务获取 Token 并传给客户端库。")
    case .matchEnvironment:
      WhyText(
        "Builds from Xcode have sandbox tokens, those from TestFlight and the App Store production tokens: have the "
          + "app report the right one, and add a credential for that environment.",
        "Xcode 构建使用开发环境 Token，TestFlight 和 App Store 使用生产环境：请让应用上报正确的环境，并配置对应的密钥或证书。")
    case .matchTopic:
      WhyText(
        "Use a key or certificate for the app's own bundle ID, and check the bundle ID under Settings.",
        "使用与应用 Bundle ID 一致的密钥或证书，并在设置中检查 Bundle ID。")
    case .awaitReinstall:
      WhyText(
        "Nothing: if the app is still installed, it reports a new token at its next start.",
        "无需处理：如果应用仍在设备上，下次启动时会上报新的 Token。")
    case .shorten: WhyText("Shorten text and extras to 4096 bytes in all.", "缩短内容和附加字段，总计不超过 4096 字节。")
    case .lookUpReason:
      WhyText("Look up the reason in Apple's documentation.", "请在苹果文档中查询该原因。")
    case .lookUpChannelReason:
      WhyText("Look up the reason in the documentation of the channel's service.", "请在厂商通道的文档中查询该原因。")
    case .extendLifetime:
      WhyText("Give the push a longer `time_to_live`, and send again.", "增大 time_to_live 后重新发送。")
    case .changeStrategy:
      WhyText("Send with a strategy that also uses the direct connection.", "选择同时使用长连接的推送策略。")
    case .keepAlive:
      WhyText(
        "Check the device's network; exempt the app from battery saving and allow it to run in the background.",
        "检查设备网络；将应用加入省电白名单，并允许自启动和后台运行。")
    case .reachApple:
      WhyText(
        "Let the server reach api.push.apple.com and api.sandbox.push.apple.com on port 443; the push then continues automatically.",
        "请确保服务器可访问 api.push.apple.com 和 api.sandbox.push.apple.com 的 443 端口；恢复后推送会自动继续。")
    case .openApp:
      WhyText(
        "It arrives when the app is opened. Send what must be seen at once as a notification, through APNs.",
        "打开应用后即可收到；需要立即看到的内容请使用通知，由苹果推送。")
    case .logInAgain:
      WhyText(
        "Restart the library in the app; two installs must not share one registration.",
        "请在应用中重新启动客户端库；两个安装不能共用同一注册。")
    case .updateLibrary:
      WhyText("Update the library in the app, and look at its log.", "请更新应用中的客户端库并查看其日志。")
    case .sendFewer:
      WhyText("Send fewer pushes to one device, or shorten their time to live.", "减少对单台设备的推送，或缩短有效期。")
    case .enableApp: WhyText("Enable the app again.", "请重新启用该应用。")
    case .checkPermission:
      WhyText(
        "Check on the device: the app's notification permission, its channels, Focus and Do Not Disturb.",
        "请在设备上检查：应用通知权限、通知渠道、专注模式和勿扰模式。")
    case .presentInForeground:
      WhyText(
        "Have the app request the banner (`willPresent`), or show the notification itself.",
        "请在应用中要求显示横幅（willPresent），或自行展示。")
    case .nothing: WhyText("", "")
    case .mendCallback:
      WhyText(
        "Fix your server or its URL; waiting events are sent again automatically, others with `resend`.",
        "请修复您的服务器或地址；等待中的事件会自动重发，其余可手动重发。")
    }
  }
}
