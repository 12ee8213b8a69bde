import BorealisBase
import Model

/// The texts about credentials that are the same for all channels.
extension Words {
  static let partGeneral = Phrase("General", "通用")
  static let partChannels = Phrase("Channels", "推送通道")
  static let partCallbacks = Phrase("Callbacks", "回调")
  static let partLimits = Phrase("Plan and limits", "套餐与限制")

  static let channelsText = Phrase(
    "Push services through which this app reaches devices. Each needs a credential that you get from its provider.",
    "应用可用的推送通道。每个通道都需要在其开放平台申请凭证。")
  static let allChannels = Phrase("All channels", "全部通道")
  static let channelNotSetUp = Phrase("Not set up", "未配置")
  static let otherChannels = Phrase("Other channels", "其他通道")
  static let channelsNotSetUp = Phrase("Not set up: {}", "未配置：{}")
  static let needsAttention = Phrase("needs attention", "需要处理")
  static let credentials = Phrase("Credentials", "凭证")

  static let expiriesTitle = Phrase("Certificates and keys", "证书与密钥")
  static let expiriesText = Phrase(
    "Credentials that your apps use with push services, and when they expire. Admins get an email 30, 14, 7 and 1 days before a certificate expires.",
    "您的应用用于各推送通道的凭证及其过期时间。系统会在证书过期前 30、14、7、1 天邮件通知管理员。")
  static let expiriesTextNoMail = Phrase(
    "Credentials that your apps use with push services, and when they expire.", "您的应用用于各推送通道的凭证及其过期时间。")
  static let noCredentials = Phrase("No app has a key or certificate yet.", "还没有应用配置密钥或证书。")
  static let neverEnds = Phrase("No expiration", "永久有效")
  static let ends = Phrase("Expires", "过期时间")
  static let endsNever = Phrase("never", "永不过期")
  static let app = Phrase("App", "应用")
  static let credential = Phrase("Credential", "凭证")
  static let addedAt = Phrase("Added", "添加时间")

  static let stateInUse = Phrase("in use", "使用中")
  static let stateFallback = Phrase("standby", "备用")
  static let statePaused = Phrase("paused", "已暂停")
  static let stateEnded = Phrase("expired", "已过期")

  static let alertLook = Phrase("View", "查看")
  static func alertHome(_ channel: ChannelInfo, _ count: Int) -> Phrase {
    let apps = count == 1 ? "one" : String(count)
    return Phrase(
      "\(channel.english) needs attention in \(apps) of your apps.", "您有 \(count) 个应用的\(channel.chinese)需要处理。"
    )
  }

  static let upload = Phrase("Verify and upload", "检查并上传")
  static let removed = Phrase("The credential was removed.", "已删除。")
  static let paused = Phrase(
    "The credential is paused. It is not used until you resume it.", "已暂停使用，恢复前不再使用。")
  static let resumed = Phrase("The credential is in use again.", "已恢复使用。")
  static let replaceIt = Phrase("Replace", "更换")
  static let checkNow = Phrase("Check now", "立即验证")
  static let pause = Phrase("Pause", "暂停")
  static let resume = Phrase("Resume", "恢复")
  static let remove = Phrase("Remove", "删除")
  static let removeForGoodText = Phrase(
    "Pushes are no longer sent with this credential. It cannot be restored.", "删除后不再使用此凭证推送，且无法恢复。")
  static let removeForGood = Phrase("Remove permanently", "确认删除")
  static let sendTest = Phrase("Send a test notification", "发送测试通知")
  static let testChannel = Phrase("Test {}", "测试{}")
  static let backToChannel = Phrase("Back to {}", "返回{}")
  static let testChannelText = Phrase(
    "The notification goes through this channel only, also to a device that is connected. You then see what the service answers.",
    "通知仅经此通道发送，设备在线时也是如此；发送后可查看服务的应答。")
  static let testNoDevices = Phrase(
    "No device can be reached through this channel yet: none has reported a token for it.",
    "暂无可经此通道送达的设备：还没有设备上报此通道的 Token。")
  static let testReach = Phrase("Devices with a token for this channel: {}", "已上报此通道 Token 的设备：{} 台")
  static let testFirstText = Phrase("A test notification", "测试通知")
  static let testUnknownDevice = Phrase(
    "Enter the registration ID of one of the app's devices.", "请填写该应用某台设备的 Registration ID。")
  static let testNoToken = Phrase("This device has no token for this channel.", "该设备没有此通道的 Token。")
  static let noSealingKey = Phrase(
    "The server cannot read the key that it encrypts secrets with. Nothing was stored. The operator finds the reason in the server's log.",
    "服务器无法读取用于加密的密钥文件，请系统管理员查看日志；未保存任何内容。")
}
