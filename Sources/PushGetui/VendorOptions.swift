import PushJSON

/// Converts `push_channel.android.ups.options` and `push_channel.harmony.options`: what single makers' services are told beyond the
/// notification. Keys that begin with `/` are paths in the maker's own request. Each key has a counterpart here, or is refused: no
/// key changes whom a request is for, who sends it, or where receipts go.
struct VendorOptions {
  /// What the value of a key may be.
  private enum Kind {
    case text(Int)
    case https
    case number(ClosedRange<Int64>)
    case flag
    /// A flag that is `"1"` or `"0"` here.
    case flagText
    /// A list of texts.
    case texts
  }

  private typealias Key = (path: String, member: String, kind: Kind)

  /// By maker: objects of `options.third_party_channel`.
  private(set) var wishes = JSONObject()
  /// Members of `notification.hmos`.
  private(set) var harmony = JSONObject()

  /// The most characters of a text without a limit of its own.
  private static let longest = 1000
  /// Makers whose phones no channel here reaches: Xiaomi's and OPPO's outside China.
  private static let unreached = ["XMG", "OPG"]

  private static let makers: [(name: String, channel: String, keys: [Key])] = [
    ("HW", "huawei", huawei), ("HO", "honor", honor),
    ("XM", "xiaomi", [("/extra.channel_id", "channel_id", .text(longest))]), ("OP", "oppo", oppo),
    ("VV", "vivo", vivo),
    ("MZ", "meizu", [("/noticeBarInfo/noticeMsgType", "classification", .number(0...1))]),
  ]

  private static let huawei: [Key] =
    [
      ("/message/android/category", "category", .text(longest)),
      ("/message/android/urgency", "urgency", .text(longest)),
      ("/message/android/receipt_id", "receipt_id", .text(longest)),
      ("/message/android/target_user_type", "target_user_type", .number(0...1)),
    ] + below("/message/android/notification/", huaweiNotification)
    // The names that Getui's own library has for them.
    + [("badgeAddNum", "badge_add_num", .number(1...99)), ("badgeClass", "badge_class", .text(longest))]

  private static let huaweiNotification: [Key] = [
    ("importance", "importance", .text(longest)), ("channel_id", "channel_id", .text(longest)),
    ("sound", "sound", .text(longest)), ("default_sound", "default_sound", .flag),
    ("image", "large_icon", .https), ("icon", "small_icon_uri", .text(longest)),
    ("badge/class", "badge_class", .text(longest)), ("badge/add_num", "badge_add_num", .number(1...99)),
    ("badge/set_num", "badge_set_num", .number(0...99)),
  ]

  private static let honor: [Key] =
    [("/android/targetUserType", "target_user_type", .number(0...1))]
    + below(
      "/android/notification/",
      [
        ("importance", "importance", .text(longest)), ("image", "large_icon", .https),
        ("badge/badgeClass", "badge_class", .text(longest)),
        ("badge/addNum", "badge_add_num", .number(1...99)),
        ("badge/setNum", "badge_set_num", .number(0...99)),
      ])

  private static let oppo: [Key] = [
    ("/channel_id", "channel_id", .text(longest)), ("/category", "category", .text(longest)),
    ("/notify_level", "notify_level", .number(1...16)),
    ("/private_msg_template_id", "private_msg_template_id", .text(longest)),
    ("/badge_operation_type", "badge_operation_type", .number(0...1)),
    ("/badge_message_count", "badge_message_count", .number(0...Int64(Int32.max))),
  ]

  private static let vivo: [Key] = [
    ("/classification", "classification", .number(0...1)), ("/category", "category", .text(longest)),
    ("/pushMode", "push_mode", .number(0...1)), ("/addBadge", "add_badge", .flag),
  ]

  /// Push Kit's version 3.
  private static let pushKit: [Key] =
    below(
      "/payload/notification/",
      [
        ("category", "category", .text(50)), ("image", "large_icon", .https),
        ("badge/addNum", "badge_add_num", .number(1...99)),
        ("badge/setNum", "badge_set_num", .number(0...99)), ("sound", "sound", .text(longest)),
        ("soundDuration", "sound_duration", .number(1...60)),
        ("foregroundShow", "display_foreground", .flagText), ("inboxContent", "inbox", .texts),
      ])
    + [
      ("/pushOptions/testMessage", "test_message", .flag),
      ("/pushOptions/receiptId", "receipt_id", .text(longest)),
    ]

  private static func below(_ path: String, _ keys: [Key]) -> [Key] {
    keys.map { (path + $0.path, $0.member, $0.kind) }
  }

  /// Reads `push_channel`.
  init(_ channel: GetuiFields?) throws(GetuiError) {
    if let options = try channel?.fields("android")?.fields("ups")?.fields("options") {
      for member in options.object.members where member.value != .null {
        guard let keys = try Self.maker(member.key, options) else { continue }
        if Self.unreached.contains(member.key) { continue }
        let known = Self.makers.first { $0.name == member.key }
        let told = try Self.read(keys, known?.keys ?? [])
        guard let known, !told.isEmpty else { continue }
        wishes.set(known.channel, .object(try Self.withBadge(told, keys, known.channel)))
      }
    }
    guard let options = try channel?.fields("harmony")?.fields("options") else { return }
    for member in options.object.members where member.value != .null {
      guard let keys = try Self.maker(member.key, options) else { continue }
      let isKnown = ["ALL", "HW", "HOSHW"].contains(member.key)
      for told in try Self.read(keys, isKnown ? Self.pushKit : []).members {
        harmony.set(told.key, told.value)
      }
    }
    // Lines are shown by a style of their own.
    if harmony["inbox"] != nil { harmony.set("style", 2) }
  }

  private static func maker(_ name: String, _ options: GetuiFields) throws(GetuiError) -> GetuiFields? {
    guard name.utf8.count <= 16 else { throw .overLimit(options.name(String(name.prefix(64)))) }
    return try options.fields(name)
  }

  private static func read(_ fields: GetuiFields, _ keys: [Key]) throws(GetuiError) -> JSONObject {
    var told = JSONObject()
    for member in fields.object.members where member.value != .null {
      let path = member.key
      guard let key = keys.first(where: { $0.path == path }) else {
        throw .invalid(fields.name(String(path.prefix(128))), "no channel obeys it")
      }
      if let value = try value(fields, path, key.kind) { told.set(key.member, value) }
    }
    return told
  }

  private static func value(
    _ fields: GetuiFields, _ path: String, _ kind: Kind
  ) throws(GetuiError) -> JSONValue? {
    switch kind {
    case .text(let most): return .string(try fields.required(path, most: most))
    case .https:
      let text = try fields.required(path, most: longest)
      guard text.hasPrefix("https://") else {
        throw .invalid(fields.name(path), "it must begin with https://")
      }
      return .string(text)
    case .number(let range): return try fields.integer(path, in: range).map { .number(JSONNumber($0)) }
    case .flag: return try fields.flag(path).map { .bool($0) }
    case .flagText: return try fields.flag(path).map { $0 ? "1" : "0" }
    case .texts:
      var lines = JSONObject()
      for (place, line) in try (fields.array(path, most: 3) ?? []).enumerated() {
        guard let text = line.string else { throw .wrongType(fields.name(path)) }
        lines.set(String(place + 1), .string(text))
      }
      return lines.isEmpty ? nil : .object(lines)
    }
  }

  /// Huawei and Honor want the activity with a number on the icon; without a number one is added.
  private static func withBadge(
    _ told: JSONObject, _ fields: GetuiFields, _ channel: String
  ) throws(GetuiError) -> JSONObject {
    guard channel == "huawei" || channel == "honor" else { return told }
    let hasNumber = told["badge_add_num"] != nil || told["badge_set_num"] != nil
    guard told["badge_class"] != nil else {
      guard hasNumber else { return told }
      throw .parameter("\(fields.path): a badge needs the class of the activity")
    }
    var told = told
    if !hasNumber { told.set("badge_add_num", 1) }
    return told
  }

  /// The names of makers, and those of their channels.
  static var channels: [(maker: String, channel: String)] { makers.map { ($0.name, $0.channel) } }
}
