import BorealisBase

/// Converts `push_channel.android.ups.options` and `push_channel.harmony.options`: what single makers'
/// services are given beyond the notification. Keys that begin with `/` are paths in the maker's own request;
/// others are names that Getui's own libraries have. A key without a counterpart here has no effect, and the
/// sender sees its name; one that would change whom a request is for, or when, is refused.
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

  /// A key of a request and what it becomes.
  private typealias Given = (key: String, member: String, value: JSONValue, fields: GetuiFields)
  private typealias Key = (path: String, member: String, kind: Kind)

  /// By maker: objects of `options.third_party_channel`.
  private(set) var wishes = JSONObject()
  /// Members of `notification.hmos`.
  private(set) var harmony = JSONObject()

  /// The most characters of a text without a limit of its own.
  private static let longest = 1000
  /// The object for all makers. A maker's own object has the last word.
  private static let all = "ALL"

  private static let makers: [(name: String, channel: String, keys: [Key])] = [
    ("HW", "huawei", huawei), ("HO", "honor", honor), ("XM", "xiaomi", xiaomi), ("OP", "oppo", oppo),
    ("VV", "vivo", vivo),
    ("MZ", "meizu", [("/noticeBarInfo/noticeMsgType", "classification", .number(0...1))]),
  ]

  /// The last part of keys that choose devices or a time in a maker's request, without `_` and in small
  /// letters.
  private static let deciding: Set<String> = [
    "token", "tokens", "topic", "condition", "regid", "regids", "registrationid", "alias", "useraccount",
    "targettype", "targetvalue", "target", "appversion", "model", "region", "locale", "ttl", "timetolive",
    "timetosend", "offlinettl", "offline", "showttl", "showstarttime", "showendtime", "pushtimetype",
    "starttime", "endtime", "validtime", "pushtimeinfo", "onlysendonce",
  ]

  private static let huawei: [Key] =
    [
      ("/message/android/category", "category", .text(longest)),
      ("/message/android/urgency", "urgency", .text(longest)),
      ("/message/android/receipt_id", "receipt_id", .text(longest)),
      ("/message/android/target_user_type", "target_user_type", .number(0...1)),
    ] + below("/message/android/notification/", huaweiNotification)
    + [
      ("badgeAddNum", "badge_add_num", .number(1...99)), ("badgeClass", "badge_class", .text(longest)),
      ("icon", "small_icon_uri", .text(longest)),
    ]

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

  private static let xiaomi: [Key] = [
    ("/extra.channel_id", "channel_id", .text(longest)), ("channel", "channel_id", .text(longest)),
  ]

  private static let oppo: [Key] = [
    ("channel", "channel_id", .text(longest)),
    ("/channel_id", "channel_id", .text(longest)), ("/category", "category", .text(longest)),
    ("/notify_level", "notify_level", .number(1...16)),
    ("/private_msg_template_id", "private_msg_template_id", .text(longest)),
    ("/badge_operation_type", "badge_operation_type", .number(0...1)),
    ("/badge_message_count", "badge_message_count", .number(0...Int64(Int32.max))),
  ]

  private static let vivo: [Key] = [
    ("classification", "classification", .number(0...1)),
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
      try readAndroid(options)
    }
    guard let options = try channel?.fields("harmony")?.fields("options") else { return }
    let known = [Self.all, "HW", "HOSHW"]
    for name in known {
      guard let own = try options.fields(name) else { continue }
      for given in try Self.read(own, [Self.pushKit])[0] { harmony.set(given.member, given.value) }
    }
    try Self.passOthers(than: known, in: options)
    // Lines are shown by a style of their own.
    if harmony["inbox"] != nil { harmony.set("style", 2) }
  }

  private mutating func readAndroid(_ options: GetuiFields) throws(GetuiError) {
    let keys = Self.makers.map(\.keys)
    let forAll = try options.fields(Self.all).map { fields throws(GetuiError) in
      (fields: fields, given: try Self.read(fields, keys))
    }
    for (place, maker) in Self.makers.enumerated() {
      let own = try options.fields(maker.name)
      var given: [Given] = []
      if let forAll { given += forAll.given[place].map { ($0.key, $0.member, $0.value, forAll.fields) } }
      if let own { given += try Self.read(own, [maker.keys])[0].map { ($0.key, $0.member, $0.value, own) } }
      let wish = Self.wish(given, of: maker.channel)
      if !wish.isEmpty { wishes.set(maker.channel, .object(wish)) }
    }
    try Self.passOthers(than: [Self.all] + Self.makers.map(\.name), in: options)
  }

  /// Notes the keys for makers that no channel here reaches, such as Xiaomi's phones outside China, or
  /// refuses them.
  private static func passOthers(than known: [String], in options: GetuiFields) throws(GetuiError) {
    for member in options.object.members where !known.contains(member.key) {
      guard let object = member.value.object else {
        options.ignore(member.key)
        continue
      }
      _ = try read(options.inner(object, member.key), [])
    }
  }

  /// Reads an object: for each list of keys the values of those that it has. What is in no list is noted, or
  /// refused.
  private static func read(
    _ fields: GetuiFields, _ lists: [[Key]]
  ) throws(GetuiError) -> [[(key: String, member: String, value: JSONValue)]] {
    var found: [[(key: String, member: String, value: JSONValue)]] = lists.map { _ in [] }
    for path in fields.object.members.map(\.key) where fields[path] != nil {
      var isKnown = false
      for (place, list) in lists.enumerated() {
        guard let key = list.first(where: { $0.path == path }) else { continue }
        isKnown = true
        if let value = try value(fields, path, key.kind) { found[place].append((path, key.member, value)) }
      }
      if !isKnown { try pass(path, in: fields) }
    }
    return found
  }

  /// Notes a key that nothing obeys, or refuses it.
  private static func pass(_ key: String, in fields: GetuiFields) throws(GetuiError) {
    let last = key.split(whereSeparator: { $0 == "/" || $0 == "." }).last ?? ""
    guard fields.wish(key) != nil, deciding.contains(last.lowercased().filter { $0 != "_" }) else {
      return fields.ignore(key)
    }
    throw .invalid(fields.name(String(key.prefix(128))), "it would change whom the push is for, or when")
  }

  private static func value(
    _ fields: GetuiFields, _ path: String, _ kind: Kind
  ) throws(GetuiError) -> JSONValue? {
    switch kind {
    case .text(let most):
      guard let text = try fields.text(path, most: most), !text.isEmpty else { return nil }
      return .string(text)
    case .https:
      guard let text = try fields.text(path, most: longest), !text.isEmpty else { return nil }
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
        guard let text = line.string else { throw .wrongType(fields.name(path), "strings") }
        lines.set(String(place + 1), .string(text))
      }
      return lines.isEmpty ? nil : .object(lines)
    }
  }

  /// Merges the members for a maker; the last value of a member wins. Huawei and Honor want the activity
  /// with a number on the icon: a number without it has no effect, and without a number one is added.
  private static func wish(_ given: [Given], of channel: String) -> JSONObject {
    var wish = JSONObject()
    for given in given { wish.set(given.member, given.value) }
    guard channel == "huawei" || channel == "honor" else { return wish }
    let numbers = ["badge_add_num", "badge_set_num"]
    if wish["badge_class"] == nil {
      for number in numbers { _ = wish.remove(number) }
      for given in given where numbers.contains(given.member) { given.fields.ignore(given.key) }
    } else if numbers.allSatisfy({ wish[$0] == nil }) {
      wish.set("badge_add_num", 1)
    }
    return wish
  }

  /// The names of makers, and those of their channels.
  static var channels: [(maker: String, channel: String)] { makers.map { ($0.name, $0.channel) } }
}
