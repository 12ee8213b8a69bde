import PushDomain

extension Phrase {
  /// A text of a diagnosis.
  init(_ text: WhyText) { self.init(text.english, text.chinese) }
}

extension Words {
  static let whyTitle = Phrase("Why didn't it arrive?", "为什么没收到？")
  static let whyText = Phrase(
    "Name a device: each step of this push's way to it is looked at.", "输入一台设备，逐步检查此推送到达它的过程。")
  static let whyDevice = Phrase("Registration ID, alias or Apple's token", "Registration ID、别名或苹果 Token")
  static let whyLook = Phrase("Look", "检查")
  static let whySeveral = Phrase("Several devices have this alias. Which one?", "该别名绑定了多台设备，请选择：")
  static let whyFirst = Phrase("What went wrong first", "首个问题")
  static let whyToDo = Phrase("What to do", "处理建议")
  static let whySteps = Phrase("Step by step", "逐步检查")
  static let whyScript = Phrase("The same for scripts", "脚本调用")
  static let whyPush = Phrase("The push", "推送")
  static let whyDevicePage = Phrase("The device", "设备")
  static let why = Phrase("Why?", "为什么？")

  static let findAnyDevice = Phrase(
    "Registration ID, alias, tag or Apple's token", "Registration ID、别名、标签或苹果 Token")
  static let noSuchDevice = Phrase(
    "No device has this registration ID, alias, tag or token.", "没有匹配该 Registration ID、别名、标签或 Token 的设备。")
  static let deviceGone = Phrase(
    "This registration is no more: its app was installed anew, or its data was cleared.",
    "该注册已失效：应用被重装或清除了数据。")
  static let deviceSuccessor = Phrase("The device has this registration now:", "设备现在的注册：")
  static let devicesFound = Phrase("Devices with this tag: {}", "带有该标签的设备：{} 台")
  static let devicesWithAlias = Phrase("Devices with this alias: {}", "绑定该别名的设备：{} 台")
  static let more = Phrase("More", "更多")
  static let onlineSince = Phrase("online since", "在线，自")
  static let offlineSince = Phrase("offline since", "离线，自")
  static let lastConnection = Phrase("The connection before", "上一次连接")
  static let inFront = Phrase("in the foreground", "前台")
  static let inBackground = Phrase("in the background", "后台")
  static let appIs = Phrase("The app is", "应用状态")
  static let appVersion = Phrase("Version of the app", "应用版本")
  static let registered = Phrase("Registered", "注册时间")
  static let since = Phrase("since", "自")
  static let badge = Phrase("Badge", "角标")
  static let mobileNumber = Phrase("Mobile number", "手机号")
  static let testDevice = Phrase("Device for tests", "测试设备")
  static let tokenWord = Phrase("Token", "Token")
  static let noTokenWord = Phrase("none", "无")
  static let toldAt = Phrase("last told", "最近上报")
  static let appleSaid = Phrase("Apple's latest answer", "苹果最近的应答")
  static let appleTook = Phrase("taken", "已接收")
  static let pushesOfDevice = Phrase("Latest pushes to it", "最近的推送")
  static let noPushesOfDevice = Phrase(
    "Among the app's latest pushes none was for this device.", "应用最近的推送中没有发给该设备的。")
  static let events = Phrase("Latest events", "最近事件")
  static let eventRegistered = Phrase("registered", "注册")
  static let eventAlias = Phrase("alias set: {}", "设置别名：{}")
  static let eventNoAlias = Phrase("alias removed", "移除别名")
  static let eventTag = Phrase("tag set: {}", "设置标签：{}")
  static let eventTagLost = Phrase("tag removed: {}", "移除标签：{}")
  static let eventToken = Phrase("told a token", "上报 Token")
  static let eventTokenLost = Phrase("lost its token", "失去 Token")
  static let eventLogin = Phrase("logged in", "登录")
  static let eventEnd = Phrase("disconnected: {}", "断开连接：{}")
  static let eventTook = Phrase("took a push: {}", "收到推送：{}")
  static let eventShown = Phrase("showed a push: {}", "展示推送：{}")
  static let eventTapped = Phrase("tapped: {}", "点击推送：{}")
}

extension ConnectionEnd {
  /// How it ended, in a few words.
  var phrase: Phrase {
    switch self {
    case .unknown, .connected: Phrase("not noted", "没有记录")
    case .heartbeatLost: Phrase("heartbeat lost", "心跳丢失")
    case .closedByPeer: Phrase("closed by the device or the network", "设备或网络关闭")
    case .replacedByLogin: Phrase("replaced by another login", "被另一次登录顶替")
    case .serverDrain: Phrase("the server went down in good order", "服务器正常停止")
    case .appDisabled: Phrase("the app was switched off", "应用被停用")
    case .tooSlow: Phrase("the device did not read", "设备未读取数据")
    case .protocolError: Phrase("broke the rules of the protocol", "违反通信协议")
    case .loggedOut: Phrase("the app logged out", "应用退出登录")
    case .connectionError: Phrase("the connection broke", "连接中断")
    case .serverStopped: Phrase("the server stopped", "服务器停止")
    case .registrationReplaced: Phrase("another registration took its place", "被新的注册取代")
    }
  }
}

extension TokenEnd {
  /// Why there is no token, in a few words.
  var phrase: Phrase {
    switch self {
    case .none: Phrase("none was told", "从未上报")
    case .byDevice: Phrase("the app took it away", "应用已清除")
    case .byApple: Phrase("Apple said that it is gone", "苹果告知已失效")
    case .taken: Phrase("another registration told the same one", "被另一个注册使用")
    case .wrongService:
      Phrase("Apple does not know it: wrong service, or damaged", "苹果不认识：环境不符或 Token 有误")
    case .otherTopic: Phrase("Apple said that it is another app's", "苹果告知属于其他应用")
    }
  }
}
