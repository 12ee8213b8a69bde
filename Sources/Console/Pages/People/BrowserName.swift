import BorealisBase

/// What people call a browser, by what it says of itself (`User-Agent`, which anybody may make up).
enum BrowserName {
  /// What is looked for, in this order, and the name: most browsers name others, too.
  private static let browsers = [
    ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("HuaweiBrowser", "Huawei"),
    ("MicroMessenger", "WeChat"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"),
    ("Chrome", "Chrome"), ("Version/", "Safari"), ("curl/", "curl"),
  ]
  private static let systems = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("HarmonyOS", "HarmonyOS"), ("Android", "Android"),
    ("Windows", "Windows"), ("CrOS", "ChromeOS"), ("Macintosh", "macOS"), ("Linux", "Linux"),
  ]

  /// Such as Chrome on Linux; what is unknown is the whole text.
  static func phrase(_ agent: String) -> Phrase {
    let browser = browsers.first { agent.contains($0.0) }?.1
    let system = systems.first { agent.contains($0.0) }?.1
    return switch (browser, system) {
    case (let browser?, let system?): Words.browserOn.with(browser, system)
    case (let name?, nil): Phrase(name, name)
    case (nil, _) where agent.isEmpty: Words.unknownBrowser
    case (nil, _): Phrase(agent, agent)
    }
  }
}
