extension MakerRules {
  /// Of Xiaomi's Mi Push.
  static let xiaomi = MakerRules(
    title: Rule(TextLimit(49), "dev.mi.com, pId=1559", "2024-10-21"),
    text: Rule(TextLimit(127), "dev.mi.com, pId=1559", "2024-10-21"),
    data: Rule(4096, "dev.mi.com, pId=1558", "2026-11"),
    life: Rule(1...864_000, "dev.mi.com, pId=1854", "2026-11-28"),
    marketingLife: Rule(86_400, "dev.mi.com, pId=1854", "2026-11-28"),
    devices: Rule(1000, "not confirmed by Xiaomi", "2026-11"),
    marketingADay: Rule(
      DailyCap(news: 8, others: 5, withoutChannel: 1), "docs.getui.com/getui/mobile/vendor/qps", "2026-11"),
    template: Rule(TemplateDuty(mostValues: 9, valueLength: 1...128), "dev.mi.com, pId=2314", "2026-06-02"))
}
