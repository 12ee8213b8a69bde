extension MakerRules {
  /// Of Push Kit for HarmonyOS.
  static let harmony = MakerRules(
    body: Rule(4096, "developer.huawei.com, push-scenariozed-api-request-param", "2026-04"),
    life: Rule(1...1_296_000, "developer.huawei.com, push-scenariozed-api-request-struct", "2026-04"),
    devices: Rule(1000, "developer.huawei.com, push-scenariozed-api-request-struct", "2026-04"),
    // All need Huawei's permission; `PLAY_VOICE` is for extensions only.
    serviceCategories: Rule(
      [
        "IM", "VOIP", "MISS_CALL", "SUBSCRIPTION", "TRAVEL", "HEALTH", "WORK", "ACCOUNT", "EXPRESS",
        "FINANCE", "DEVICE_REMINDER", "MAIL", "PLAY_VOICE",
      ], "developer.huawei.com, push-apply-right", "2026-04"),
    marketingCategories: Rule(["MARKETING"], "developer.huawei.com, push-apply-right", "2026-04"),
    marketingADay: Rule(
      DailyCap(news: 5, others: 2), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"))
}
