import BorealisBase

/// The texts of forecasts of pushes.
extension Words {
  static let forecast = Phrase("Forecast", "送达预测")
  static let forecastText = Phrase("If it is sent now, {} of {} devices get it.", "如果现在发送，{} 台设备会收到（共 {} 台）。")
  static let forecastWas = Phrase("{} of {} devices were to get it.", "预计 {} 台设备收到（共 {} 台）。")
  static let forecastAsSent = Phrase("Forecast before sending", "发送前的预测")
  static let forecastDevices = Phrase("Devices", "设备")
  static let forecastLoud = Phrase("With sound", "有提示音")
  static let forecastSilent = Phrase("Silent", "静默")
  static let forecastRegistered = Phrase("As registered", "以登记为准")
  static let forecastHidden = Phrase("Not shown", "不展示")
  static let forecastWaiting = Phrase("Waiting", "等待")
  static let forecastConnected = Phrase("{}, now", "{}（当前在线）")
  static let forecastLater = Phrase("{}, when the device connects", "{}（设备上线后）")
  static let forecastUnacknowledged = Phrase("{}, if not acknowledged", "{}（未确认时）")
  static let forecastCalls = Phrase("{}, calls", "{}（来电）")
  static let forecastNothing = Phrase("Get nothing", "收不到")
  static let forecastReason = Phrase("{}: {}", "{}：{}")
}
