import BorealisBase
import Model

/// Converts `push_channel.ios`, the notification that APNs delivers.
struct AppleNotification {
  private let fields: GetuiFields

  init(_ fields: GetuiFields) { self.fields = fields }

  func write(to notification: inout JSONObject, _ options: inout JSONObject) throws(GetuiError) {
    try fields.ignoreOthers(than: [
      "type", "aps", "auto_badge", "payload", "multimedia", "apns-collapse-id", "laId",
    ])
    if fields.wish("laId") != nil { throw .unsupported(fields.name("laId")) }
    let aps = try fields.fields("aps")
    let payload = try fields.text("payload")
    if let collapse = try fields.text("apns-collapse-id"), !collapse.isEmpty {
      guard collapse.utf8.count <= 64 else {
        throw .overLimit(fields.name("apns-collapse-id"), "at most 64 bytes are allowed")
      }
      options.set("apns_collapse_id", .string(collapse))
    }
    switch try fields.text("type") ?? "" {
    case "", "notify": break
    case "voip":
      for key in ["auto_badge", "multimedia"] { fields.ignore(key) }
      var call = JSONObject()
      if let aps { call.set("aps", .object(aps.object)) }
      if let payload { call.set("payload", .string(payload)) }
      guard !call.isEmpty else { throw .missing(fields.name("aps")) }
      return notification.set("voip", .object(call))
    case "liveactivity": throw .unsupported(fields.name("type") + " liveactivity")
    default: throw .invalid(fields.name("type"), "it must be notify or voip")
    }
    var ios = JSONObject()
    var extras = JSONObject()
    ios.set("alert", "")
    if let aps { try Self.copy(aps, to: &ios) }
    if let badge = try fields.text("auto_badge"), !badge.isEmpty {
      let digits = badge.hasPrefix("+") || badge.hasPrefix("-") ? badge.dropFirst() : badge[...]
      guard let number = Int(digits), (0...9999).contains(number) else {
        throw .invalid(fields.name("auto_badge"), "it must be a number up to 9999, such as 5, +1 or -1")
      }
      ios.set("badge", .string(badge))
    }
    if let payload { extras.set("payload", .string(payload)) }
    if let media = try fields.array("multimedia", most: 3), !media.isEmpty {
      for (index, value) in media.enumerated() {
        let name = "\(fields.name("multimedia"))[\(index)]"
        guard let object = value.object else { throw .wrongType(name, "a JSON object") }
        let item = GetuiFields(object, path: name, ignored: fields.ignored)
        try item.ignoreOthers(than: ["url", "type", "only_wifi"])
        _ = try item.required("url", most: 1024)
        guard try item.integer("type", in: 1...3) != nil else { throw .missing(item.name("type")) }
        _ = try item.flag("only_wifi")
      }
      extras.set("multimedia", .array(media))
      // iOS runs the extension that loads the items only for notifications with this flag.
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
    for key in ["timestamp", "event", "dismissal-date", "content-state"] where aps.wish(key) != nil {
      throw .unsupported(aps.name(key))
    }
    try aps.ignoreOthers(
      than: ["alert", "content-available", "sound", "badge", "timestamp", "event", "dismissal-date"]
        + ["content-state"] + kept)
    if let alert = aps["alert"] { ios.set("alert", alert) }
    if try aps.integer("content-available", in: 0...1) == 1 { ios.set("content-available", true) }
    if let sound = try aps.text("sound") {
      ios.set("sound", .string(sound == "com.gexin.ios.silence" ? "" : sound))
    }
    if let badge = try aps.integer("badge", in: 0...99_999) { ios.set("badge", .number(JSONNumber(badge))) }
    for key in kept { if let value = aps[key] { ios.set(key, value) } }
  }
}
