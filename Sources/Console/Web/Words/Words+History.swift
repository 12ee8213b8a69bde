import BorealisBase

/// The texts of the history, of results and of charts.
extension Words {
  // MARK: The list

  static let anything = Phrase("any", "全部")
  static let search = Phrase("Search", "查询")
  static let searchPushes = Phrase("Text or msg_id", "内容或 msg_id")
  static let fromDay = Phrase("From", "起始日期")
  static let toDay = Phrase("To", "结束日期")
  static let sentBy = Phrase("Sent by", "来源")
  static let resetFilter = Phrase("Show all", "清除条件")
  static let serverDays = Phrase("Days in the server's time zone, {}", "日期按服务器时区 {}")
  static let noMatches = Phrase("No push matches.", "没有符合条件的推送。")
  static let lookedBack = Phrase("Searched back to", "已查询至")
  static let searchOn = Phrase("Search older pushes", "继续向前查询")
  static let newest = Phrase("Newest", "最新")
  static let fileHolds = Phrase(
    "A file has at most {} lines. The last line links to the rest.", "每个文件最多 {} 行，其余部分的地址见最后一行。")
  static let fileGoesOn = Phrase("Truncated here. The rest: {}", "此文件到此为止，其余部分：{}")
  static let downloadCSV = Phrase("Download as CSV", "下载 CSV")
  static let messageID = Phrase("msg_id", "msg_id")
  static let endsAt = Phrase("Kept until", "保留至")
  static let audienceFile = Phrase("File", "文件")
  static let liveActivity = Phrase("Live Activity", "实时活动")
  static let senderAPI = Phrase("App server", "服务端 API")
  static let senderBatch = Phrase("App server (batch)", "服务端批量单推")
  static let senderConsole = Phrase("Console", "控制台")
  static let senderSchedule = Phrase("Schedule", "定时任务")
  static let senderGroup = Phrase("Group", "应用分组")

  // MARK: One push

  static let complete = Phrase("complete", "已完成")
  static let traceEnded = Phrase(
    "These numbers are no longer updated. Log in again and reload the page.", "数据已停止更新：请重新登录并刷新页面。")
  static let stateRefused = Phrase("refused by a channel", "被通道拒绝")
  static let refusedBecause = Phrase("Refused by channels", "通道拒绝原因")
  static let completeToSeveral = Phrase("complete (several targets)", "已完成（多个目标）")
  static let handedOver = Phrase("Sent", "已下发")
  static let way = Phrase("Channel", "通道")
  static let meantFor = Phrase("Targets", "目标")
  static let inAppMessage = Phrase("In-app message", "应用内消息")
  static let reason = Phrase("Reason", "原因")
  static let acceptedNote = Phrase(
    "{} confirms that it accepted a notification, not that it was delivered. Devices report what was shown and tapped.",
    "{}仅确认已接收通知，不确认送达；展示和点击由设备上报。")
  static let channelAccepted = Phrase("Accepted", "通道已接收")
  static let stateAccepted = Phrase("accepted", "通道已接收")
  static let stateDeliveredOrAccepted = Phrase("delivered, or accepted by a channel", "已送达或通道已接收")
  static let acceptedCount = Phrase("accepted: {}", "通道已接收：{}")
  static let lastDeliveredOrAccepted = Phrase("Last delivered or accepted", "最后送达或通道接收")
  static let receiptNote = Phrase(
    "Accepted: {} accepted the notification, and no receipt says that it was not delivered. Delivered: a receipt, or the device itself, confirmed it.",
    "通道已接收：{}已接收通知，且无回执表明未送达；送达：由厂商回执或设备确认。")
  static let eachTarget = Phrase("Targets by state", "目标设备状态")
  static let failedBecause = Phrase("Reasons for failures", "失败原因")
  static let sendAgain = Phrase("Send again", "再次发送")
  static let notAgain = Phrase(
    "This push cannot be sent again right now.", "当前无法再次发送相同的推送。")
  static let toPush = Phrase("Back to the push", "返回推送")
  static let noObject = Phrase(
    "The request is not stored: the push was sent by an older version of the server, or its content is too long.",
    "未保留请求内容：该推送来自旧版本服务器，或内容过长。")
  static let ignoredMembers = Phrase("Ignored fields of the request:", "请求中未生效的字段：")
  static let deviceGets = Phrase("Device payload", "设备收到的内容")
  static let askDevice = Phrase("Why didn't it arrive?", "为什么没有收到？")
  static let askDeviceText = Phrase(
    "Enter a device to see each step of this push on its way to it.", "输入设备，查看此推送到该设备的每一步。")
  static let registrationID = Phrase("Registration ID", "Registration ID")
  static let ask = Phrase("Check", "查询")
  static let targetList = Phrase("All targets", "目标明细")
  static let targetListText = Phrase(
    "A CSV file of all targets and their states.", "所有目标设备及其状态，可用表格软件打开。")
  static let targetParts = Phrase(
    "{} targets, at most {} in a file. Other parts", "共 {} 个目标，每个文件最多 {} 行：其余部分")

  // MARK: Reasons

  static let lossQueueFull = Phrase(
    "Too many newer pushes of the app were pending.", "应用待送达的新推送过多，本条已被丢弃（队列已满）。")
  static let lossReplaced = Phrase(
    "The app was reinstalled and has a new registration.", "应用已重新安装，注册已被替换。")
  static let lossNoChannel = Phrase("No channel reaches the device.", "没有可达该设备的通道。")
  static let lossUnknown = Phrase("Unknown. Nothing was recorded.", "没有记录可说明原因。")
  static let lossConnected = Phrase(
    "The device connected while the push waited for the channel.", "推送在通道中等待时，设备已建立长连接。")
  static let lossNoToken = Phrase("The device no longer has a push token.", "设备已没有推送 Token。")
  static let lossNoCredential = Phrase(
    "The app has no credential for the service that the token belongs to.", "应用缺少该 Token 所属环境的推送凭证。")

  // MARK: Charts

  static let periodBefore = Phrase("Period before", "上一周期")
  static let onlineNow = Phrase("Online now", "当前在线")
  static let ofDevices = Phrase("of {} devices", "共 {} 台设备")
  static let pushesToday = Phrase("Pushes today", "今日推送")
  static let deliveredToday = Phrase("Delivered today", "今日送达")
  static let tappedToday = Phrase("Tapped today", "今日点击")
  static let onWeekAgo = Phrase("{} on a week ago", "较上周同期 {}")
  static let onWeekAgoText = Phrase(
    "Today's complete hours, compared with the same hours a week ago.", "今日整点前的数据，与上周同一天的相同时段相比。")
  static let needsSomebody = Phrase("Needs attention", "需要处理")
  static let nothingWrong = Phrase("Nothing needs attention", "一切正常")
  static let callbackWasGivenUp = Phrase("A callback was abandoned in the last 24 hours.", "最近 24 小时内有回调已放弃。")
  static let incidents = Phrase("Incidents", "故障记录")
  static let incidentsText = Phrase(
    "What needed attention in this app: when it began, and when it was over. Kept for 90 days.",
    "本应用出现过的故障及其起止时间，保留 90 天。")
  static let noIncidents = Phrase("There were no incidents.", "没有故障记录。")
  static let incidentBegan = Phrase("Began", "开始")
  static let incidentEnded = Phrase("Over", "结束")
  static let incidentLasts = Phrase("not over yet", "仍在持续")
  static let incidentWhat = Phrase("What", "故障")
  static let pushesMeanwhile = Phrase("Pushes meanwhile", "期间推送数")
  static let incidentMail = Phrase("Mail me about incidents", "邮件通知故障")
  static let incidentMailHint = Phrase(
    "When something needs attention in an app that you administer, and when it was over for five minutes.",
    "当您管理的应用出现故障，以及故障结束满五分钟时，向您发送邮件。")
  static let charts = Phrase("Statistics", "统计")
  static let rangeDay = Phrase("24 hours", "24 小时")
  static let rangeWeek = Phrase("7 days", "7 天")
  static let rangeMonth = Phrase("30 days", "30 天")
  static let rangeQuarter = Phrase("90 days", "90 天")
  static let period = Phrase("Period", "时间范围")
  static let hoursBy = Phrase("By hour, in the server's time zone, {}", "按小时统计，服务器时区 {}")
  static let daysBy = Phrase("By day, in the server's time zone, {}", "按天统计，服务器时区 {}")
  static let chartOnline = Phrase("Devices online", "在线设备")
  static let chartOnlineText = Phrase("Peak per period. Highest: {}.", "同时在线峰值，最高 {}。")
  static let chartPushes = Phrase("Pushes", "推送数")
  static let chartPushesText = Phrase("Pushes created. Total: {}.", "创建的推送，共 {} 条。")
  static let chartDeliveries = Phrase("Delivered", "送达数")
  static let chartDeliveriesVendors = Phrase("Delivered or accepted", "送达与通道接收")
  static let chartDeliveriesText = Phrase(
    "Delivered over the direct connection. Total: {}.", "长连接送达，共 {} 次。")
  static let chartDeliveriesTextVendors = Phrase(
    "Delivered over the direct connection, or accepted by {} without a later receipt that it was not delivered. Channels count for the time of the push. Total: {}.",
    "长连接送达与{}接收（不含回执为未送达的），共 {} 次。通道的数量计入推送的时段。")
  static let deliveredWhen = Phrase(
    "Delivery times are reported by the device. For clients older than protocol version 3 they are the time when the server received the acknowledgement.",
    "送达时间由设备上报；协议版本 3 之前的客户端，为服务器得知送达的时间。")
  static let chartLatency = Phrase("Latency", "延迟")
  static let chartLatencyText = Phrase(
    "From the creation of a push to its delivery to a connected device, as reported by devices (protocol version 3). p50 {}, p99 {}.",
    "从创建推送到送达在线设备的时间，由设备上报（协议版本 3）；p50 {}，p99 {}。")
  static let refusedCount = Phrase("Refused", "拒绝")
  static let deniedCount = Phrase("Not delivered (receipts)", "回执未送达")
  static let asTable = Phrase("Show as table", "查看表格")
  static let noNumbers = Phrase("no data", "无数据")
  static let time = Phrase("Time", "时间")
}
