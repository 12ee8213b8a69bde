import BorealisBase
import Model

/// The texts of sending a push, and of its audience.
extension Words {
  static let classService = Phrase("Service message", "服务与通讯类")
  static let classMarketing = Phrase("Marketing", "资讯营销类")
  static let classRegistered = Phrase("Class as registered with the maker", "分类以厂商后台登记为准")
  static let classNamed = Phrase("{} ({})", "{}（{}）")
  static let isCut = Phrase("{} is cut to {} characters", "{}截断为 {} 个字符")
  static let tooLargeForChannel = Phrase("too large: not sent over this channel", "内容过大，不经该通道发送")
  static let andThen = Phrase("{}; {}", "{}；{}")
  static let quotaUsedUp = Phrase("today's quota is used up, known since {}", "今日配额已用完（获知于 {}）")
  static let quotaLeft = Phrase("{} of today's {} left, known since {}", "今日剩余 {}/{}（获知于 {}）")
  // MARK: Whom it is for

  static let toTag = Phrase("tag {}", "标签 {}")
  static let toTags = Phrase("tags {}", "标签 {}")
  static let toNoTag = Phrase("not {}", "排除标签 {}")
  static let toAlias = Phrase("alias {}", "别名 {}")
  static let toAliases = Phrase("aliases {}", "别名 {}")
  static let toDevice = Phrase("device {}", "设备 {}")
  static let toDevices = Phrase("devices {}", "设备 {}")
  static let toSegment = Phrase("segment {}", "用户分群 {}")
  static let toFile = Phrase("file {}", "文件 {}")
  static let toActivity = Phrase("Live Activity {}", "实时活动 {}")
  static let onlyTestDevices = Phrase("test devices only", "仅测试设备")
  static let or = Phrase("{} or {}", "{} 或 {}")
  static let and = Phrase("{} and {}", "{} 且 {}")
  static let andAlso = Phrase("{}, and {}", "{}，且{}")
  static let andMore = Phrase("{} and {} more", "{} 等，另有 {} 个")
  static let deviceCountOne = Phrase("{} device", "{} 台设备")
  static let deviceCount = Phrase("{} devices", "{} 台设备")
  static let targetCountOne = Phrase("{} target", "{} 个目标")
  static let targetCount = Phrase("{} targets", "{} 个目标")

  static let encrypted = Phrase("encrypted: only devices read it", "已加密，仅设备可读")

  // MARK: The form

  static let registrationIDs = Phrase("Registration IDs", "Registration ID")
  static let aliases = Phrase("Aliases", "别名")
  static let someTags = Phrase("Tags", "标签")
  static let suggestions = Phrase("Suggestions", "候选项")
  static let severalNames = Phrase("Separate several with commas.", "多个以逗号分隔。")
  static let oneTagIsEnough = Phrase("A device matches if it has at least one of them.", "设备满足其一即可。")
  static let unknownNames = Phrase("Known: {} of {}. Unknown: {}", "已识别 {}/{}，未找到：{}")
  static let toVirtualDevice = Phrase("Send to my virtual device", "发送到我的虚拟设备")
  static let nothingIsShown = Phrase(
    "No notification is shown. The app receives this text.", "不显示通知，内容直接交给应用处理。")
  static let next = Phrase("Next", "下一步")
  static let extras = Phrase("Extras", "附加字段")
  static let extrasHint = Phrase(
    "Names and values for the app, such as a page to open.", "传给应用的键值对，例如要打开的页面。")
  static let extraName = Phrase("Name {}", "键 {}")
  static let extraValue = Phrase("Value {}", "值 {}")
  static let iosBadge = Phrase("Badge (iOS)", "角标（iOS）")
  static let iosBadgeHint = Phrase(
    "A number, +1 or -1. Leave it empty to keep the badge.", "数字、+1 或 -1；留空则不变。")
  static let iosSound = Phrase("Sound (iOS)", "声音（iOS）")
  static let iosSoundHint = Phrase(
    "default or a sound file of the app. Leave it empty for no sound.", "default 或应用内的声音文件；留空则静音。")
  static let iosThread = Phrase("Notification group (iOS, thread-id)", "通知分组（iOS，thread-id）")
  static let androidChannel = Phrase("Channel (Android, channel_id)", "通知渠道（Android，channel_id）")
  static let quickApp = Phrase("Quick App", "快应用")
  static let quickAppPage = Phrase("Page to open (quick app)", "打开的页面（快应用）")
  static let change = Phrase("Change", "返回修改")
  static let draftHeld = Phrase(
    "You were logged out before this push was sent. Nothing was sent. Check it and continue.",
    "登录已过期，推送没有发送。请检查后继续。")
  static let draftLost = Phrase("This draft is no longer available. Create it again.", "该草稿已不再保存，请重新填写。")
  static let draftSent = Phrase("Already sent", "已发送")
  static let draftSentText = Phrase(
    "This push was already sent. It is not sent a second time.", "此推送已发送，不会重复发送。")
  static let draftAgain = Phrase("Create a similar push", "以此内容新建推送")
  static let replacesPush = Phrase("Replaces the push with this msg_id", "覆盖推送（msg_id）")
  static let collapseID = Phrase(
    "Replaces notifications with the same ID (iOS, apns_collapse_id)", "替换同 ID 的通知（iOS，apns_collapse_id）")

  static let fallbackAfter = Phrase(
    "If not acknowledged, send over the phone's push service after (seconds)", "未确认时转厂商通道（秒）")
  static let fallbackHint = Phrase(
    "Devices that are online get the push over their connection first. Leave it empty to send it there only.",
    "在线设备先走长连接，超过该时间未确认则改由厂商通道下发；留空则不转。")
  static let fallsBack = Phrase("If not acknowledged", "未确认时")
  static let fallsBackAfterOne = Phrase(
    "over the phone's push service after {} second", "{} 秒后转厂商通道")
  static let fallsBackAfter = Phrase(
    "over the phone's push service after {} seconds", "{} 秒后转厂商通道")
  static let waitsFor = Phrase("Awaiting acknowledgement", "等待设备确认")
  /// For how many a channel takes over what devices do not acknowledge.
  static func then(_ channel: ChannelInfo, _ count: String) -> Phrase {
    Phrase("\(count), then \(channel.english)", "\(count) 台，超时转\(channel.chinese)")
  }
  static let notInTime = Phrase("Not acknowledged in time", "超时未确认")
  static let tokenGone = Phrase("Push token no longer valid", "推送 Token 已失效")
  static func handedOver(_ channel: ChannelInfo, _ count: String) -> Phrase {
    Phrase("\(count) through \(channel.english) instead", "\(count) 台改走\(channel.chinese)")
  }
  static let pushFallback = Phrase(
    "The time for the acknowledgement must be 1 to 86400 seconds, and no longer than the push is kept. It needs a notification.",
    "确认时限须为 1 到 86400 秒，且不超过离线保留时间；仅用于通知。")

  static let pushBadge = Phrase(
    "Enter a number up to 99999, with a sign to change the badge by that amount.", "角标须为 99999 以内的数字，增减时带正负号。"
  )
  static let pushReservedExtra = Phrase("This extra name is reserved.", "该附加字段名由系统保留。")
  static let pushChannel = Phrase("The channel ID is too long.", "通知渠道名称过长。")
  static let pushOverrides = Phrase(
    "A push can replace a push of the same app that is at most one day old and not replaced yet. This msg_id does not qualify.",
    "只能覆盖本应用一天之内且未被覆盖过的推送，该 msg_id 不符合。")
  static let pushCollapse = Phrase(
    "The collapse ID must not exceed 64 bytes.", "apns_collapse_id 最多 64 字节。")

  // MARK: Asking once more

  static let keptFor = Phrase("Kept for", "离线保留")
  static let hourCountOne = Phrase("{} hour", "{} 小时")
  static let hourCount = Phrase("{} hours", "{} 小时")
  static let minuteCountOne = Phrase("{} minute", "{} 分钟")
  static let minuteCount = Phrase("{} minutes", "{} 分钟")
  static let onlyOnline = Phrase("online devices only", "仅在线设备")
  static let replaces = Phrase("Replaces", "覆盖")
  static let allDevicesOf = Phrase("It goes to all {} of {}.", "将发送给 {}（{} 的全部设备）。")
  static let allDevicesOn = Phrase("It goes to all {} of {} on {}.", "将发送给 {}（{} 在 {} 平台上的全部设备）。")
  static let draftRestored = Phrase("What you typed earlier was restored.", "已恢复上次未提交的内容。")
  static let clearForm = Phrase("Clear", "清空")
  static let broadcastsLeft = Phrase(
    "Push {} of today's {} pushes to everyone.", "今日广播推送：第 {} 条，共 {} 条。")
  static let broadcastsOver = Phrase(
    "All of today's {} pushes to everyone are used. The count resets at 00:00 ({}).",
    "今日 {} 条广播推送已用完，将于 00:00（{}）重新计数。")
  static let notKnownNames = Phrase("Unknown: {}", "未找到：{}")

  // MARK: Its outcome

  static let sumExpired = Phrase("Expired", "已过期")
  static let sumRecalled = Phrase("Recalled", "已撤回")
  static let whoStandsWhere = Phrase("Targets", "目标设备")
  static let firstTargets = Phrase(
    "The first {} of {}, undelivered targets first.", "前 {} 个，共 {} 个，未送达的在前。")
  static let whyShort = Phrase("Why?", "为什么？")
  static let connection = Phrase("Connection", "连接")
  static let deviceName = Phrase("Device", "设备")
  static let iPhoneOne = Phrase("{} iPhone", "{} 台 iPhone")
  static let iPhones = Phrase("{} iPhones", "{} 台 iPhone")
  static let recallFrom = Phrase(
    "Recall it from {}? Already delivered: {}.", "从 {}撤回？已送达：{}。")
  static let recallFromAccepted = Phrase(
    "Recall it from {}? Already delivered, or accepted by a channel: {}.", "从 {}撤回？已送达或通道已接收：{}。")
  static let recalledFrom = Phrase("Recalled from {}.", "已从 {}撤回。")
  static let recalledTooLate = Phrase(
    "Recalled, but it was already delivered to every target.", "已撤回，但已送达所有目标。")
  static let recalledTooLateAccepted = Phrase(
    "Recalled, but for every target it was already delivered, or accepted by a channel.",
    "已撤回，但已送达所有目标，或已被通道接收。")

  // MARK: The way in time

  static let timeline = Phrase("Timeline", "推送过程")
  static let created = Phrase("Created", "已创建")
  static let resolvedTo = Phrase("For {}", "目标 {}")
  static let viaOwn = Phrase("{} over the direct connection", "长连接 {} 台")
  /// To how many devices it went by a channel.
  static func via(_ channel: ChannelInfo, _ count: String) -> Phrase {
    if channel.id == .passthrough { return viaOwn.with(count) }
    return Phrase("\(count) through \(channel.english)", "\(channel.chinese) \(count) 台")
  }
  static let viaNobody = Phrase("to no device", "未下发")
  static let lastDelivered = Phrase("Last delivered", "最后送达")
  static let replaced = Phrase("Replaced", "已覆盖")
  static let statePending = Phrase("pending", "等待中")
  static let stillWaiting = Phrase("Pending: {}, until at most", "等待中 {} 台，最晚至")

  // MARK: First steps

  static let firstSteps = Phrase("Getting started", "快速开始")
  static let stepsDone = Phrase("{} of {} done", "已完成 {}/{}")
  static let stepDone = Phrase("done", "已完成")
  static let stepOptional = Phrase("optional", "可选")
  static let stepDevice = Phrase("Open a virtual device", "打开虚拟设备")
  static let stepDeviceText = Phrase(
    "Open a virtual device in your browser with one click. Your own app registers automatically.",
    "在浏览器中一键打开虚拟设备；集成 SDK 的应用会自动注册。")
  static let stepPush = Phrase("Send a push to it", "向它发送推送")
  static let stepPushText = Phrase(
    "Send it from the console and follow its delivery.", "在控制台发送，查看送达过程和结果。")
  static let stepServer = Phrase("Send a push from your server", "从您的服务端发送")
  static let stepServerText = Phrase(
    "Fill in the master secret and the registration ID of your device:",
    "填入 Master Secret 和设备的 Registration ID：")
  static let stepChannels = Phrase("Connect push services for {}", "配置 {} 推送通道")
  static let stepChannelsText = Phrase(
    "Phones then receive notifications while the app is closed. Available: {}.", "应用未打开时，手机也能收到通知。可选：{}。")
  static let stepCallbacks = Phrase("Set up callbacks", "设置回调")
  static let stepCallbacksText = Phrase(
    "The server sends each delivery, display and tap to your URL.", "将送达、展示和点击事件发送到您的服务器。")
  static let welcome = Phrase("Welcome. Send your first push.", "欢迎使用，来发送第一条推送吧。")
  static let welcomeText = Phrase(
    "Create an app, open a virtual device in your browser and send a push to it. It takes a minute and needs no phone.",
    "新建应用，在浏览器中打开虚拟设备并发送推送：一分钟即可完成，无需手机。")
  static let makeFirstApp = Phrase("Create your first app", "新建第一个应用")
}
