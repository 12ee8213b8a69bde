import PushDomain
import PushJSON

/// Reads `push_message` and `push_channel` of a push body and puts the push object together.
struct PushContentReader {
  private let settings: PushSettings
  private let message: GetuiFields
  private let channel: GetuiFields?

  init(_ body: GetuiFields, _ settings: PushSettings) throws(GetuiError) {
    self.settings = settings
    guard let message = try body.fields("push_message") else { throw .missing("push_message") }
    self.message = message
    channel = try body.fields("push_channel")
  }

  /// The push object without audience.
  func push() throws(GetuiError) -> JSONObject {
    try message.allow(["network_type", "duration", "notification", "transmission", "revoke"])
    if try message.integer("network_type", in: 0...1) == 1 { throw .unsupported("push_message.network_type") }
    if message["duration"] != nil { throw .unsupported("push_message.duration") }
    if message["revoke"] != nil { throw .unsupported("push_message.revoke") }
    let transmission = try message.text("transmission", most: 3072)
    let notification = try message.fields("notification")
    guard (transmission == nil) != (notification == nil) else {
      throw .parameter("please choose one of notification and transmission and revoke")
    }
    var push = JSONObject()
    var options = JSONObject()
    var shown = JSONObject()
    if let notification {
      let (android, harmony) = try OwnNotification(notification).objects()
      shown.set("android", .object(android))
      shown.set("hmos", .object(harmony))
    }
    try channel?.allow(["ios", "android", "harmony", "mp"])
    for key in ["android", "harmony", "mp"] { _ = try channel?.fields(key) }
    let ios = try channel?.fields("ios")
    if let ios { try AppleNotification(ios).write(to: &shown, &options) }
    if !shown.isEmpty { push.set("notification", .object(shown)) }
    if let transmission {
      guard !transmission.isEmpty else { throw .missing("push_message.transmission") }
      push.set("message", ["msg_content": .string(transmission)])
    }
    var platforms: [JSONValue] = ["android", "hmos"]
    if transmission != nil { platforms.append("quickapp") }
    if transmission != nil || ios != nil { platforms.append("ios") }
    push.set("platform", .array(platforms))
    options.set("time_to_live", .number(JSONNumber(settings.timeToLive)))
    var strategy = JSONObject(["default": .number(JSONNumber(settings.strategy))])
    if let ios = settings.iosStrategy { strategy.set("ios", .number(JSONNumber(ios))) }
    options.set("strategy", .object(strategy))
    push.set("options", .object(options))
    if let callback = settings.callback {
      push.set("callback", ["params": ["custom_callback": .string(callback)]])
    }
    return push
  }
}

extension JSONObject {
  /// An object with these members.
  init(_ members: KeyValuePairs<String, JSONValue>) {
    self.init()
    for (key, value) in members { set(key, value) }
  }
}

/// `push_message.notification`, which goes over the direct connection to everything but iPhones.
private struct OwnNotification {
  let fields: GetuiFields

  init(_ fields: GetuiFields) { self.fields = fields }

  private static let limits: [(key: String, most: Int)] = [
    ("big_text", 512), ("big_image", 1024), ("logo", 64), ("logo_url", 256), ("channel_id", 64),
    ("channel_name", 64), ("intent", 4096), ("url", 1024), ("payload", 3072), ("ring_name", 64),
    ("thread_id", 64), ("slot_type", 64), ("category", 64),
  ]
  private static let numbers: [(key: String, range: ClosedRange<Int64>)] = [
    ("channel_level", 0...4), ("notify_id", 0...2_147_483_647), ("badge_add_num", 1...99),
    ("redisplay_freq", 0...0), ("redisplay_duration", 0...24),
  ]

  /// Android's and Harmony's object. What has no member of its own there stands in `extras`, for the app.
  func objects() throws(GetuiError) -> (android: JSONObject, harmony: JSONObject) {
    try fields.allow(
      ["title", "body", "click_type", "want"] + Self.limits.map(\.key) + Self.numbers.map(\.key))
    let title = try fields.required("title", most: 50)
    let body = try fields.required("body", most: 256)
    let click = try fields.required("click_type")
    var extras = JSONObject(["click_type": .string(click)])
    for (key, most) in Self.limits {
      if let text = try fields.text(key, most: most) { extras.set(key, .string(text)) }
    }
    for (key, range) in Self.numbers {
      if let number = try fields.integer(key, in: range) { extras.set(key, .number(JSONNumber(number))) }
    }
    if let want = try fields.text("want") {
      guard want.utf8.count < 1000 else { throw .overLimit(fields.name("want")) }
      extras.set("want", .string(want))
    }
    if extras["big_text"] != nil, extras["big_image"] != nil {
      throw .parameter("big_text and big_image cannot setting at same time")
    }
    switch click {
    case "intent": _ = try fields.required("intent")
    case "url": _ = try fields.required("url")
    case "payload", "payload_custom": _ = try fields.required("payload")
    case "startapp", "none": break
    default: throw .invalid(fields.name("click_type"))
    }
    var android = JSONObject(["alert": .string(body), "title": .string(title)])
    var harmony = android
    if let text = extras.remove("big_text") {
      android.set("style", 1)
      android.set("big_text", text)
    }
    if let image = extras.remove("big_image") {
      android.set("style", 3)
      android.set("big_pic_path", image)
    }
    for (key, name) in [("category", "category"), ("badge_add_num", "badge_add_num")] {
      guard let value = extras.remove(key) else { continue }
      android.set(name, value)
      harmony.set(name, value)
    }
    if let id = extras.remove("channel_id") { android.set("channel_id", id) }
    if let sound = extras.remove("ring_name") { android.set("sound", sound) }
    if click == "intent", let intent = extras.remove("intent") {
      android.set("intent", ["url": intent])
    }
    android.set("extras", .object(extras))
    harmony.set("extras", .object(extras))
    return (android, harmony)
  }
}

/// `push_channel.ios`, which Apple brings.
private struct AppleNotification {
  let fields: GetuiFields

  init(_ fields: GetuiFields) { self.fields = fields }

  func write(to notification: inout JSONObject, _ options: inout JSONObject) throws(GetuiError) {
    try fields.allow(["type", "aps", "auto_badge", "payload", "multimedia", "apns-collapse-id", "laId"])
    let aps = try fields.fields("aps")
    let payload = try fields.text("payload")
    if let collapse = try fields.text("apns-collapse-id") {
      guard (1...64).contains(collapse.utf8.count) else { throw .overLimit(fields.name("apns-collapse-id")) }
      options.set("apns_collapse_id", .string(collapse))
    }
    switch try fields.text("type") ?? "notify" {
    case "notify": break
    case "voip":
      var call = JSONObject()
      if let aps { call.set("aps", .object(aps.object)) }
      if let payload { call.set("payload", .string(payload)) }
      guard !call.isEmpty else { throw .missing(fields.name("aps")) }
      return notification.set("voip", .object(call))
    case "liveactivity": throw .unsupported(fields.name("type") + " liveactivity")
    default: throw .invalid(fields.name("type"))
    }
    if fields["laId"] != nil { throw .unsupported(fields.name("laId")) }
    var ios = JSONObject()
    var extras = JSONObject()
    ios.set("alert", "")
    if let aps { try Self.copy(aps, to: &ios) }
    if let badge = try fields.text("auto_badge") {
      let digits = badge.hasPrefix("+") || badge.hasPrefix("-") ? badge.dropFirst() : badge[...]
      guard let number = Int(digits), (0...9999).contains(number) else {
        throw .invalid(fields.name("auto_badge"))
      }
      ios.set("badge", .string(badge))
    }
    if let payload { extras.set("payload", .string(payload)) }
    if let media = try fields.array("multimedia", most: 3), !media.isEmpty {
      for (index, value) in media.enumerated() {
        let name = "\(fields.name("multimedia"))[\(index)]"
        guard let object = value.object else { throw .wrongType(name) }
        let item = GetuiFields(object, path: name)
        _ = try item.required("url", most: 1024)
        guard try item.integer("type", in: 1...3) != nil else { throw .missing(item.name("type")) }
        _ = try item.flag("only_wifi")
      }
      extras.set("multimedia", .array(media))
      // The extension that loads them runs only then.
      ios.set("mutable-content", true)
    }
    if !extras.isEmpty { ios.set("extras", .object(extras)) }
    notification.set("ios", .object(ios))
  }

  private static let kept = [
    "category", "thread-id", "mutable-content", "interruption-level", "relevance-score", "target-content-id",
    "filter-criteria",
  ]

  private static func copy(_ aps: GetuiFields, to ios: inout JSONObject) throws(GetuiError) {
    for key in ["timestamp", "event", "dismissal-date", "content-state"] where aps[key] != nil {
      throw .unsupported(aps.name(key))
    }
    try aps.allow(["alert", "content-available", "sound", "badge"] + kept)
    if let alert = aps["alert"] { ios.set("alert", alert) }
    if try aps.integer("content-available", in: 0...1) == 1 { ios.set("content-available", true) }
    if let sound = try aps.text("sound") {
      ios.set("sound", .string(sound == "com.gexin.ios.silence" ? "" : sound))
    }
    if let badge = try aps.integer("badge", in: 0...99_999) { ios.set("badge", .number(JSONNumber(badge))) }
    for key in kept { if let value = aps[key] { ios.set(key, value) } }
  }
}
