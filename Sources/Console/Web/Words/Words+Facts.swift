import BorealisBase

/// The texts about facts of devices.
extension Words {
  static let partFacts = Phrase("Facts of devices", "设备信息")
  static let factsText = Phrase(
    "Devices report the facts that you select here and no others. If you clear a fact, the server deletes what it has stored of it. State in your privacy policy what you select.",
    "设备仅上报您勾选的信息。取消勾选后，服务器会删除已存储的该项信息。请在应用的隐私政策中说明所勾选的内容。")
  static let factNotReported = Phrase("not reported", "未上报")
  static let permission = Phrase("Notification permission", "通知权限")
  static let permissionOn = Phrase("on", "已开启")
  static let permissionOff = Phrase("off", "已关闭")
  static let permissionNotAsked = Phrase("not asked yet", "未询问")
  static let permissionUnknown = Phrase("unknown", "未知")
  static let leftOut = Phrase(
    "Left out, since notifications are off or the user has opted out: {}", "已过滤的设备（通知已关闭或用户拒收推送）：{} 台")
  static let optedOut = Phrase("Opted out of pushes", "拒收推送")
}

extension DeviceFact {
  var phrase: Phrase {
    switch self {
    case .language: Words.language
    case .timeZone: Phrase("Time zone", "时区")
    case .system: Phrase("Operating system", "操作系统")
    case .systemVersion: Phrase("System version", "系统版本")
    case .model: Phrase("Device model", "设备型号")
    case .appVersion: Words.appVersion
    case .storeChannel: Phrase("Store channel", "安装渠道")
    case .notificationPermission: Words.permission
    case .optedOut: Words.optedOut
    }
  }

  /// One sentence on what it is.
  var explanation: Phrase {
    switch self {
    case .language:
      Phrase("The language that the user reads, such as zh-Hans or en-GB.", "用户使用的语言，例如 zh-Hans、en-GB。")
    case .timeZone:
      Phrase("The time zone that is set on the device, such as Asia/Shanghai.", "设备设置的时区，例如 Asia/Shanghai。")
    case .system:
      Phrase("The name of the operating system, such as Android or iOS.", "操作系统名称，例如 Android、iOS。")
    case .systemVersion: Phrase("The version of the operating system, such as 17.5.", "操作系统的版本号，例如 17.5。")
    case .model: Phrase("The model as the maker names it, such as Pixel 8.", "厂商定义的设备型号，例如 Pixel 8。")
    case .appVersion: Phrase("The version of your app that is installed.", "已安装的应用版本号。")
    case .storeChannel:
      Phrase(
        "The store or campaign that the app was installed from, as your app reports it.",
        "应用的安装来源（应用市场或推广渠道），由您的应用上报。")
    case .notificationPermission:
      Phrase(
        "Whether the system lets the app show notifications. Needed for pushes that leave out devices with notifications off.",
        "系统是否允许应用显示通知。推送时过滤通知已关闭的设备需要此项。")
    case .optedOut: Phrase("Whether the user has turned pushes off in your app.", "用户是否在应用内关闭了推送。")
    }
  }

  /// A value as people read it.
  func text(of value: String, _ call: PageCall) -> String {
    switch value {
    case "on" where self == .notificationPermission: call(Words.permissionOn)
    case "off" where self == .notificationPermission: call(Words.permissionOff)
    case "not_asked" where self == .notificationPermission: call(Words.permissionNotAsked)
    case "yes" where self == .optedOut: call(Words.yes)
    case "no" where self == .optedOut: call(Words.no)
    default: value
    }
  }
}
