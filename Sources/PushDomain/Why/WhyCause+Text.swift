extension WhyCause {
  /// What it means, in a sentence.
  public var text: WhyText {
    switch self {
    case .registrationUnknown, .registrationReplaced, .registeredLater, .otherPlatform, .nothingForPlatform,
      .recalled, .overridden, .stillSpreading:
      generalText
    case .aliasBoundLater, .aliasNotBound, .aliasFull, .tagBoundLater, .tagNotBound, .tagRemoved,
      .tagExcluded,
      .notNamed, .notTestDevice, .blocked, .noLiveActivity, .audienceUnknown:
      audienceText
    case .noCredential, .credentialStopped, .credentialExpired, .noToken, .tokenLater, .tokenRemoved,
      .tokenRetired, .tokenTaken, .tokenChanged, .appleWaiting, .appleUnreachable, .appleNoAnswer,
      .wrongEnvironment, .tokenOfOtherApp,
      .tokenGone,
      .topicRefused, .credentialRefused, .payloadTooLarge, .appleBusy, .appleNotInTime, .appleRefused,
      .channelWaiting, .channelNotInTime, .channelRefused:
      appleText
    case .onlineOnly, .noChannel, .neverConnected, .offlineHeartbeatLost, .offlineClosed, .offlineLoggedOut,
      .offlineReplaced, .offlineServer, .offlineAppDisabled, .offlineTooSlow, .offlineProtocolError,
      .offlineBroken, .offlineUnknown, .cameBackLate, .connectionUnknown, .notInForeground, .notAcknowledged,
      .queueFull, .expired:
      connectionText
    case .permissionUnknown, .notReported, .inForeground, .shownBefore, .tapped, .callbackFailing,
      .callbackGivenUp:
      laterText
    }
  }

  private var generalText: WhyText {
    switch self {
    case .registrationReplaced:
      WhyText(
        "The registration was replaced: the app was reinstalled, or its data was cleared. The device now has a new registration.",
        "该 Registration ID 已失效：应用被重装或清除了数据，现在的 ID 如下。")
    case .registeredLater:
      WhyText("The device registered only after the push was accepted.", "设备在推送被接收之后才注册。")
    case .otherPlatform: WhyText("The push is for other platforms.", "推送未包含该设备的平台。")
    case .nothingForPlatform:
      WhyText("The push has no content for the device's platform.", "推送没有针对该平台的内容。")
    case .recalled:
      WhyText("The sender recalled the push or stopped its task.", "发送者撤回了推送（任务已停止）。")
    case .overridden: WhyText("The sender replaced it with another push.", "发送者用另一条推送覆盖了它。")
    case .stillSpreading:
      WhyText(
        "The push uses paced delivery, and it is not this device's turn yet.",
        "推送正在按定速分批发送，尚未轮到该设备。")
    default: WhyText("The app has no such registration.", "应用中没有这个 Registration ID。")
    }
  }

  private var audienceText: WhyText {
    switch self {
    case .aliasBoundLater:
      WhyText("The alias was bound only after the push was accepted.", "别名在推送被接收之后才绑定。")
    case .aliasNotBound:
      WhyText("The device does not have the alias.", "设备没有绑定该别名。")
    case .aliasFull:
      WhyText(
        "The alias has reached its limit of 10 devices, and this one is not among them.",
        "该别名已绑定 10 台设备（上限），此设备不在其中。")
    case .tagBoundLater:
      WhyText("The tag was set only after the push was accepted.", "标签在推送被接收之后才设置。")
    case .tagNotBound: WhyText("The device does not have the tag.", "设备没有该标签。")
    case .tagRemoved:
      WhyText("The tag was removed from the device before that.", "该标签在推送之前已从设备移除。")
    case .tagExcluded: WhyText("The device has a tag that the push excludes.", "设备带有被推送排除的标签。")
    case .notNamed: WhyText("The push names other devices.", "推送指定了设备，但不包含此设备。")
    case .notTestDevice:
      WhyText("The push is for test devices only.", "推送仅发送给测试设备。")
    case .blocked: WhyText("The device is on the app's black list.", "设备在应用的黑名单中。")
    case .noLiveActivity:
      WhyText("The device has not reported a token for the Live Activity.", "设备没有上报该实时活动的 Token。")
    default:
      WhyText(
        "The audience, or the device's state at that time, was not recorded.",
        "当时的目标人群或设备状态没有记录。")
    }
  }

  private var appleText: WhyText {
    switch self {
    case .noCredential:
      WhyText("The app has no credential for this channel or environment.", "应用没有配置该通道或环境的凭证。")
    case .credentialStopped:
      WhyText("The app's credential is paused, so nothing is sent.", "应用的凭证已停用，暂停发送。")
    case .credentialExpired: WhyText("The credential has expired.", "凭证已过期。")
    case .noToken: WhyText("The device has not reported a push token.", "设备没有上报推送 Token。")
    case .tokenLater:
      WhyText("The device reported its token only after the push was accepted.", "设备在推送被接收之后才上报 Token。")
    case .tokenRemoved: WhyText("The app removed its token.", "应用清除了自己的 Token。")
    case .tokenRetired:
      WhyText(
        "The push service had reported before that the token is no longer valid.", "推送服务此前已告知该 Token 失效。")
    case .tokenTaken:
      WhyText("Another registration of the app reported the same token.", "同一 Token 被应用的另一个注册使用。")
    case .tokenChanged:
      WhyText(
        "The device has reported another token since; this push went to the old one.",
        "设备之后更换了 Token，此推送发往旧的 Token。")
    case .appleWaiting: WhyText("APNs has not responded yet.", "苹果尚未应答。")
    case .appleUnreachable: WhyText("The server cannot reach APNs.", "服务器无法连接苹果。")
    case .appleNoAnswer:
      WhyText(
        "It was sent, but the response of APNs was lost, so it is unknown whether it arrived. "
          + "It is not sent again, since it might ring twice.",
        "已发送但苹果的应答丢失，无法确认是否到达；为避免重复响铃，不再重发。")
    case .wrongEnvironment:
      WhyText(
        "APNs does not know the token: sandbox and production are mixed up, or the token is damaged.",
        "苹果不认识该 Token：开发环境与生产环境混用，或 Token 有误。")
    case .tokenOfOtherApp:
      WhyText(
        "The token belongs to another app: the key or certificate is for another bundle ID.",
        "Token 属于其他应用：密钥或证书的 Bundle ID 不匹配。")
    case .tokenGone:
      WhyText("The app was removed from the device, or its token has expired.", "应用已被卸载，或 Token 已失效。")
    case .topicRefused:
      WhyText("The key or certificate may not push to this bundle ID.", "密钥或证书无权向该 Bundle ID 推送。")
    case .credentialRefused: WhyText("APNs rejects the key or certificate.", "苹果拒绝了密钥或证书。")
    case .payloadTooLarge: WhyText("The notification is too large for APNs.", "通知内容超过苹果的大小限制。")
    case .appleBusy:
      WhyText("APNs was too busy, or the device gets too many pushes.", "苹果服务繁忙，或该设备推送过于频繁。")
    case .appleNotInTime:
      WhyText("APNs had not accepted it when its time to live ended.", "有效期结束时苹果仍未接收。")
    case .channelWaiting: WhyText("The channel's service has not responded yet.", "厂商通道尚未应答。")
    case .channelNotInTime:
      WhyText("The channel's service had not accepted it when its time to live ended.", "有效期结束时厂商通道仍未接收。")
    case .channelRefused: WhyText("The channel's service rejected it.", "厂商通道拒绝了该推送。")
    default: WhyText("APNs rejected it.", "苹果拒绝了该推送。")
    }
  }

  private var connectionText: WhyText {
    switch self {
    case .onlineOnly:
      WhyText(
        "The push was only for devices that were connected, and this one was not.",
        "推送仅发送给当时在线的设备，此设备不在线。")
    case .noChannel:
      WhyText("With the push's strategy no channel reaches this device.", "按推送策略，没有可用通道到达该设备。")
    case .neverConnected:
      WhyText(
        "According to the records, the device has not been connected since it registered.", "就记录而言，设备注册后从未连接。"
      )
    case .offlineHeartbeatLost:
      WhyText("The device is offline: its heartbeats stopped.", "设备离线：心跳丢失。")
    case .offlineClosed:
      WhyText("The device is offline: it, or the network, closed the connection.", "设备离线：设备或网络关闭了连接。")
    case .offlineLoggedOut: WhyText("The device is offline: the app logged out.", "设备离线：应用主动退出。")
    case .offlineReplaced:
      WhyText(
        "The device is offline: another login of the same registration replaced its connection.",
        "设备离线：同一注册在别处登录，顶替了连接。")
    case .offlineServer:
      WhyText("The device has not reconnected since the server was stopped.", "服务器停止后设备没有重新连接。")
    case .offlineAppDisabled: WhyText("The app is disabled.", "应用已被停用。")
    case .offlineTooSlow:
      WhyText("The device is offline: it did not read the data that was sent to it.", "设备离线：未读取发送给它的数据。")
    case .offlineProtocolError:
      WhyText("The device is offline: it violated the protocol.", "设备离线：违反了通信协议。")
    case .offlineBroken: WhyText("The device is offline: the connection broke.", "设备离线：连接中断。")
    case .cameBackLate:
      WhyText("The device reconnected after the push had ended.", "设备重新上线时推送已结束。")
    case .connectionUnknown:
      WhyText(
        "It was not recorded whether the device was connected before the push ended; it was connected later.",
        "推送结束前设备是否在线没有记录；设备之后在线过。")
    case .notInForeground:
      WhyText(
        "The app is in the background; on iOS it receives pushes over the direct connection only in the foreground.",
        "应用不在前台；iOS 应用只有在前台才能通过长连接接收。")
    case .notAcknowledged:
      WhyText(
        "The device is connected, or was until the push ended, and has not acknowledged it.",
        "设备在线（或直到推送结束一直在线），但没有确认收到。")
    case .queueFull:
      WhyText("Too many newer pushes were waiting for the device.", "该设备等待的新推送过多，此条被挤出。")
    case .expired: WhyText("The push's time to live has ended.", "推送已超过有效期。")
    default:
      WhyText("The device is offline; it was not recorded how its connection ended.", "设备离线；连接如何结束没有记录。")
    }
  }

  private var laterText: WhyText {
    switch self {
    case .permissionUnknown:
      WhyText(
        "Devices do not report whether the user allows notifications.", "设备不会上报用户是否允许通知。")
    case .inForeground:
      WhyText(
        "The app is in the foreground: iOS shows no banner there unless the app asks for it.",
        "应用在前台：除非应用主动要求，iOS 不会显示横幅。")
    case .shownBefore:
      WhyText("It was shown. If it is no longer visible, it was cleared.", "已展示过；如现在看不到，则已被清除。")
    case .tapped: WhyText("The user tapped it.", "用户已点击。")
    case .callbackFailing:
      WhyText("The callback to your server failed and will be retried.", "回调您的服务器失败，正在重试。")
    case .callbackGivenUp: WhyText("The callback to your server failed and was given up.", "已放弃回调您的服务器。")
    default: WhyText("The device has not reported that it was shown.", "设备没有上报展示。")
    }
  }
}
