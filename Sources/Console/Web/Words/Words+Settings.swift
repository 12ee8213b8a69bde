import BorealisBase

/// The texts of an app's settings, of groups, and of the installation.
extension Words {
  static let connectDevices = Phrase("Connect devices", "接入设备")
  static let serverHost = Phrase("Server", "服务器")
  static let devicePort = Phrase("Device port", "设备端口")
  static let portTLS = Phrase("{} (TLS)", "{}（TLS）")
  static let portPlain = Phrase("{} (without TLS)", "{}（无 TLS）")
  static let connectDevicesText = Phrase(
    "Apps need the app key, the server and the port. There are libraries for Swift (BorealisDevice), Java and Android, and browsers; other clients follow the specification of the protocol.",
    "应用需要 AppKey、服务器地址和端口。已有 Swift（BorealisDevice）、Java/Android 和浏览器的客户端库；其他客户端可按协议规范实现。")
  static let rename = Phrase("Rename", "重命名")
  static let saved = Phrase("Saved.", "已保存。")
  static let capsTitle = Phrase("Notifications per device and day", "单设备每日通知上限")
  static let capsText = Phrase(
    "A device to which as many were sent in a day is left out, and its Why? page says so. Custom messages, calls, Live Activities, system notifications and pushes that replace another do not count. 0: no limit.",
    "发送达到上限后，当日不再向该设备发送，“为什么没收到”页面会说明原因。自定义消息、呼叫、实时活动、系统消息以及覆盖推送不计入。0 为不限。")
  static let capNormal = Phrase("Without a class", "未声明类别")
  static let capNormalHint = Phrase(
    "Pushes without classification, such as those of the form.", "未填写 classification 的推送，包括通过控制台表单发送的。")
  static let capMarketing = Phrase("Marketing", "运营消息")
  static let capMarketingHint = Phrase("Pushes with classification 0.", "classification 为 0 的推送。")
  static let capRule = Phrase("Each limit must be a number from 0 to {}.", "上限须为 0 到 {} 的整数。")
  static let capped = Phrase(
    "Left out, since as many notifications as allowed had been sent to them on that day: {}",
    "已达当日通知上限而未发送的设备：{} 台")
  static let quietTitle = Phrase("Quiet hours", "免打扰时段")
  static let quietText = Phrase(
    "In these hours devices are sent no new notifications, by the time zone that each has reported, or the server's: if the app does not ask devices for their time zone, by the server's for all. A device that connects gets what has come for it before. What a channel has accepted is not held back later, also if its queue sends it late because of a quota, a credential or a failure. Custom messages, calls, Live Activities, system notifications, and time-sensitive or critical notifications on iOS arrive at any time; so do pushes that replace one, at devices that have it. Leave both fields empty for no quiet hours.",
    "在该时段内不向设备发送新的通知，按设备上报的时区计算，未上报时按服务器时区；应用未收集设备时区时，所有设备均按服务器时区。设备连接后仍会收到此前的离线推送。通道已接收的通知不再受该时段限制，即使因配额、凭证或故障而在时段内才发出。自定义消息、呼叫、实时活动、系统消息，以及 iOS 的时效性和重要通知不受限制；覆盖推送对已收到原推送的设备也不受限制。两项均留空表示不设置。"
  )
  static let quietFrom = Phrase("From", "开始时间")
  static let quietFromHint = Phrase("Such as 22:00.", "例如 22:00。")
  static let quietUntil = Phrase("Until", "结束时间")
  static let quietUntilHint = Phrase(
    "On the next day if it is earlier than the start.", "早于开始时间时表示次日。")
  static let quietAction = Phrase("Notifications in these hours", "该时段内的通知")
  static let quietHold = Phrase("Send them when the hours end", "时段结束后发送")
  static let quietDrop = Phrase("Do not send them", "不发送")
  static let quietKept = Phrase("As in the settings of the app", "按应用设置")
  static let quietIgnored = Phrase("Send at any time", "任何时间都发送")
  static let quietHint = Phrase(
    "For devices that are in the app's quiet hours.", "适用于处于应用免打扰时段的设备。")
  static let quietRule = Phrase(
    "Enter two different times of day, or none.", "请填写两个不同的时间，或全部留空。")
  static let quiet = Phrase(
    "Not sent, since they were in their quiet hours: {}", "处于免打扰时段而未发送的设备：{} 台")
  static let held = Phrase(
    "Waiting for the end of their quiet hours: {}. The last of these end:",
    "等待免打扰时段结束后发送的设备：{} 台，最晚结束时间：")
  static let deleteApp = Phrase("Delete app", "删除应用")
  static let deleteAppText = Phrase(
    "API calls and devices are refused immediately and all data is deleted. This cannot be undone.",
    "删除后 API 调用与设备连接立即失效，所有数据将被清除，且无法恢复。")
  static let typeName = Phrase("Type {} to confirm", "输入 {} 以确认")
  static let nameDiffers = Phrase("The name does not match. Nothing was deleted.", "名称不一致，未删除。")

  static let getui = Phrase("Getui's API", "个推 API")
  static let getuiText = Phrase(
    "A server written for Getui's REST API v2 pushes through this app with a base URL of …/v2 and a master secret of its own.",
    "为个推 REST API v2 编写的服务端，只需把接口地址换成 …/v2 并使用单独的 masterSecret，即可通过本应用推送。")
  static let getuiOn = Phrase("Create a master secret", "生成 masterSecret")
  static let getuiBase = Phrase("Base URL", "接口地址")
  static let getuiSecretShownOnce = Phrase("Shown only when it was created", "仅在生成时显示一次")
  static let getuiSince = Phrase("Created", "生成时间")
  static let reveal = Phrase("Show", "显示")
  static let anyAddress = Phrase("Any address", "不限")
  static let getuiRotateText = Phrase(
    "The present master secret and its tokens are refused within some seconds.",
    "现有 masterSecret 及其 token 将在数秒内失效。")
  static let getuiOff = Phrase("Turn off", "关闭")
  static let getuiOffText = Phrase(
    "Getui's API refuses this app, and receipts in its format cannot be signed any more.",
    "个推 API 将拒绝本应用，个推格式的回执也无法再签名。")

  static let sealing = Phrase("Encryption at rest", "存储加密")
  static let sealingText = Phrase(
    "Stored pushes, schedules, uploaded files and callbacks are encrypted with the server's secret key. A change applies to new data; existing data is not changed.",
    "推送、定时任务、上传文件和回调的内容在写入数据库前使用服务器密钥加密。更改仅对之后写入的内容生效，已存储的内容保持不变。")
  static let sealingOn = Phrase("On", "已开启")
  static let sealingOff = Phrase("Off", "未开启")
  static let sealingSince = Phrase("Changed", "更改时间")
  static let sealingTurnOn = Phrase("Turn on encryption at rest", "开启存储加密")
  static let sealingTurnOffText = Phrase(
    "Everybody who can read the database can read what is stored from now on.",
    "之后写入的内容将不再加密，能读取数据库的人都可查看。")
  static let sealingTurnOff = Phrase("Turn off encryption at rest", "关闭存储加密")

  static let plan = Phrase("Plan", "套餐")
  static let planText = Phrase("Set by the operator of this installation.", "由系统管理员设定。")
  static let changePlan = Phrase("Change", "更改")
  static let limit = Phrase("Limit", "限制")
  static let usedNow = Phrase("Used", "已使用")
  static let callsPush = Phrase("Push API calls per minute", "推送 API，每分钟调用")
  static let callsDevice = Phrase("Device API calls per minute", "设备 API，每分钟调用")
  static let callsSchedule = Phrase("Schedule API calls per minute", "定时 API，每分钟调用")
  static let callsReport = Phrase("Report API calls per minute", "统计 API，每分钟调用")
  static let callsFile = Phrase("File API calls per minute", "文件 API，每分钟调用")
  static let broadcasts = Phrase("Pushes to everyone today", "今日广播推送")
  static let speedLimit = Phrase("Devices per second", "每秒推送设备数")
  static let longestTime = Phrase("Maximum time to live (hours)", "最长离线保留（小时）")
  static let noLimit = Phrase("no limit", "不限")
  static let allowList = Phrase("IP allowlist", "IP 白名单")
  static let allowListText = Phrase(
    "API calls of this app from other addresses are refused (code 2004, 10002 in Getui's API). Leave it empty to allow all addresses.",
    "仅允许以下地址调用本应用的 API，其他地址将被拒绝（错误码 2004，个推 API 为 10002）。留空表示不限制。")
  static let networks = Phrase("Networks, one per line", "网段，每行一个")
  static let networksHint = Phrase(
    "For example 192.0.2.0/24 or 2001:db8::/32.", "例如 192.0.2.0/24 或 2001:db8::/32。")
  static let badNetwork = Phrase(
    "“{}” is not a valid network. Enter one such as 192.0.2.0/24.", "“{}”不是有效网段，例如 192.0.2.0/24。")
  static let tooManyNetworks = Phrase("Enter at most 100 networks.", "最多 100 个网段。")

  static let callbackText = Phrase(
    "The server reports push events to your server in a signed POST request, usually within two seconds.",
    "推送结果将在一两秒内以带签名的 POST 请求通知您的服务器。")
  static let callbackAddress = Phrase("URL", "回调地址")
  static let callbackAddressHint = Phrase(
    "Leave it empty to report only pushes that set their own callback URL.", "留空：仅上报自带回调地址的推送。")
  static let callbackWhat = Phrase("Events", "回调事件")
  static let callbackDelivered = Phrase("delivered", "送达")
  static let callbackClicked = Phrase("tapped", "点击")
  static let callbackNotDelivered = Phrase("not delivered, with the reason", "未送达（含原因）")
  static let callbackHandedOver = Phrase("sent", "已下发")
  static let callbackPaused = Phrase("credential of a push service paused", "推送凭证被暂停")
  static let callbackExpires = Phrase("credential of a push service expires soon", "推送凭证即将过期")
  static let callbackFormat = Phrase("Format", "格式")
  static let callbackFormatOwn = Phrase(
    "events of Borealis, signed with HMAC-SHA-256", "Borealis 事件（HMAC-SHA-256 签名）")
  static let callbackFormatGetui = Phrase(
    "receipts of Getui: only delivered, tapped and refused by the iOS push service", "个推回执：仅送达、点击和 iOS 推送被拒")
  static let callbackNeedsGetui = Phrase(
    "Turn on Getui's API in the settings of the app first: its master secret signs the receipts.",
    "请先在应用设置中启用个推 API：回执用其 masterSecret 签名。")
  static let badAddress = Phrase(
    "Enter an http or https URL without user name and fragment.", "回调地址须为不含用户名和片段的 http 或 https 地址。")
  static let callbackSecret = Phrase("Secret", "签名密钥")
  static let callbackSecretText = Phrase(
    "The secret is shown only once. Your server uses it to verify that a request comes from Borealis.",
    "密钥仅显示这一次，用于验证请求来自本系统。")
  static let newSecret = Phrase("Create a new secret", "生成新密钥")
  static let newSecretText = Phrase(
    "For one day, requests carry the signatures of both secrets.", "一天之内请求同时携带新旧两个签名。")
  static let tryIt = Phrase("Send a test", "发送测试")
  static let tried = Phrase("Your server answered {} after {} ms.", "您的服务器返回 {}，耗时 {} 毫秒。")
  static let triedFailed = Phrase("The test failed: {}.", "测试失败：{}。")
  static let callbackAnswered = Phrase("answered {}", "返回 {}")
  static let callbackOff = Phrase("Turn off", "关闭回调")
  static let callbackOffText = Phrase(
    "The server sends no more requests and deletes the secret.", "服务器将不再发送请求，并删除签名密钥。")
  static let callbackIsOff = Phrase("Callbacks are off.", "回调已关闭。")
  static let deliveries = Phrase("Recent requests", "最近请求")
  static let noDeliveries = Phrase("No requests yet.", "还没有回调请求。")
  static let eventCount = Phrase("Events", "事件数")
  static let attempts = Phrase("Attempts", "次数")
  static let answer = Phrase("Answer", "结果")
  static let callbackWaits = Phrase("pending", "等待中")
  static let callbackTaken = Phrase("delivered", "成功")
  static let callbackGivenUp = Phrase("abandoned", "已放弃")
  static let resend = Phrase("Send again", "重新发送")
  static let sentAgain = Phrase("The request is sent again.", "已重新发送。")
  static let callbackBusy = Phrase("A test is already running.", "已有测试正在进行。")

  static let groups = Phrase("Groups", "应用分组")
  static let groupsText = Phrase(
    "With a group key, your server sends to all apps of the group in one call.", "使用分组密钥，可一次调用推送到组内所有应用。")
  static let noGroups = Phrase("No groups yet.", "还没有分组。")
  static let tooManyGroups = Phrase(
    "The account already has {} groups. Delete one first.", "该账号已有 {} 个分组，请先删除一个。")
  static let newGroup = Phrase("Create group", "新建分组")
  static let groupName = Phrase("Group name", "分组名称")
  static let groupKey = Phrase("Group key", "分组 Key")
  static let groupUser = Phrase("User name for API calls", "调用时的用户名")
  static let groupSecret = Phrase("Group master secret", "分组 Master Secret")
  static let toGroups = Phrase("Back to groups", "返回分组列表")
  static let groupApps = Phrase("Apps in the group", "组内应用")
  static let deleteGroup = Phrase("Delete group", "删除分组")
  static let deleteGroupText = Phrase(
    "API calls with the group's key are refused immediately. The apps in the group stay.",
    "使用该分组密钥的 API 调用立即失效，组内的应用不受影响。")
  static let rotateGroup = Phrase("Replace secret", "更换密钥")
  static let rotateGroupText = Phrase("The old secret is refused immediately.", "旧密钥立即失效。")

  static let planSaved = Phrase(
    "The plan was saved. It applies to the account's apps immediately.", "套餐已保存，对该账号的应用立即生效。")
  static let planSavedNotAll = Phrase(
    "The plan was saved. It applies immediately to the account's apps, except those below that have their own plan.",
    "套餐已保存，对该账号的应用立即生效；下方列出的应用使用单独的套餐，不受影响。")
  static let appsWithOwnPlan = Phrase("Apps with their own plan: {} ({})", "使用单独套餐的应用：{} 个（{}）")
  static let planForAllApps = Phrase("Change these apps too", "同时更改这些应用")
  static let ownerIsMailed = Phrase(
    "The owner's invitation is queued. The list of accounts shows the email's delivery status.",
    "所有者的邀请邮件正在排队，发送状态见账号列表。")
  static let operatorTitle = Phrase("Installation", "系统管理")
  static let server = Phrase("Server", "服务器")
  static let database = Phrase("Database", "数据库")
  static let databaseFails = Phrase("writing fails", "写入失败")
  static let databaseSize = Phrase("Size of the database", "数据库大小")
  static let freeSpace = Phrase("Free disk space", "磁盘可用空间")
  static let littleSpace = Phrase("running low", "即将不足")
  static let nodes = Phrase("Nodes", "节点")
  static let node = Phrase("Node", "节点")
  static let nodeRole = Phrase("Role", "角色")
  static let homeNode = Phrase("Home", "主节点")
  static let gatewayNode = Phrase("Gateway", "接入节点")
  static let homeOfApps = Phrase("Home of apps: {}", "负责 {} 个应用")
  static let homeOfAppsAndInstallation = Phrase(
    "Home of apps: {}, and of the installation", "负责 {} 个应用及系统服务")
  static let isDraining = Phrase("draining", "下线中")
  static let isOutOfReach = Phrase("not reached by other nodes", "其他节点无法访问")
  static let deadNode = Phrase("Down", "已失联")
  static let seenLast = Phrase("last seen", "最后在线")
  static let deviceConnections = Phrase("Device connections", "设备连接数")
  static let nodeVersion = Phrase("Version", "版本")
  static let nodeAddress = Phrase("Address for other nodes", "节点间地址")
  static let startedAt = Phrase("Started", "启动时间")
  static let accounts = Phrase("Accounts", "账号")
  static let moreAccounts = Phrase("More accounts", "更多账号")
  static let account = Phrase("Account", "账号")
  static let newAccount = Phrase("Create account", "新建账号")
  static let accountName = Phrase("Account name", "账号名称")
  static let ownerEmail = Phrase("Owner's email address", "所有者邮箱")
  static let ownerHint = Phrase("The owner receives an invitation by email.", "将收到邀请邮件。")
  static let ownerHintLink = Phrase(
    "The server sends no mail: the next page shows a link to pass on to the owner.",
    "未配置邮件服务器：下一页将显示邀请链接，请转发给所有者。")
  static let accountMade = Phrase("The account {} was created.", "账号 {} 已创建。")
  static let devKeyText = Phrase(
    "For the admin API. The secret is shown only once.", "用于管理 API；密钥仅显示这一次。")
  static let devKey = Phrase("Developer key", "开发者 Key")
  static let devSecret = Phrase("Developer secret", "开发者 Secret")
  static let turnOff = Phrase("Turn off", "停用")
  static let turnOffText = Phrase(
    "The account's apps cannot send pushes and their devices cannot connect until you turn it on again.",
    "停用期间，该账号的应用无法推送，设备无法连接，直到重新启用。")
  static let turnOn = Phrase("Turn on", "启用")
  static let isOff = Phrase("off", "已停用")
  static let members = Phrase("Members", "成员")
  static let operators = Phrase("Operators", "系统管理员")
  static let makeOperator = Phrase("Add operator", "设为系统管理员")
  static let endOperator = Phrase("Remove operator", "取消系统管理员")
  static let endOperatorText = Phrase(
    "{} can no longer manage this installation. Memberships in accounts stay.", "{} 将无法再管理本系统，其账号成员身份不变。")
  static let lastOperator = Phrase("The installation needs at least one operator.", "系统至少需要一位系统管理员。")
  static let operatorEmail = Phrase("Email address of a registered user", "已有用户的邮箱")
  static let unknownPerson = Phrase("No user has this email address.", "没有使用该邮箱的用户。")
}
