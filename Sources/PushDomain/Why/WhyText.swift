/// A text of a diagnosis for people, in both languages.
public struct WhyText: Equatable, Sendable {
  /// In English.
  public let english: String
  /// In Chinese.
  public let chinese: String

  init(_ english: String, _ chinese: String) {
    self.english = english
    self.chinese = chinese
  }
}

extension WhyPoint {
  /// What is looked at.
  public var text: WhyText {
    switch self {
    case .accepted: WhyText("Accepted by the server", "服务器已接收")
    case .device: WhyText("The device is registered", "设备已注册")
    case .platform: WhyText("The push is for its platform", "推送包含该平台")
    case .audience: WhyText("The device is in the audience", "设备属于目标人群")
    case .sender: WhyText("The push was not recalled", "推送未被撤回或覆盖")
    case .release: WhyText("It is the device's turn", "已轮到该设备发送")
    case .credential: WhyText("The app's credential", "应用的通道凭证")
    case .token: WhyText("The device's push token", "设备的推送 Token")
    case .apple: WhyText("Accepted by APNs", "苹果已接收")
    case .channel: WhyText("Accepted by the channel's service", "厂商通道已接收")
    case .connection: WhyText("Received by the device over the direct connection", "设备通过长连接接收")
    case .lifetime: WhyText("Valid until", "有效期至")
    case .permission: WhyText("Notifications are allowed", "系统通知权限")
    case .shown: WhyText("Shown to the user", "已展示给用户")
    case .callback: WhyText("Callback to your server", "已回调您的服务器")
    }
  }
}

extension WhyVerdict {
  /// The verdict in a word or two.
  public var text: WhyText {
    switch self {
    case .ok: WhyText("ok", "正常")
    case .failed: WhyText("failed", "失败")
    case .waiting: WhyText("waiting", "等待中")
    case .unknown: WhyText("unknown", "未知")
    case .notApplicable: WhyText("not applicable", "不适用")
    }
  }
}

extension WhyConclusion {
  /// The conclusion in a sentence.
  public var text: WhyText {
    switch self {
    case .arrived: WhyText("It arrived at the device.", "推送已到达设备。")
    case .handedOver:
      WhyText(
        "The push service accepted it. Push services do not say whether the device has it.",
        "推送服务已接收；推送服务不告知设备是否收到。")
    case .waiting: WhyText("It has not arrived yet, and still may.", "尚未到达，仍可能送达。")
    case .failed: WhyText("It did not arrive.", "推送未到达。")
    case .unknown:
      WhyText("It did not arrive, and the stored data does not show why.", "推送未到达，现有记录无法说明原因。")
    }
  }
}
