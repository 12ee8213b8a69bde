import BorealisBase

/// Converts `push_message.notification`, which the direct connection delivers to all platforms but iOS.
struct OwnNotification {
  private let fields: GetuiFields
  private let window: DisplayWindow?

  init(_ fields: GetuiFields, _ window: DisplayWindow?) { (self.fields, self.window) = (fields, window) }

  private static let limits: [(key: String, most: Int)] = [
    ("big_text", 512), ("big_image", 1024), ("logo", 64), ("logo_url", 256), ("channel_id", 64),
    ("channel_name", 64), ("intent", 4096), ("url", 1024), ("payload", 3072), ("ring_name", 64),
    ("thread_id", 64), ("slot_type", 64), ("category", 64),
  ]
  private static let numbers: [(key: String, range: ClosedRange<Int64>)] = [
    ("channel_level", 0...4), ("notify_id", 0...2_147_483_647), ("badge_add_num", 1...99),
    ("redisplay_freq", 0...3), ("redisplay_duration", 0...24),
  ]

  /// Returns the objects for Android and HarmonyOS. Members without a counterpart stand in `extras`, for the
  /// app.
  func objects(_ zone: any Zone) throws(GetuiError) -> (android: JSONObject, harmony: JSONObject) {
    try fields.ignoreOthers(
      than: ["title", "body", "click_type", "want"] + Self.limits.map(\.key) + Self.numbers.map(\.key))
    let title = try fields.required("title", most: 50)
    let body = try fields.required("body", most: 256)
    let click = try fields.required("click_type")
    var extras = JSONObject(["click_type": .string(click)])
    for (key, most) in Self.limits {
      if let text = try fields.text(key, most: most), !text.isEmpty { extras.set(key, .string(text)) }
    }
    for (key, range) in Self.numbers {
      if let number = try fields.integer(key, in: range) { extras.set(key, .number(JSONNumber(number))) }
    }
    if let want = try fields.want() { extras.set("want", .string(want)) }
    if extras["big_text"] != nil, extras["big_image"] != nil {
      throw .parameter("big_text and big_image cannot setting at same time")
    }
    switch click {
    case "intent": _ = try fields.required("intent")
    case "url": _ = try fields.required("url")
    case "payload", "payload_custom": _ = try fields.required("payload")
    case "startapp", "none": break
    default:
      throw .invalid(
        fields.name("click_type"),
        "it must be one of intent, url, payload, payload_custom, startapp, none")
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
    if let sound = extras.remove("ring_name") {
      android.set("sound", sound)
      harmony.set("sound", sound)
    }
    if click == "intent", let intent = extras.remove("intent") {
      android.set("intent", ["url": intent])
      harmony.set("intent", ["url": intent])
    }
    if let window {
      android.set("show_begin_time", .string(zone.local(window.start).text))
      android.set("show_end_time", .string(zone.local(window.end).text))
      extras.set("duration", .string(window.text))
    }
    android.set("extras", .object(extras))
    harmony.set("extras", .object(extras))
    return (android, harmony)
  }
}

/// The time in which a notification may be shown (`push_message.duration`).
struct DisplayWindow: Sendable {
  let start, end: Timestamp

  /// A window must be longer than this, in milliseconds (Getui's REST API v2, `push_message`).
  private static let shortest: Int64 = 600_000

  /// Reads the member: two times in Unix milliseconds, separated by `-`. Nil if it is absent.
  init?(_ message: GetuiFields) throws(GetuiError) {
    guard let text = try message.text("duration"), !text.isEmpty else { return nil }
    let name = message.name("duration")
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    let range: ClosedRange<Int64> = 0...32_503_680_000_000
    guard ends.count == 2, let start = ends[0], let end = ends[1], range.contains(start), range.contains(end)
    else { throw .invalid(name, "it must be two times in milliseconds with - between them") }
    guard end - start > Self.shortest else { throw .invalid(name, "it must be more than 10 minutes") }
    (self.start, self.end) = (Timestamp(milliseconds: start), Timestamp(milliseconds: end))
  }

  /// The value of the member.
  var text: String { "\(start.milliseconds)-\(end.milliseconds)" }
}

extension GetuiFields {
  /// Reads `want`, HarmonyOS's target of a tap: a JSON object as a string, shorter than 1000 bytes.
  func want() throws(GetuiError) -> String? {
    guard let want = try text("want"), !want.isEmpty else { return nil }
    guard want.utf8.count < 1000 else {
      throw .overLimit(name("want"), "it must have less than 1000 bytes")
    }
    guard (try? parseJSON(Array(want.utf8)))?.object != nil else {
      throw .parameter("\(name("want")) must be JsonString: a JSON object as a string")
    }
    return want
  }
}
