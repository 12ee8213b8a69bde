extension MakerRules {
  /// Of OPPO PUSH.
  static let oppo = MakerRules(
    title: Rule(TextLimit(50), "open.oppomobile.com, document 11236", "2026-11"),
    text: Rule(TextLimit(50), "open.oppomobile.com, document 11236", "2026-11"),
    longText: Rule(TextLimit(128), "open.oppomobile.com, document 11236", "2026-11"),
    data: Rule(4000, "open.oppomobile.com, document 11236", "2026-11"),
    address: Rule(2000, "open.oppomobile.com, document 11236", "2026-11"),
    life: Rule(3600...864_000, "open.oppomobile.com, document 11236", "2026-11"),
    // OPPO takes 1000, each with the whole message: fewer keep requests small.
    devices: Rule(100, "open.oppomobile.com, document 11235", "2026-11"),
    serviceCategories: Rule(MessageClass.service, "open.oppomobile.com, document 11236", "2024-11-20"),
    marketingCategories: Rule(MessageClass.marketing, "open.oppomobile.com, document 11236", "2024-11-20"),
    marketingADay: Rule(
      DailyCap(news: 5, others: 2), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"))
}
