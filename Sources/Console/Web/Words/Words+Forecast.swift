import BorealisBase

/// The texts of forecasts of pushes.
extension Words {
  static let forecast = Phrase("Forecast", "发送预估")
  static let forecastText = Phrase(
    "If it is sent now, it goes to {} of {} devices.", "如果现在发送，将发往 {} 台设备（共 {} 台）。")
  static let forecastABTest = Phrase(
    "The numbers are those of the first content for the whole audience: it would go to {} of {} devices.",
    "以下数字按版本 A 发送给全部受众计算：将发往 {} 台设备（共 {} 台）。")
  static let forecastWas = Phrase(
    "When it was sent, it was expected to go to {} of {} devices.", "发送时预估发往 {} 台设备（共 {} 台）。")
  static let forecastAsSent = Phrase("Forecast at the time of sending", "发送时的预估")
  static let forecastSound = Phrase(
    "Over the direct connection, the app decides whether a notification makes a sound.",
    "通过长连接下发的通知是否有提示音由应用决定。")
  static let forecastDevices = Phrase("Devices", "设备")
  static let forecastLoud = Phrase("Notification", "通知")
  static let forecastSilent = Phrase("Silent", "静默")
  static let forecastRegistered = Phrase("As registered with the maker", "按厂商登记的渠道")
  static let forecastHidden = Phrase("Not shown", "不展示")
  static let forecastWaiting = Phrase("Waiting", "等待")
  static let forecastConnected = Phrase("{}, now", "{}（当前在线）")
  static let forecastLater = Phrase("{}, when the device connects", "{}（设备上线后）")
  static let forecastUnacknowledged = Phrase("{}, if not acknowledged", "{}（未确认时）")
  static let forecastHeld = Phrase("After quiet hours", "免打扰时段结束后")
  static let forecastCalls = Phrase("{}, calls", "{}（来电）")
  static let forecastNothing = Phrase("Not sent", "不发送")
  static let forecastReason = Phrase("{}: {}", "{}：{}")
}
