import BorealisBase
import Model

extension Words {
  static let whyTitle = Phrase("Why didn't it arrive?", "为什么没收到？")
  static let whyText = Phrase(
    "Enter a device to check each step of this push on its way to it.", "输入一台设备，逐步检查此推送到达它的过程。")
  static let whyDevice = Phrase("Registration ID, alias or push token", "Registration ID、别名或推送 Token")
  static let whyLook = Phrase("Check", "检查")
  static let whySeveral = Phrase("Several devices have this alias. Which one?", "该别名绑定了多台设备，请选择：")
  static let whyFirst = Phrase("First problem", "首个问题")
  static let whyToDo = Phrase("What to do", "处理建议")
  static let whySteps = Phrase("Step by step", "逐步检查")
  static let whyScript = Phrase("API request", "API 调用")
  static let whyPush = Phrase("The push", "推送")
  static let whyDevicePage = Phrase("Device", "设备")
  static let why = Phrase("Why?", "为什么？")

  static let findAnyDevice = Phrase(
    "Registration ID, alias, tag or push token", "Registration ID、别名、标签或推送 Token")
  static let noSuchDevice = Phrase(
    "No device has this registration ID, alias, tag or token.", "没有匹配该 Registration ID、别名、标签或 Token 的设备。")
  static let deviceGone = Phrase(
    "This registration no longer exists: the app was reinstalled or its data was cleared.",
    "该注册已失效：应用被重装或清除了数据。")
  static let deviceDeleted = Phrase(
    "This registration was deleted, on request or because its device was not seen for long.",
    "该注册已被删除（主动删除，或设备长期未连接）。")
  static let deviceSuccessor = Phrase("Current registration of the device:", "设备现在的注册：")
  static let noDevices = Phrase("No device has registered yet.", "还没有设备注册。")
  static let noDeviceMatches = Phrase("No device matches.", "没有符合条件的设备。")
  static let sendTo = Phrase("Send", "发送")
  static let neverSeen = Phrase("never", "从未")
  /// A channel and one of its services.
  static let tokenOfService = Phrase("{} ({})", "{}（{}）")
  static let more = Phrase("More", "更多")
  static let onlineSince = Phrase("online since", "在线，自")
  static let offlineSince = Phrase("offline since", "离线，自")
  static let lastConnection = Phrase("Previous connection", "上一次连接")
  static let inFront = Phrase("in the foreground", "前台")
  static let inBackground = Phrase("in the background", "后台")
  static let appIs = Phrase("App state", "应用状态")
  static let appVersion = Phrase("App version", "应用版本")
  static let registered = Phrase("Registered", "注册时间")
  static let since = Phrase("since", "自")
  static let badge = Phrase("Badge", "角标")
  static let mobileNumber = Phrase("Mobile number", "手机号")
  static let testDevice = Phrase("Test device", "测试设备")
  static let tokenWord = Phrase("Token", "Token")
  static let noTokenWord = Phrase("none", "无")
  static let reportedAt = Phrase("last reported", "最近上报")
  static let serviceSaid = Phrase("Last response", "最近的应答")
  static let serviceTook = Phrase("accepted", "已接收")
  static let pushesOfDevice = Phrase("Recent pushes", "最近的推送")
  static let noPushesOfDevice = Phrase(
    "None of the app's recent pushes was for this device.", "应用最近的推送中没有发给该设备的。")
  static let events = Phrase("Recent events", "最近事件")
  static let eventRegistered = Phrase("registered", "注册")
  static let eventAlias = Phrase("alias set: {}", "设置别名：{}")
  static let eventNoAlias = Phrase("alias removed", "移除别名")
  static let eventTag = Phrase("tag set: {}", "设置标签：{}")
  static let eventTagLost = Phrase("tag removed: {}", "移除标签：{}")
  static let eventToken = Phrase("reported a token", "上报 Token")
  static let eventTokenLost = Phrase("lost its token", "失去 Token")
  static let eventLogin = Phrase("logged in", "登录")
  static let eventEnd = Phrase("disconnected: {}", "断开连接：{}")
  static let eventTook = Phrase("received a push: {}", "收到推送：{}")
  static let eventShown = Phrase("showed a push: {}", "展示推送：{}")
  static let eventTapped = Phrase("tapped a push: {}", "点击推送：{}")
}

extension ConnectionEnd {
  /// How it ended, in a few words.
  var phrase: Phrase {
    switch self {
    case .unknown, .connected: Phrase("not recorded", "没有记录")
    case .heartbeatLost: Phrase("heartbeat lost", "心跳丢失")
    case .closedByPeer: Phrase("closed by the device or the network", "设备或网络关闭")
    case .replacedByLogin: Phrase("replaced by another login", "被另一次登录顶替")
    case .serverDrain: Phrase("the server shut down normally", "服务器正常停止")
    case .appDisabled: Phrase("the app was disabled", "应用被停用")
    case .tooSlow: Phrase("the device did not read", "设备未读取数据")
    case .protocolError: Phrase("protocol violation", "违反通信协议")
    case .loggedOut: Phrase("the app logged out", "应用退出登录")
    case .connectionError: Phrase("connection error", "连接中断")
    case .serverStopped: Phrase("the server stopped", "服务器停止")
    case .registrationReplaced: Phrase("replaced by another registration", "被新的注册取代")
    }
  }
}

extension TokenEnd {
  /// Why there is no token of a channel, in a few words.
  func phrase(of channel: ChannelInfo) -> Phrase {
    let service = Words.by(channel)
    return switch self {
    case .none: Phrase("never reported", "从未上报")
    case .byDevice: Phrase("removed by the app", "应用已清除")
    case .byService: Phrase("{} reported it as inactive", "{} 返回 Token 已失效").with(each: service)
    case .taken: Phrase("reported by another registration", "被另一个注册使用")
    case .wrongService:
      Phrase("rejected by {}: wrong environment or invalid token", "{}不认识：环境不符或 Token 有误").with(each: service)
    case .otherApp:
      Phrase("{} reported that it belongs to another app", "{} 返回 Token 属于其他应用").with(each: service)
    }
  }
}
