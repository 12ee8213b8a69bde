extension MakerRules {
  /// Of Meizu's Flyme push.
  static let meizu = MakerRules(
    title: Rule(TextLimit(32), "github.com/MEIZUPUSH/PushAPI", "2025-04-09"),
    text: Rule(TextLimit(100), "github.com/MEIZUPUSH/PushAPI", "2025-04-09"),
    address: Rule(1000, "github.com/MEIZUPUSH/PushAPI", "2025-04-09"),
    life: Rule(3600...259_200, "github.com/MEIZUPUSH/PushAPI", "2025-04-09"),
    devices: Rule(100, "github.com/MEIZUPUSH/PushAPI", "2025-04-09"),
    marketingADay: Rule(
      DailyCap(news: 5, others: 3), "docs.getui.com/getui/mobile/vendor/qps", "2025-05-07"))
}
