import BorealisBase

/// What the page of the virtual device says.
extension Words {
  static let virtualDevice = Phrase("Virtual device", "虚拟设备")
  static let tryWithVirtualDevice = Phrase("Try it with a virtual device", "用虚拟设备试一试")
  static let virtualDeviceText = Phrase(
    "A device in this browser. It uses the same protocol as the library in your app and shows what a phone would show.",
    "运行在浏览器中的设备：与应用内 SDK 使用相同的协议，并像手机一样显示收到的内容。")
  static let needsScript = Phrase("This page needs JavaScript.", "此页面需要启用 JavaScript。")
  static let thisDevice = Phrase("Device", "设备信息")
  static let startDevice = Phrase("Start device", "启动设备")
  static let stopDevice = Phrase("Disconnect", "断开连接")
  static let forgetDevice = Phrase("Reset device", "重置设备")
  static let forgetHint = Phrase(
    "The device is kept when you reload the page. After a reset, the next start creates a new registration ID.",
    "刷新页面后仍是同一台设备；重置后再启动将获得新的 Registration ID。")
  static let appIsOpen = Phrase(
    "The app is in the foreground (iOS apps in the background receive nothing over the direct connection)",
    "应用在前台（iOS 应用在后台时不通过长连接接收）")
  static let aliasOfDevice = Phrase("Alias of this device", "该设备的别名")
  static let tagsOfDevice = Phrase("Tags of this device, separated by commas", "该设备的标签，以逗号分隔")
  static let deviceKey = Phrase("ID of the encryption key", "加密密钥 ID")
  static let replaceKey = Phrase("Replace key", "更换密钥")
  static let replaceKeyHint = Phrase(
    "Messages encrypted with the previous key can be read for eleven more days.",
    "使用旧密钥加密的消息在 11 天内仍可解密。")
  static let whileClosed = Phrase("Notifications while the page is closed", "关闭页面后的通知")
  static let setUpKey = Phrase("Set up a key", "配置密钥")
  static let turnOnHere = Phrase("Turn on in this browser", "在此浏览器中开启")
  static let turnOffHere = Phrase("Turn off", "关闭")
  static let sendIt = Phrase("Send a push to it", "向它发送推送")
  static let firstTitle = Phrase("Hello", "你好")
  static let firstText = Phrase("Your first push has arrived.", "您的第一条推送已送达。")
  static let moreChoices = Phrase("All options", "更多选项")
  static let phoneEmpty = Phrase("Notifications appear here. Tap one to open it.", "通知将显示在这里，点击即可打开。")
  static let whatItSays = Phrase("Protocol log", "通信日志")

  /// What the script says, by the names that it uses; those of frames are the protocol's.
  static let virtualDeviceScript: [(name: String, phrase: Phrase)] = [
    ("fresh", Phrase("Not started", "未启动")),
    ("connecting", Phrase("Connecting…", "连接中…")),
    ("online", Phrase("Online", "在线")),
    ("away", Phrase("Connection lost; next attempt in {} s", "连接已断开，{} 秒后重试")),
    ("stopped", Phrase("Disconnected", "已断开")),
    ("replaced", Phrase("Open in another tab or window", "已在其他标签页或窗口中打开")),
    ("offline", Phrase("(was waiting)", "（离线消息）")),
    ("opened", Phrase("Opened", "已打开")),
    ("message", Phrase("Custom message", "自定义消息")),
    ("inApp", inAppMessage),
    ("saved", Phrase("Saved.", "已保存。")),
    ("sent", Phrase("Accepted.", "已受理。")),
    ("result", Phrase("Delivery status", "查看推送结果")),
    ("notSent", Phrase("The server cannot be reached.", "无法连接服务器。")),
    ("logConnect", Phrase("opens a WebSocket", "建立 WebSocket 连接")),
    ("logClosed", Phrase("the WebSocket is closed ({})", "WebSocket 已关闭（{}）")),
    ("HELLO", Phrase("supports protocol versions 1 to 7", "支持协议版本 1 至 7")),
    ("HELLO_OK", Phrase("uses version {}", "使用版本 {}")),
    ("REGISTER", Phrase("requests a registration ID", "申请 Registration ID")),
    ("REGISTER_OK", Phrase("assigned {}", "分配 {}")),
    ("LOGIN", Phrase("logs in", "登录")),
    ("LOGIN_OK", Phrase("heartbeat every {} s, pending pushes: {}", "心跳间隔 {} 秒，待送达推送 {} 条")),
    (
      "FACTS_WANTED",
      Phrase("asks for facts, of which a virtual device reports none", "请求上报设备信息（虚拟设备不上报）")
    ),
    ("PUSH", Phrase("{}, {} bytes", "{}，{} 字节")),
    ("ACK", Phrase("acknowledges {}", "确认收到 {}")),
    ("ACK_AGE", Phrase("acknowledges {}", "确认收到 {}")),
    ("receipt1", Phrase("{} was shown", "{} 已展示")),
    ("receipt2", Phrase("{} was tapped", "{} 已点击")),
    ("receipt3", Phrase("{} was shown inside the app", "{} 已在应用内展示")),
    ("receipt4", Phrase("{} was tapped inside the app", "{} 已在应用内点击")),
    ("RECALL", Phrase("{} is recalled", "{} 已撤回")),
    ("PING", Phrase("heartbeat", "心跳")),
    ("PONG", Phrase("heartbeat response", "心跳回应")),
    ("GET_ALIAS", Phrase("requests its alias", "查询别名")),
    ("SET_ALIAS", Phrase("sets the alias {}", "设置别名 {}")),
    ("DELETE_ALIAS", Phrase("deletes its alias", "删除别名")),
    ("GET_TAGS", Phrase("requests its tags", "查询标签")),
    ("SET_TAGS", Phrase("sets the tags {}", "设置标签 {}")),
    ("keyReplaced", Phrase("The server has the new key.", "新密钥已上报服务器。")),
    ("SET_KEY", Phrase("tells its public key", "上报设备公钥")),
    ("GET_KEY", Phrase("requests the key {}", "获取密钥 {}")),
    ("encrypted", Phrase("encrypted", "端到端加密")),
    ("waitsForKey", Phrase("An encrypted message waits for the key {}.", "一条加密消息正在等待密钥 {}。")),
    ("unreadable", Phrase("An encrypted message cannot be read (code {}).", "一条加密消息无法解密（错误码 {}）。")),
    ("code6040", Phrase("no such key yet", "密钥尚不存在")),
    ("inFront", Phrase("the app is in the foreground", "应用切换到前台")),
    ("behind", Phrase("the app is in the background", "应用切换到后台")),
    ("LOGOUT", Phrase("logs out", "退出登录")),
    ("GO_AWAY", Phrase("the server ends the session: {}", "服务器结束会话：{}")),
    ("ERROR", Phrase("the server refuses: {}", "服务器拒绝：{}")),
    ("goAway1", Phrase("server is stopping, reconnect soon", "服务器停止，请稍后重连")),
    ("goAway2", Phrase("the device logged in elsewhere", "该设备已在别处登录")),
    ("goAway4", Phrase("no heartbeat", "心跳超时")),
    ("goAway6", Phrase("logged out", "已退出登录")),
    ("goAway8", Phrase("the app is disabled", "应用已停用")),
    ("code", Phrase("code {}", "错误码 {}")),
    ("code0", Phrase("done", "成功")),
    ("SET_CHANNEL_TOKEN", Phrase("tells its subscription for Web Push", "上报 Web Push 订阅")),
    ("webPush", Phrase("Web Push: the service worker showed {}", "Web Push：Service Worker 已展示 {}")),
    ("webPushTapped", Phrase("Web Push: {} was tapped", "Web Push：{} 已点击")),
    (
      "webPush-on",
      Phrase(
        "On. Disconnect the device or close the page, and notifications come through the browser's push service.",
        "已开启。断开设备连接或关闭页面后，通知将经浏览器的推送服务送达。")
    ),
    (
      "webPush-off",
      Phrase(
        "Off. While the page is closed, notifications wait for the next start.", "未开启。页面关闭期间，通知等到下次启动设备时送达。")
    ),
    (
      "webPush-untold",
      Phrase(
        "On in this browser, but the server does not know the subscription yet: start the device.",
        "浏览器中已开启，但服务器尚未收到订阅：请启动设备。")
    ),
    (
      "webPush-refused",
      Phrase("The server rejected this browser's subscription (code {}).", "服务器未接受此浏览器的订阅（错误码 {}）。")
    ),
    (
      "webPush-denied",
      Phrase(
        "This browser blocks notifications from this site. Allow them in the browser's settings for the site.",
        "浏览器已禁止本站通知，请在浏览器的网站设置中允许。")
    ),
    (
      "webPush-insecure",
      Phrase(
        "Web Push needs a page over HTTPS. Open the console over HTTPS, or on the server's own machine.",
        "Web Push 要求页面使用 HTTPS。请通过 HTTPS 打开控制台，或在服务器本机上打开。")
    ),
    (
      "webPush-unsupported",
      Phrase(
        "This browser has no Web Push. On an iPhone or iPad only web apps on the home screen have it.",
        "此浏览器不支持 Web Push。在 iPhone 和 iPad 上，仅添加到主屏幕的网页应用支持。")
    ),
    ("webPush-nokey", Phrase("This app has no key for Web Push.", "该应用尚未配置 Web Push 密钥。")),
    (
      "webPush-ios",
      Phrase("Web Push reaches devices of the platform Android only.", "Web Push 仅适用于 Android 平台的设备。")
    ),
    ("webPushProblem", Phrase("The browser answers: {}", "浏览器返回：{}")),
    ("code6017", Phrase("the server does not support this", "服务器不支持此操作")),
    ("code6002", Phrase("no response", "未收到回应")),
    (
      "code6003",
      Phrase(
        "the alias has characters that are not allowed: use letters, digits, Chinese, _ and @!#$&*+=.|￥",
        "别名包含非法字符：仅支持字母、数字、中文、_ 和 @!#$&*+=.|￥")
    ),
    ("code6004", Phrase("the alias is over 40 characters", "别名超过 40 个字符")),
    (
      "code6005",
      Phrase(
        "a tag has blanks or invisible characters", "标签含有空格或不可见字符")
    ),
    ("code6006", Phrase("a tag is over 32 characters", "标签超过 32 个字符")),
    ("code6018", Phrase("the device would have over 1000 tags", "该设备的标签将超过 1000 个")),
    ("code6043", Phrase("devices can add no more tags to this app", "该应用的标签已满，设备不能再新增标签")),
    (
      "code6044",
      Phrase("the device has made 1000 new tags today", "该设备今天已新建 1000 个标签")
    ),
    ("code6011", Phrase("too many operations: wait a few seconds", "操作过于频繁，请稍候")),
    (
      "aliasFull",
      Phrase(
        "The alias “{}” already has 10 devices, which is the limit (code 6027). This device keeps “{}”. Remove the alias from one of them:",
        "别名“{}”已绑定 10 台设备，达到上限（错误码 6027）。该设备的别名仍为“{}”。请从其中一台移除：")
    ),
    (
      "aliasFullNone",
      Phrase(
        "The alias “{}” already has 10 devices, which is the limit (code 6027). This device has no alias. Remove the alias from one of them:",
        "别名“{}”已绑定 10 台设备，达到上限（错误码 6027）。该设备仍没有别名。请从其中一台移除：")
    ),
    ("aliasHolders", Phrase("devices with this alias", "查看这些设备")),
    ("tooLong", Phrase("“{}” is too long.", "“{}”过长。")),
    ("code6027", Phrase("the alias already has 10 devices", "该别名已绑定 10 台设备")),
  ]
}
