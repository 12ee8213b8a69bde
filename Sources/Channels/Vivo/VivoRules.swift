extension MakerRules {
  /// Of vivo's VPush. Chinese characters count 2; newer descriptions count all characters alike, and these
  /// limits are right by both.
  static let vivo = MakerRules(
    title: Rule(TextLimit(40, .halfWidth), "dev.vivo.com.cn, document 362", "2026-11"),
    text: Rule(TextLimit(100, .halfWidth), "dev.vivo.com.cn, document 362", "2026-11"),
    data: Rule(1024, "dev.vivo.com.cn, document 362", "2026-11"),
    address: Rule(1000, "dev.vivo.com.cn, document 362", "2026-11"),
    life: Rule(60...604_800, "dev.vivo.com.cn, document 362", "2026-11"),
    devices: Rule(1000, "dev.vivo.com.cn, document 362", "2026-11"),
    serviceCategories: Rule(MessageClass.service, "dev.vivo.com.cn, document 362", "2026-11"),
    marketingCategories: Rule(MessageClass.marketing, "dev.vivo.com.cn, document 362", "2026-11"),
    marketingADay: Rule(
      DailyCap(news: 5, others: 2), "docs.jiguang.cn/jpush/client/Android/android_3rd_qps", "2025-04-07"),
    quietHours: Rule(
      QuietHours(from: 23, to: 7, isForAll: false), "help.aliyun.com/document_detail/616229.html", "2026-11"))
}
