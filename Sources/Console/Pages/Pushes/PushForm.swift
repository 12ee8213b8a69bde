import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What the test-push page asks for, and the push object that it stands for: the same JSON that an app server
/// would send.
struct PushForm: Sendable, Equatable {
  enum Kind: String, CaseIterable, Sendable { case notification, message }
  enum Audience: String, CaseIterable, Sendable { case everybody, segment, tag, alias, registration }

  var kind = Kind.notification
  /// Those whose devices are meant.
  var platforms = Set(Platform.allCases)
  var audience = Audience.registration
  /// Registration IDs, or aliases, or tags of which a device has one.
  var names = ""
  /// Tags that a device has all of, and tags that it has none of.
  var allTags = ""
  var noTags = ""
  /// The number of a segment.
  var segment = ""
  var title = ""
  var text = ""
  /// For how long it is kept for those who are away; nil for as long as the app's plan allows, at most a day.
  var hours: Int?
  /// Whether what was typed there is nothing, or a number from 0 to `mostHours`.
  private(set) var hasValidHours = true
  var extras = PushExtras()
  var canary = PushCanary()
  var timing = PushTiming()

  /// As many as the push object may say (`options.time_to_live`).
  static let mostHours = 240

  /// A day, or the whole hours that an app's plan allows; nil if that is less than one.
  private static func usualHours(of app: App?) -> Int? {
    let hours = min(24, (app?.plan.maxTimeToLive ?? 86_400) / 3600)
    return hours > 0 ? hours : nil
  }

  /// An empty one.
  init(for app: App? = nil) { hours = Self.usualHours(of: app) }

  init(_ call: PageCall) {
    kind = Kind(rawValue: call.field("kind")) ?? .notification
    platforms = Set(Platform.allCases.filter { call.form?[$0.name] != nil })
    audience = Audience(rawValue: call.field("audience")) ?? .registration
    names = call.field("names")
    allTags = call.field("all_tags")
    noTags = call.field("no_tags")
    segment = call.field("segment")
    title = call.field("title")
    // Browsers end the lines of a field with two characters.
    text = call.field("text").replacing("\r\n", with: "\n")
    extras = PushExtras(call)
    canary = PushCanary(call)
    timing = PushTiming(call)
    let typed = call.field("hours")
    hours = Int(typed).flatMap { (0...Self.mostHours).contains($0) ? $0 : nil }
    hasValidHours = typed.isEmpty || hours != nil
  }

  /// The form that was filled in for a push object; nil for an object with something that the form has no
  /// field for.
  init?(of object: JSONValue, rules: PushRules) {
    let (notification, options) = (object["notification"], object["options"])
    let parts = Platform.allCases.compactMap { notification?[$0.name] }
    kind = notification == nil ? .message : .notification
    if let names = object["platform"]?.array {
      platforms = Set(Platform.allCases.filter { names.contains(.string($0.name)) })
    }
    let alerts = (parts + [notification].compactMap { $0 }).compactMap { $0["alert"] }
    title =
      (parts + [object["message"]].compactMap { $0 }).lazy.compactMap { $0["title"]?.string }.first
      ?? alerts.lazy.compactMap { $0["title"]?.string }.first ?? ""
    text =
      object["message"]?["msg_content"]?.string
      ?? alerts.lazy.compactMap { $0.string ?? $0["body"]?.string }.first ?? ""
    hours = options?["time_to_live"]?.number?.int64.flatMap { $0 % 3600 == 0 ? Int($0 / 3600) : nil }
    extras = PushExtras(of: object)
    canary = PushCanary(of: options)
    read(object["audience"])
    guard isWhole(object, rules) else { return nil }
  }

  /// Whether the form makes the same push as the object that it was filled in for. A quick app that the
  /// object has no part for may get the title and the page that its notification needs.
  private func isWhole(_ object: JSONValue, _ rules: PushRules) -> Bool {
    guard var kept = try? PushRequest.parse(object, rules: rules, audience: .any),
      let own = try? PushRequest.parse(json, rules: rules)
    else { return false }
    let isSame = Platform.allCases.allSatisfy { platform in
      if platform == .quickapp, object["notification"]?["quickapp"] == nil { return true }
      let (one, other) = (own.content.variant(for: platform), kept.content.variant(for: platform))
      return one?.notification == other?.notification && one?.message == other?.message
    }
    guard isSame, own.content.forChannels == kept.content.forChannels,
      own.content.overrides == kept.content.overrides
    else { return false }
    (kept.cid, kept.content, kept.later) = (nil, own.content, own.later)
    return own == kept
  }

  private mutating func read(_ audience: JSONValue?) {
    func list(_ key: String) -> String {
      (audience?[key]?.array ?? []).compactMap(\.string).joined(separator: ", ")
    }
    (allTags, noTags) = (list("tag_and"), list("tag_not"))
    for (kind, key) in [
      (Audience.registration, "registration_id"), (.alias, "alias"), (.tag, "tag"),
    ] where audience?[key] != nil {
      (self.audience, names) = (kind, list(key))
    }
    if audience?["segment"] != nil { (self.audience, segment) = (.segment, list("segment")) }
    if audience?.string == "all" { self.audience = .everybody }
    if audience?["tag_and"] != nil || audience?["tag_not"] != nil { self.audience = .tag }
  }

  /// What is typed in the form, by the names of the fields.
  var fields: [(name: String, value: String)] {
    extras.fields + canary.fields + timing.fields + [
      ("text", text), ("title", title), ("names", names), ("all_tags", allTags), ("no_tags", noTags),
      ("segment", segment),
    ]
  }

  /// Whether the audience fields have a value.
  var namesAnybody: Bool {
    audience == .everybody || [names, allTags, noTags, segment].contains { !$0.isEmpty }
  }

  /// The push object.
  var json: JSONValue {
    var push = JSONObject()
    let chosen = Platform.allCases.filter(platforms.contains)
    push.set(
      "platform", platforms.count == Platform.allCases.count ? "all" : .array(chosen.map { .string($0.name) })
    )
    push.set("audience", audienceJSON)
    switch kind {
    case .notification:
      push.set("notification", notificationJSON)
      extras.add(toPush: &push)
    case .message:
      var message = JSONObject()
      message.set("msg_content", .string(text))
      if !title.isEmpty { message.set("title", .string(title)) }
      extras.add(toMessage: &message)
      push.set("message", .object(message))
    }
    var options = JSONObject()
    if let hours { options.set("time_to_live", .number(JSONNumber(Int64(hours) * 3600))) }
    extras.add(toOptions: &options, isNotification: kind == .notification)
    canary.add(to: &options)
    push.set("options", .object(options))
    return .object(push)
  }

  private var audienceJSON: JSONValue {
    var audience = JSONObject()
    func set(_ key: String, _ text: String) {
      let list = Self.list(text)
      if !list.isEmpty { audience.set(key, .array(list.map { .string($0) })) }
    }
    switch self.audience {
    case .everybody: return "all"
    case .segment: set("segment", segment)
    case .registration: set("registration_id", names)
    case .alias: set("alias", names)
    case .tag:
      set("tag", names)
      set("tag_and", allTags)
      set("tag_not", noTags)
    }
    return .object(audience)
  }

  /// Each platform has a part of its own, so that the title is where its devices look for it.
  private var notificationJSON: JSONValue {
    var notification = JSONObject()
    for platform in Platform.allCases where platforms.contains(platform) {
      var part = JSONObject()
      if platform == .ios, !title.isEmpty {
        part.set("alert", ["title": .string(title), "body": .string(text)])
      } else {
        part.set("alert", .string(text))
        // A quick app's notification must have one.
        if platform != .ios, !title.isEmpty || platform == .quickapp { part.set("title", .string(title)) }
      }
      extras.add(to: &part, of: platform)
      notification.set(platform.name, .object(part))
    }
    return .object(notification)
  }

  /// Names with commas, white space or new lines between them.
  static func list(_ text: String) -> [String] {
    text.split { $0 == "," || $0 == "，" || $0.isWhitespace }.map { String($0) }
  }
}
