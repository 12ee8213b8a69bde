/// The texts of sending a push, and of whom it is for.
extension Words {
  // MARK: Whom it is for

  static let toTag = Phrase("tag {}", "标签 {}")
  static let toTags = Phrase("tags {}", "标签 {}")
  static let toNoTag = Phrase("not {}", "排除标签 {}")
  static let toAlias = Phrase("alias {}", "别名 {}")
  static let toAliases = Phrase("aliases {}", "别名 {}")
  static let toDevice = Phrase("device {}", "设备 {}")
  static let toDevices = Phrase("devices {}", "设备 {}")
  static let toFile = Phrase("file {}", "文件 {}")
  static let toActivity = Phrase("Live Activity {}", "实时活动 {}")
  static let onlyTestDevices = Phrase("only devices for tests", "仅测试设备")
  static let or = Phrase("{} or {}", "{} 或 {}")
  static let and = Phrase("{} and {}", "{} 且 {}")
  static let andMore = Phrase("{} and {} more", "{} 等，另有 {} 个")
  static let deviceCountOne = Phrase("{} device", "{} 台设备")
  static let deviceCount = Phrase("{} devices", "{} 台设备")
  static let targetCountOne = Phrase("{} target", "{} 个目标")
  static let targetCount = Phrase("{} targets", "{} 个目标")

  // MARK: The form

  static let registrationIDs = Phrase("Registration IDs", "Registration ID")
  static let aliases = Phrase("Aliases", "别名")
  static let someTags = Phrase("Tags", "标签")
  static let severalNames = Phrase("Several with commas between them.", "多个以逗号分隔。")
  static let oneTagIsEnough = Phrase("A device needs one of them.", "设备满足其一即可。")
  static let unknownNames = Phrase("Known: {} of {}. Unknown: {}", "已识别 {}/{}，未找到：{}")
  static let toVirtualDevice = Phrase("To my virtual device", "发送到我的虚拟设备")
  static let nothingIsShown = Phrase(
    "Nothing is shown: the app gets this text.", "不显示通知，内容直接交给应用处理。")
  static let next = Phrase("Next", "下一步")
  static let extras = Phrase("Extras", "附加字段")
  static let extrasHint = Phrase(
    "Names and values that the app gets, such as a page to open.", "传给应用的键值对，例如要打开的页面。")
  static let extraName = Phrase("Name {}", "键 {}")
  static let extraValue = Phrase("Value {}", "值 {}")
  static let iosBadge = Phrase("Badge (iOS)", "角标（iOS）")
  static let iosBadgeHint = Phrase("A number, +1 or -1; empty leaves it as it is.", "数字、+1 或 -1；留空则不变。")
  static let iosSound = Phrase("Sound (iOS)", "声音（iOS）")
  static let iosSoundHint = Phrase(
    "default, or a file of the app; empty for none.", "default 或应用内的声音文件；留空则静音。")
  static let iosThread = Phrase("Group on the screen (iOS, thread-id)", "通知分组（iOS，thread-id）")
  static let androidChannel = Phrase("Channel (Android, channel_id)", "通知渠道（Android，channel_id）")
  static let replacesPush = Phrase("Replaces the push with this msg_id", "覆盖推送（msg_id）")
  static let collapseID = Phrase(
    "Replaces banners of the same name (iOS, apns_collapse_id)", "替换同名通知（iOS，apns_collapse_id）")

  static let pushBadge = Phrase(
    "The badge is a number to 99999, with a sign if it changes by so much.", "角标须为 99999 以内的数字，增减时带正负号。")
  static let pushReservedExtra = Phrase("An extra of that name is the server's own.", "该附加字段名由系统保留。")
  static let pushChannel = Phrase("The channel's name is too long.", "通知渠道名称过长。")
  static let pushOverrides = Phrase(
    "A push can replace one of this app's that is no older than a day and not replaced yet; this msg_id is none.",
    "只能覆盖本应用一天之内且未被覆盖过的推送，该 msg_id 不符合。")
  static let pushCollapse = Phrase(
    "The name of what it replaces has at most 64 bytes.", "替换通知的名称最多 64 字节。")

  // MARK: Asking once more

  static let keptFor = Phrase("Kept for", "离线保留")
  static let hourCountOne = Phrase("{} hour", "{} 小时")
  static let hourCount = Phrase("{} hours", "{} 小时")
  static let minuteCountOne = Phrase("{} minute", "{} 分钟")
  static let minuteCount = Phrase("{} minutes", "{} 分钟")
  static let onlyOnline = Phrase("only who is online", "仅在线设备")
  static let replaces = Phrase("Replaces", "覆盖")
  static let allDevicesOf = Phrase("All {} of {} get it.", "将发送给 {}（{} 的全部设备）。")
  static let broadcastsLeft = Phrase(
    "It is number {} of today's {} pushes to everybody.", "今日广播推送：第 {} 条，共 {} 条。")
  static let broadcastsOver = Phrase(
    "Today's {} pushes to everybody are used up; the count starts again at 00:00 ({}).",
    "今日 {} 条广播推送已用完，将于 00:00（{}）重新计数。")
  static let notKnownNames = Phrase("Unknown: {}", "未找到：{}")

  // MARK: What became of it

  static let sumExpired = Phrase("Expired", "已过期")
  static let sumRecalled = Phrase("Taken back", "已撤回")
  static let whoStandsWhere = Phrase("Targets", "目标设备")
  static let firstTargets = Phrase(
    "The first {} of {}, those without it before the others.", "前 {} 个，共 {} 个，未收到的在前。")
  static let whyShort = Phrase("Why?", "为什么？")
  static let connection = Phrase("Connection", "连接")
  static let deviceName = Phrase("Device", "设备")
  static let noKeyForApple = Phrase(
    "{} gets this only while its app is open: there is no key for Apple.",
    "{} 仅在应用打开时才能收到：未配置苹果推送密钥。")
  static let noKeyForAppleSeveral = Phrase(
    "{} get this only while their app is open: there is no key for Apple.",
    "{} 仅在应用打开时才能收到：未配置苹果推送密钥。")
  static let iPhoneOne = Phrase("{} iPhone", "{} 台 iPhone")
  static let iPhones = Phrase("{} iPhones", "{} 台 iPhone")
  static let recallFrom = Phrase(
    "Take it back from {}? Delivered already: {}.", "从 {}撤回？已送达：{}。")
  static let takenBackFrom = Phrase("Taken back from {}.", "已从 {}撤回。")
  static let takenBackTooLate = Phrase("Taken back, but every target had it.", "已撤回，但所有目标均已收到。")

  // MARK: The way in time

  static let timeline = Phrase("Its way", "推送过程")
  static let accepted = Phrase("Accepted", "已受理")
  static let resolvedTo = Phrase("For {}", "目标 {}")
  static let viaOwn = Phrase("{} over our connection", "长连接 {} 台")
  static let viaApple = Phrase("{} by Apple", "苹果 {} 台")
  static let viaNobody = Phrase("to nobody", "未下发")
  static let lastDelivered = Phrase("Last delivered", "最后送达")
  static let replaced = Phrase("Replaced", "已覆盖")
  static let statePending = Phrase("waiting", "等待中")
  static let stillWaiting = Phrase("Waiting: {}, at most until", "等待中 {} 台，最晚至")

  // MARK: First steps

  static let firstSteps = Phrase("First steps", "快速开始")
  static let stepsDone = Phrase("{} of {} done", "已完成 {}/{}")
  static let stepDone = Phrase("done", "已完成")
  static let stepOptional = Phrase("if you need it", "可选")
  static let stepDevice = Phrase("Open a device", "打开一台设备")
  static let stepDeviceText = Phrase(
    "A virtual device in your browser takes a click; your own app registers by itself.",
    "在浏览器中一键打开虚拟设备；集成 SDK 的应用会自动注册。")
  static let stepPush = Phrase("Send it a push", "向它发送推送")
  static let stepPushText = Phrase(
    "From here, to see it arrive and what the server knows of it.", "在控制台发送，查看送达过程和结果。")
  static let stepServer = Phrase("Send one from your server", "从您的服务端发送")
  static let stepServerText = Phrase(
    "With the master secret and the registration ID of your device filled in:",
    "填入 Master Secret 和设备的 Registration ID：")
  static let stepApple = Phrase("Upload a key for Apple", "上传苹果推送密钥")
  static let stepAppleText = Phrase(
    "So that iPhones get notifications while the app is closed.", "应用未打开时，iPhone 也能收到通知。")
  static let stepCallbacks = Phrase("Let your server be told", "设置回调")
  static let stepCallbacksText = Phrase(
    "Each delivery, display and tap goes to an address of yours.", "将送达、展示和点击事件发送到您的服务器。")
  static let welcome = Phrase("Welcome. Let us send a first push.", "欢迎使用，来发送第一条推送吧。")
  static let welcomeText = Phrase(
    "Make an app, open a virtual device in your browser, and send it something: it takes a minute and needs no phone.",
    "新建应用，在浏览器中打开虚拟设备并发送推送：一分钟即可完成，无需手机。")
  static let makeFirstApp = Phrase("Make your first app", "新建第一个应用")
}
