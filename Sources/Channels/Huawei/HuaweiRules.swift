extension MakerRules {
  /// Of Huawei Push Kit for Android.
  static let huawei = MakerRules(
    body: Rule(4096, "HMS-Core/hms-push-serverdemo-go", "2026-11"),
    life: Rule(1...1_296_000, "HMS-Core/hms-push-serverdemo-go", "2026-11"),
    devices: Rule(1000, "HMS-Core/hms-push-serverdemo-go", "2026-11"),
    // All need Huawei's permission.
    serviceCategories: Rule(
      [
        "IM", "VOIP", "SUBSCRIPTION", "TRAVEL", "HEALTH", "WORK", "ACCOUNT", "EXPRESS", "FINANCE",
        "DEVICE_REMINDER", "SYSTEM_REMINDER", "MAIL",
      ], "help.aliyun.com/document_detail/436435.html", "2026-11"),
    marketingCategories: Rule(["MARKETING"], "help.aliyun.com/document_detail/436435.html", "2026-11"),
    marketingADay: Rule(
      DailyCap(news: 5, others: 2), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"),
    // After the screen was dark for half an hour.
    quietHours: Rule(
      QuietHours(from: 0, to: 6, isForAll: true), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"))
}
