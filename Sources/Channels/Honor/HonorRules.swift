extension MakerRules {
  /// Of Honor Push. No page of Honor has the limits of requests: they are taken to be Huawei's.
  static let honor = MakerRules(
    body: Rule(4096, "as at Huawei, not confirmed by Honor", "2026-11"),
    life: Rule(1...1_296_000, "as at Huawei, not confirmed by Honor", "2026-11"),
    devices: Rule(1000, "as at Huawei, not confirmed by Honor", "2026-11"),
    marketingADay: Rule(
      DailyCap(news: 5, others: 2), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"),
    quietHours: Rule(
      QuietHours(from: 0, to: 6, isForAll: true), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"))
}
