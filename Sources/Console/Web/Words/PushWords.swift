import BorealisBase
import Model

/// Why a push was not taken, in words of the form that was filled in.
enum PushWords {
  static func phrase(_ error: APIError) -> Phrase {
    switch error.code {
    case 1000, 1030: Words.unavailable
    case 1002, 1003: field(error.message)
    case 1005: tooLong(error.message)
    case 1011: Words.nobody
    case 2002: Words.pushTooOften
    case 2003: Words.pushAppIsOff
    case 1012 where error.message.hasSuffix("pushes of the app wait, and not more may"): Words.tooManyWaiting
    case 2005: Words.needsApprovalHere
    case 2008: Words.pushBroadcasts
    case 8100: schedule(error.message)
    case 8104: Words.scheduleGone
    default: other(error.message)
    }
  }

  /// What is wrong with a schedule: the form's own checks leave what time and others change meanwhile.
  private static func schedule(_ message: String) -> Phrase {
    if message.hasPrefix("trigger.single.time") { return Words.timeOver }
    if message.hasPrefix("trigger") { return Words.timesOver }
    if message.hasPrefix("The schedule is over") { return Words.scheduleOver }
    return message.hasPrefix("The app has") ? Words.tooManySchedules : other(message)
  }

  /// The message has the number of bytes, and how many are allowed.
  private static func tooLong(_ message: String) -> Phrase {
    let numbers = message.split(whereSeparator: { !$0.isWholeNumber }).compactMap { Int($0) }.suffix(2)
    guard numbers.count == 2, let count = numbers.first, let most = numbers.last else {
      return Words.pushTooLong
    }
    return Words.pushTooLongBy.with(Counted.grouped(count), Counted.grouped(most))
  }

  /// The message begins with the field of the push object.
  private static func field(_ message: String) -> Phrase {
    let missing = "Missing parameter: "
    let text = message.hasPrefix(missing) ? String(message.dropFirst(missing.count)) : message
    switch text.prefix(while: { $0 != " " && $0 != ":" }) {
    case "platform": return Words.pushPlatform
    case "audience": return Words.pushAudience
    case "audience.registration_id":
      return Words.pushRegistrationID.with(String(Audience.maximumDevices))
    case "audience.alias":
      return Words.pushAlias.with(String(Audience.maximumDevices), String(NameRules.maximumGetuiAlias))
    case "audience.tag", "audience.tag_and", "audience.tag_not":
      return Words.pushTag.with(String(Audience.maximumTags), String(NameRules.maximumGetuiTag))
    case "audience.segment": return Words.noSegmentChosen
    case "notification", "message", "message.msg_content", "notification.android.alert",
      "notification.ios.alert", "notification.hmos.alert", "notification.quickapp.alert":
      return Words.pushText
    case "extras": return Words.pushExtraNames
    case "notification.android.big_pic_path", "notification.ios.extras.attachment":
      return Words.pushImage
    case "options.big_push_duration": return Words.pushSpread
    case "notification.ios.badge": return Words.pushBadge
    case "notification.ios.extras.aps", "notification.ios.extras._j_msgid": return Words.pushReservedExtra
    case "notification.android.channel_id": return Words.pushChannel
    case "options.canary", "options.canary.share", "options.canary.wait", "options.canary.max_failures":
      return Words.pushCanary
    case "options.override_msg_id": return Words.pushOverrides
    case "options.apns_collapse_id": return Words.pushCollapse
    case "options.fallback_after": return Words.pushFallback
    case "options.time_to_live": return Words.pushHours.with(String(PushForm.mostHours))
    default: return other(message)
    }
  }

  /// What no field of a form can be the cause of: a push object of an app server that is sent again.
  private static func other(_ message: String) -> Phrase { Words.pushOther.with(message) }
}

/// What the forms that send something say.
extension Words {
  static let pushExtraNames = Phrase(
    "Each extra field needs a unique name.", "每个附加字段都需要名称，且名称不能重复。")
  static let pushTooLong = Phrase("The title and text are too long for a push.", "标题和内容过长。")
  static let pushTooLongBy = Phrase(
    "The title, text and extra fields have {} bytes. The limit is {}; a Chinese character has 3.",
    "标题、内容和附加字段共 {} 字节，推送最多 {} 字节（一个汉字占 3 字节）。")
  static let pushTooOften = Phrase(
    "The app has sent too many pushes in the last minute. Try again in a minute.", "该应用发送推送过于频繁，请一分钟后再试。")
  static let pushAppIsOff = Phrase(
    "The app is disabled. An operator of this installation can enable it.", "该应用已停用，请联系系统管理员启用。")
  static let pushBroadcasts = Phrase(
    "The app has used all of today's pushes to everyone.", "该应用今日的广播推送次数已用完。")
  static let pushPlatform = Phrase("Choose a platform.", "请至少选择一个平台。")
  static let pushAudience = Phrase("Choose an audience for the push.", "请填写目标人群。")
  static let pushRegistrationID = Phrase(
    "Enter valid registration IDs, at most {}.", "Registration ID 不正确，或数量超过 {} 个。")
  static let pushAlias = Phrase(
    "Enter at most {} aliases of 1 to {} characters each. Letters, digits, Chinese characters and _ @ ! # $ & * + = . | ￥ are allowed.",
    "别名最多 {} 个，每个 1 到 {} 个字符，可使用字母、数字、汉字和 _ @ ! # $ & * + = . | ￥")
  static let pushTag = Phrase(
    "Enter at most {} tags of 1 to {} characters each, without blanks and invisible characters.",
    "每项标签最多 {} 个，每个 1 到 {} 个字符，不能含空格和不可见字符")
  static let pushText = Phrase("Enter the text.", "请填写内容。")
  static let pushHours = Phrase(
    "Enter 0 to {} hours, within the limit of the app's plan.",
    "离线保留时长须为 0 到 {} 小时，且不超过应用套餐的上限。")
  static let pushOther = Phrase("The push was not accepted: {}", "推送未被接受，API 应答：“{}”")
}
