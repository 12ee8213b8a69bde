import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// A forecast says what then happens, device by device: at strict simulators of services, and over the
/// connections of devices.
@Suite struct ForecastTests {
  typealias Kind = ForecastWorld.Kind

  static let kinds: [Kind] = [
    Kind(name: "huawei", channel: "huawei"),
    Kind(name: "huawei-off", channel: "huawei", off: "notification_permission"),
    Kind(name: "huawei-here", channel: "huawei", connected: .foreground),
    Kind(name: "honor", channel: "honor"), Kind(name: "xiaomi", channel: "xiaomi"),
    Kind(name: "oppo", channel: "oppo"), Kind(name: "vivo", channel: "vivo"),
    Kind(name: "vivo-out", channel: "vivo", off: "opted_out"), Kind(name: "meizu", channel: "meizu"),
    Kind(name: "harmony", platform: .hmos, channel: "harmony"), Kind(name: "fcm", channel: "fcm"),
    Kind(name: "pair", channel: "huawei", other: "fcm"),
    Kind(name: "android"), Kind(name: "android-here", connected: .foreground),
    Kind(name: "hmos", platform: .hmos),
    Kind(name: "iphone", platform: .ios, channel: "apns"),
    Kind(name: "iphone-off", platform: .ios, channel: "apns", off: "notification_permission"),
    Kind(name: "iphone-here", platform: .ios, channel: "apns", connected: .foreground),
    Kind(name: "iphone-back", platform: .ios, channel: "apns", connected: .background),
    Kind(name: "ios", platform: .ios), Kind(name: "ios-here", platform: .ios, connected: .foreground),
    Kind(name: "bare-huawei", channel: "huawei", hasCredentials: false),
    Kind(name: "bare-android", hasCredentials: false),
    Kind(name: "bare-iphone", platform: .ios, channel: "apns", hasCredentials: false),
  ]

  /// Pushes, each with the devices that it is tried with; nil for all.
  static let pushes: [(name: String, push: JSONValue, kinds: [String]?)] = [
    ("plain", ["platform": "all", "notification": ["alert": "Hello"]], nil),
    (
      "service",
      [
        "platform": "all",
        "notification": [
          "alert": "Hello", "android": ["alert": "Hello", "category": "IM"],
          "hmos": ["alert": "Hello", "category": "IM"], "ios": ["alert": "Hello", "sound": "default"],
        ],
        "options": ["classification": 1],
      ],
      [
        "huawei", "huawei-off", "honor", "xiaomi", "oppo", "vivo", "vivo-out", "meizu", "harmony", "fcm",
        "iphone", "iphone-off", "iphone-here",
      ]
    ),
    (
      "marketing", ["platform": "all", "notification": ["alert": "Hello"], "options": ["classification": 0]],
      ["huawei", "honor", "xiaomi", "oppo", "vivo", "meizu", "harmony"]
    ),
    (
      "muted",
      [
        "platform": "all",
        "notification": ["android": ["alert": "Hello", "category": "IM", "alert_type": 2]],
        "options": ["classification": 1],
      ], ["huawei", "xiaomi", "vivo", "meizu", "fcm", "oppo"]
    ),
    (
      "channel",
      [
        "platform": "all", "notification": ["android": ["alert": "Hello", "channel_id": "111"]],
      ], ["huawei", "xiaomi", "oppo", "vivo"]
    ),
    (
      "template",
      [
        "platform": "all", "notification": ["android": ["alert": "Hello"]],
        "options": [
          "third_party_channel": ["xiaomi": ["channel_id": "111", "mi_template_id": "M1"]]
        ],
      ], ["xiaomi"]
    ),
    (
      "message", ["platform": "all", "message": ["msg_content": "data"]],
      ["huawei", "android-here", "iphone", "iphone-here", "ios", "hmos", "bare-android"]
    ),
    (
      "both",
      [
        "platform": "all", "notification": ["alert": "Hello"], "message": ["msg_content": "data"],
      ], ["huawei", "huawei-here", "android", "iphone", "iphone-here", "iphone-back", "ios", "bare-huawei"]
    ),
    (
      "now",
      ["platform": "all", "notification": ["alert": "Hello"], "options": ["time_to_live": 0]],
      ["huawei", "huawei-here", "android", "hmos", "iphone-here", "ios", "bare-huawei", "bare-android"]
    ),
    (
      "vendors",
      [
        "platform": "all", "notification": ["alert": "Hello"],
        "options": ["third_party_channel": ["huawei": ["distribution": "ospush"]]],
      ], ["huawei", "huawei-here", "android-here"]
    ),
    (
      "no-vendor",
      [
        "platform": "all", "notification": ["alert": "Hello"],
        "options": ["third_party_channel": ["huawei": ["distribution": "jpush"]]],
      ], ["huawei", "huawei-here", "pair", "fcm"]
    ),
    (
      "not-both",
      [
        "platform": "all", "notification": ["alert": "Hello"],
        "options": [
          "third_party_channel": ["huawei": ["distribution": "ospush", "distribution_fcm": "jpush"]]
        ],
      ], ["huawei", "pair", "fcm"]
    ),
    (
      "only-vendors",
      ["platform": "all", "notification": ["alert": "Hello"], "options": ["strategy": 2]],
      ["huawei-here", "android", "android-here", "ios", "bare-huawei", "bare-android"]
    ),
    (
      "wake",
      ["platform": "all", "notification": ["ios": ["alert": "", "content-available": true]]],
      ["iphone", "iphone-off"]
    ),
    (
      "filtered",
      [
        "platform": "all", "notification": ["alert": "Hello"],
        "options": ["notification_switch_filter": true],
      ],
      ["huawei", "huawei-off", "vivo-out", "iphone-off", "android"]
    ),
  ]

  /// What becomes of a push at a device: over which channel, when, and how.
  struct Fate: Hashable {
    let channel: String
    let moment: String
    let effect: String
  }

  @Test func `A forecast equals what the services and the devices then get`() throws {
    let world = try ForecastWorld(Self.kinds)
    var fixtures: [(String, ForecastWorld.Device, forecast: JSONValue, id: String?)] = []
    var plain: [Fate: Int64] = [:]
    for (name, push, kinds) in Self.pushes {
      for device in world.devices where kinds?.contains(device.kind.name) ?? true {
        let fixture = "\(name) to \(device.kind.name)"
        let forecast = try world.forecast(push, to: device)
        let mark = try world.mark()
        let id = try world.push(push, to: device)
        let requests = try world.requests(of: id, to: device, since: mark)
        fixtures.append((fixture, device, forecast, id))
        let expected = Self.fates(forecast)
        if name == "plain", device.kind.hasCredentials {
          for (fate, count) in expected { plain[fate, default: 0] += count }
        }
        #expect(forecast["audience"] == 1, "\(fixture)")
        #expect(expected.values.allSatisfy { $0 == 1 }, "\(fixture)")
        #expect((forecast["reached"] == 1) == !expected.isEmpty, "\(fixture)")
        let sent = requests.map { channel, request in
          let effect = Self.effect(channel, request)
          let isShown = effect != "silent" || request["aps"]?["alert"] != nil || channel != "apns"
          return Fate(
            channel: channel, moment: "now",
            effect: device.kind.off != nil && isShown ? "hidden" : effect)
        }
        #expect(
          Set(sent) == Set(expected.keys.filter { $0.channel != "connection" }), "\(fixture): \(forecast)")
        try explains(forecast, id, device, world, fixture)
      }
    }
    #expect(fixtures.count >= 60)
    // There is one of everything that a forecast can say of such devices.
    let fates = Set(fixtures.flatMap { Self.fates($0.forecast).keys })
    #expect(Set(fates.map(\.effect)) == ["loud", "silent", "registered", "hidden"])
    #expect(Set(fates.map(\.channel)) == Set(ForecastWorld.channels + ["connection"]))
    let nothing = fixtures.flatMap { $0.forecast["nothing"]?.array ?? [] }.compactMap { $0["cause"]?.string }
    #expect(
      Set(nothing) == ["left_out", "no_token", "no_credential", "no_channel", "online_only"])
    // The forecast for all devices is the sum of those for each.
    let all = Self.fates(try world.forecast(Self.pushes[0].push, to: nil))
    #expect(all == plain)

    try world.readAll()
    for (fixture, device, forecast, id) in fixtures {
      let expected = Self.fates(forecast).keys.filter { $0.channel == "connection" }
      let arrival = id.flatMap { device.arrivals[$0] }
      let isHere = device.kind.connected == .foreground || device.kind.connected != nil && !device.isPhone
      let fates = arrival.map { hasNotification in
        let effect = !hasNotification ? "silent" : device.kind.off != nil ? "hidden" : "loud"
        return [Fate(channel: "connection", moment: isHere ? "now" : "later", effect: effect)]
      }
      #expect(Set(fates ?? []) == Set(expected), "\(fixture): \(forecast)")
    }
  }

  /// What gets nothing has the cause that "Why?" finds afterwards.
  private func explains(
    _ forecast: JSONValue, _ id: String?, _ device: ForecastWorld.Device, _ world: ForecastWorld,
    _ fixture: String
  ) throws {
    let nothing = forecast["nothing"]?.array ?? []
    guard let id else {
      #expect(nothing.map { $0["cause"] } == ["left_out"], "\(fixture)")
      return
    }
    #expect((nothing.count == 1) == (forecast["reached"] == 0), "\(fixture)")
    let why = try world.why(id, device)
    if let cause = nothing.first?["cause"]?.string { #expect(why.first == cause, "\(fixture)") }
    for row in forecast["rows"]?.array ?? [] where row["when"] == "later" {
      for reason in row["reasons"]?.array ?? [] {
        let cause = reason["cause"]?.string ?? ""
        guard !["message_only", "permission_off"].contains(cause) else { continue }
        #expect(why.all.contains(cause), "\(fixture): \(cause), \(why.all)")
      }
    }
  }

  private static func fates(_ forecast: JSONValue) -> [Fate: Int64] {
    var fates: [Fate: Int64] = [:]
    for row in forecast["rows"]?.array ?? [] {
      for effect in ["loud", "silent", "registered", "hidden", "waiting"] {
        guard let count = row[effect]?.int64, count > 0 else { continue }
        let fate = Fate(
          channel: row["channel"]?.string ?? "", moment: row["when"]?.string ?? "", effect: effect)
        fates[fate, default: 0] += count
      }
    }
    return fates
  }

  // MARK: How services would show it

  private static let oppoService: Set<String> = [
    "IM", "ACCOUNT", "DEVICE_REMINDER", "ORDER", "TODO", "SUBSCRIPTION",
  ]

  /// What a request makes of a notification, by the rules of the service that gets it.
  private static func effect(_ channel: String, _ request: JSONValue) -> String {
    func loud(_ isLoud: Bool?) -> String { isLoud == true ? "loud" : "silent" }
    switch channel {
    case "apns": return loud(request["aps"]?["sound"] != nil)
    case "fcm":
      let shown = request["message"]?["android"]?["notification"]
      return loud(shown?["default_sound"] == true || shown?["sound"] != nil)
    case "huawei":
      let android = request["message"]?["android"]
      let shown = android?["notification"]
      let isMarketing = android?["category"] == "MARKETING" || shown?["importance"] == "LOW"
      return loud(!isMarketing && (shown?["default_sound"] == true || shown?["sound"] != nil))
    case "honor": return loud(request["android"]?["notification"]?["importance"] == "NORMAL")
    case "harmony": return loud(request["payload"]?["notification"]?["category"] != "MARKETING")
    case "xiaomi":
      guard request["extra.channel_id"] != nil else { return "silent" }
      guard request["extra.template_id"] != nil else { return "registered" }
      return loud(["-1", "1", "3", "5", "7"].contains(request["notify_type"]?.string))
    case "oppo":
      let shown = request.array?.first?["notification"]
      if let category = shown?["category"]?.string { return loud(oppoService.contains(category)) }
      return shown?["channel_id"] == nil ? "silent" : "registered"
    case "vivo":
      return loud(request["classification"] == 1 && [2, 4].contains(request["notifyType"]?.int64))
    case "meizu":
      let message = request["messageJson"]
      let hasSound = message?["advanceInfo"]?["notificationType"]?["sound"] == 1
      return loud(message?["noticeBarInfo"]?["noticeMsgType"] == 1 && hasSound)
    default: return channel
    }
  }
}

extension ForecastWorld.Device {
  fileprivate var isPhone: Bool { kind.platform == .ios }
}
