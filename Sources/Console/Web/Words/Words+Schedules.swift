import BorealisBase

/// The texts of pushes that are to go later, and of the fields that say when.
extension Words {
  static let scheduled = Phrase("Scheduled", "定时推送")
  static let scheduledText = Phrase(
    "Pushes that go later, once or repeatedly, whether made here or with the schedule API. Times are in the server's time zone ({}), unless it says each device's own time.",
    "稍后发送或重复发送的推送，包括在控制台和通过定时 API 创建的。除注明按设备当地时间的以外，时间以服务器时区（{}）为准。")
  static let nothingScheduled = Phrase("Nothing is scheduled.", "暂无定时推送。")
  static let nextTime = Phrase("Next", "下次发送")
  static let nextTimes = Phrase("Next times", "接下来的发送时间")
  static let scheduleActive = Phrase("active", "启用中")
  static let schedulePaused = Phrase("paused", "已暂停")
  static let scheduleEnded = Phrase("ended", "已结束")
  static let pastRuns = Phrase("Past runs", "执行记录")
  static let noRuns = Phrase("It has not run yet.", "尚未执行。")
  static let runMissed = Phrase(
    "The server was not running at that time, or the scheduled push was changed at that moment.",
    "到点时服务器未运行，或定时推送正被修改。")
  static let runFailed = Phrase("not sent", "未发送")

  // MARK: Changes

  static let edit = Phrase("Edit", "编辑")
  static let editSchedule = Phrase("Edit scheduled push", "编辑定时推送")
  static let pauseSchedule = Phrase("Pause", "暂停")
  static let pauseScheduleText = Phrase(
    "It is not sent while it is paused. Times that pass meanwhile are skipped.", "暂停期间不发送，期间错过的时间不补发。")
  static let resumeSchedule = Phrase("Resume", "恢复")
  static let resumeScheduleText = Phrase(
    "It is sent again from its next time on.", "将从下一个发送时间起恢复发送。")
  static let cancelSchedule = Phrase("Cancel", "取消")
  static let cancelScheduleText = Phrase(
    "It is deleted and never sent again. Pushes already sent stay in the history.", "删除后不再发送；已发送的推送仍保留在推送记录中。"
  )
  static let cancelScheduleNow = Phrase("Cancel this push", "取消此推送")
  static let scheduleCanceled = Phrase("Canceled.", "已取消。")
  static let scheduleOver = Phrase(
    "No time is left at which it could be sent.", "已没有可发送的时间。")
  static let scheduleGone = Phrase("This scheduled push no longer exists.", "该定时推送已不存在。")
  static let tooManySchedules = Phrase(
    "The app has as many scheduled pushes as it may have. Cancel one first.", "定时推送数量已达上限，请先取消一个。")

  static let editAndSend = Phrase("Edit and send", "修改后发送")

  // MARK: When

  static let sendingTime = Phrase("When", "发送时间")
  static let atOnce = Phrase("Now", "立即发送")
  static let atATime = Phrase("At a time", "定时发送")
  static let againAndAgain = Phrase("Repeatedly", "重复发送")
  static let atTime = Phrase("Date and time", "日期和时间")
  static let serverTime = Phrase("Server time, {}", "服务器时间，{}")
  static let ownTime = Phrase("Each device's own time", "各设备的当地时间")
  static let ownTimeHint = Phrase(
    "By the time zone that a device has reported; by server time if it has reported none. Where the time has passed already, the push is not sent.",
    "以设备上报的时区为准；未上报时区的设备按服务器时间。当地时间已过的不再发送。")
  static let inOwnTime = Phrase("{}, each device's own time", "{}，按各设备的当地时间")
  static let ofTime = Phrase("for {}", "对应 {}")
  static let repeats = Phrase("Repeats", "重复")
  static let timeOfDay = Phrase("Time", "时间")
  static let monthDays = Phrase("Days of the month", "每月几日")
  static let monthDaysHint = Phrase(
    "Numbers from 1 to 31, separated by commas. A day that a month does not have is skipped.",
    "1 到 31，多个以逗号分隔；当月没有的日期跳过。")
  static let fromToday = Phrase("Empty: today", "留空为今天")
  static let throughYear = Phrase("Empty: a year after the start", "留空为起始后一年")
  static let everyDay = Phrase("every day", "每天")
  static let everyWeek = Phrase("every week", "每周")
  static let everyMonth = Phrase("every month", "每月")
  static let everyDays = Phrase("every {} days", "每 {} 天")
  static let everyWeeks = Phrase("every {} weeks", "每 {} 周")
  static let everyMonths = Phrase("every {} months", "每 {} 个月")
  static let onceAt = Phrase("once, {}", "一次，{}")
  static let fromThrough = Phrase("from {} to {}", "{} 至 {}")
  static let repeatsAt = Phrase("{} at {}, {}", "{} {}，{}")
  static let repeatsOn = Phrase("{} ({}) at {}, {}", "{}（{}）{}，{}")
  static let timeMissing = Phrase("Enter the date and time at which the push goes.", "请填写发送的日期和时间。")
  static let timeOver = Phrase(
    "The time must be in the future and at most one year ahead.", "发送时间须晚于当前时间，且不超过一年。")
  static let timesOver = Phrase(
    "No time is left between now and the last day.", "在结束日期之前已没有可发送的时间。")
  static let timeOfDayMissing = Phrase("Enter the time of day.", "请填写发送时间。")
  static let dayInvalid = Phrase("Enter the day as YYYY-MM-DD.", "日期格式须为 YYYY-MM-DD。")
  static let daysInvalid = Phrase(
    "The last day must not be before the first, nor more than one year after it.", "结束日期不能早于起始日期，且不超过一年。")
  static let weekdayMissing = Phrase("Choose a day of the week.", "请至少选择一个星期几。")
  static let monthDayInvalid = Phrase("Enter days of the month from 1 to 31.", "请填写 1 到 31 的日期。")

  // MARK: Asking once more

  static let confirmPlan = Phrase("Schedule this push?", "确认定时推送？")
  static let reachesNow = Phrase(
    "Devices that match now: {}. Who gets it is determined when it goes.", "当前符合条件的设备：{} 台；实际目标以发送时为准。")
  static let planIt = Phrase("Schedule", "确认定时")
  static let draftScheduled = Phrase("Already scheduled", "已设为定时推送")
  static let draftScheduledText = Phrase(
    "This push is scheduled already. It is not scheduled a second time.", "此推送已设为定时推送，不会重复创建。")
  static let toSchedule = Phrase("Scheduled push", "查看定时推送")

  // MARK: Content

  static let image = Phrase("Picture (address)", "图片（地址）")
  static let imageHint = Phrase(
    "An https address. Android shows it as a big picture; on iOS the app needs the library's notification service extension.",
    "https 地址。Android 以大图显示；iOS 需要应用集成通知服务扩展。")
  static let link = Phrase("A tap opens (address)", "点击打开（地址）")
  static let linkHint = Phrase(
    "Empty: the app. Web browsers, Android and HarmonyOS open the address; an iOS app gets it as url in the extras.",
    "留空为打开应用。浏览器、Android 和鸿蒙直接打开；iOS 应用从附加字段 url 读取。")
  static let alsoInApp = Phrase("Also show it inside the app", "同时在应用内展示")
  static let alsoInAppHint = Phrase(
    "The app shows it where the direct connection brings it. To reach people who have turned notifications off, select the notification permission in the app's settings; on iPhones with a token only these people get it in the app.",
    "经长连接送达时由应用在页面内展示。如需触达关闭了通知的用户，请先在应用设置中勾选“通知权限”；有推送令牌的 iPhone 仅对这类用户展示。")
  static let spreadOver = Phrase("Spread the delivery over (minutes)", "匀速发送（分钟）")
  static let spreadHint = Phrase(
    "Devices get the push one after another within this time. Empty: all at once.", "在该时间内陆续下发；留空为一次全部下发。")
  static let pushImage = Phrase("The picture must be an https address.", "图片须为 https 地址。")
  static let pushSpread = Phrase(
    "The delivery can be spread over at most 1440 minutes.", "匀速发送最长 1440 分钟。")
}
