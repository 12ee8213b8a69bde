import BorealisBase
import Core
import HTTP
import Model
import Storage

/// A push body of Getui's API, converted to JPush's push object, which all other parts of the server
/// understand. It refuses members that the server does not support; the error names the member.
struct PushBody: Sendable {
  /// The action that a body asks for.
  enum Content: Sendable {
    /// Send a push: its push object without the audience.
    case push(JSONObject)
    /// Recall the pushes of a task.
    case revoke(GetuiTaskID)
  }

  /// The client's name for the request. A repeated request with the same name has no further effect.
  let requestID: String
  /// The group for reports, and the digest of the request.
  let origin: GetuiOrigin
  /// How long a stored message can be sent, in seconds: its `ttl`, or what a push without one gets.
  let lifetime: Int64
  /// When to send the push; nil for now.
  let moment: Timestamp?
  let content: Content
  /// Whether the server checks each device of the audience, which would block an event loop if the audience
  /// is large.
  let isCostly: Bool
  /// The span of the call; nil if it is not traced.
  var trace: ActiveSpan?

  private static let members = [
    "request_id", "group_name", "task_name", "settings", "audience", "push_message", "push_channel",
  ]

  /// Reads the body of a call that creates tasks of a kind. `longestLife` are the seconds that the app's plan
  /// allows, nil for any; `zone` is the server's time zone; `digest` computes a digest.
  init(
    _ body: GetuiFields, as kind: GetuiTaskID.Kind, longestLife: Int?, zone: any Zone,
    digest: ([UInt8]) -> RequestDigest?
  ) throws(GetuiError) {
    try body.allow(Self.members)
    let requestID = try body.required("request_id")
    guard (10...32).contains(requestID.unicodeScalars.count) else {
      throw .invalid("request_id", "it must have 10 to 32 characters")
    }
    guard !requestID.utf8.contains(0) else { throw .invalid("request_id", "it holds U+0000") }
    self.requestID = requestID
    let groupName = try body.text("group_name", most: 100) ?? ""
    let isPlain = groupName.utf8.allSatisfy {
      switch $0 {
      case 48...57, 65...90, 97...122, 45, 95: true
      default: false
      }
    }
    guard isPlain else { throw .invalid("group_name", "it may have letters, digits, - and _ only") }
    _ = try body.text("task_name")
    body.ignore("task_name")
    if let audience = body["audience"]?.object { body.inner(audience, "audience").ignore("alias_type") }
    let settings = try PushSettings(body, kind)
    moment = settings.moment
    let usual = min(PushOptions.defaultTimeToLiveOfGetui, longestLife ?? .max)
    lifetime = settings.timeToLive ?? Int64(usual)
    isCostly = kind == .app && !settings.activity.isEmpty
    content = try PushContentReader(body, settings, zone: zone).content()
    if case .revoke = content { try settings.checkRevoke() }
    // White space does not count: some clients repeat a request with other white space. The order of the
    // members counts.
    guard
      let digest = digest(Array(kind.rawValue.utf8) + JSONWriter.serialize(.object(body.object)))
    else { throw .busy }
    origin = GetuiOrigin(groupName: groupName, digest: digest)
  }
}

extension PushBody.Content {
  /// The stored form of a message.
  var stored: [UInt8] {
    switch self {
    case .push(let push): JSONWriter.serialize(.object(push))
    case .revoke(let task): JSONWriter.serialize(["revoke": .string(task.text)])
    }
  }

  /// Reads the stored form; nil if it is unreadable.
  init?(stored bytes: [UInt8]) {
    guard let json = try? parseJSON(bytes), let object = json.object else { return nil }
    if let revoke = object["revoke"] {
      guard let task = revoke.string.flatMap({ GetuiTaskID($0) }) else { return nil }
      self = .revoke(task)
    } else {
      self = .push(object)
    }
  }
}

/// The member `settings` of a push body.
struct PushSettings {
  /// How long the push is kept for offline devices, in seconds; 0 reaches only devices that can be reached
  /// now. Nil leaves it to the app's plan when the push is made.
  private(set) var timeToLive: Int64?
  private(set) var strategy: Int64 = 1
  private(set) var iosStrategy: Int64?
  /// The most messages per second; 0 for no limit.
  private(set) var speed: Int64 = 0
  private(set) var moment: Timestamp?
  private(set) var callback: String?
  /// Conditions on when a device was last connected.
  private(set) var activity: [ActivityCondition] = []
  /// Whether devices that show no notifications are left out.
  private(set) var skipsNotificationsOff = false

  private static let channels = [
    "st", "sn", "hw", "hwq", "ho", "hoshw", "xm", "xmg", "op", "opg", "vv", "mz", "hx", "fcm", "wx",
  ]

  init(_ body: GetuiFields, _ kind: GetuiTaskID.Kind) throws(GetuiError) {
    guard let fields = try body.fields("settings") else { return }
    try fields.allow([
      "ttl", "strategy", "speed", "schedule_time", "custom_callback", "filter_notify_off", "active_days",
      "need_backup", "activate_filter_day", "activate_filter_type", "lst", "active_push",
      "active_push_platform",
    ])
    if let ttl = try fields.integer("ttl", in: -1...259_200_000) {
      timeToLive = ttl <= 0 ? 0 : (ttl + 999) / 1000
    }
    try readStrategy(fields)
    if let speed = try fields.integer("speed", in: 0...1_000_000), speed > 0 {
      // One device gets its push as fast at any speed.
      if kind == .list { throw .invalid(fields.name("speed"), Self.onlyToMany) }
      if kind == .app { self.speed = speed }
    }
    if let moment = try fields.integer("schedule_time", in: 1...32_503_680_000_000) {
      guard kind == .app else { throw .invalid(fields.name("schedule_time"), Self.onlyToMany) }
      self.moment = Timestamp(milliseconds: moment)
    }
    callback = try fields.text("custom_callback", most: 512)
    fields.ignore("active_push_platform")
    skipsNotificationsOff = try fields.flag("filter_notify_off") ?? false
    for key in ["need_backup", "active_push"] {
      if try fields.flag(key) == true { throw .unsupported(fields.name(key)) }
    }
    if fields.wish("lst") != nil { throw .unsupported(fields.name("lst")) }
    try readActivity(fields)
    for value in try fields.array("active_push_platform", most: 3) ?? [] {
      guard let number = value.int64 ?? value.string.flatMap({ Int64($0) }), (1...3).contains(number) else {
        throw .invalid(fields.name("active_push_platform"), "it must hold 1, 2 and 3 only")
      }
    }
  }

  /// Refuses the settings that have no meaning for a revoke.
  func checkRevoke() throws(GetuiError) {
    let others = [
      ("schedule_time", moment != nil), ("speed", speed > 0),
      ("active_days and settings.activate_filter_day", !activity.isEmpty),
      ("custom_callback", callback != nil), ("filter_notify_off", skipsNotificationsOff),
    ]
    for (name, isThere) in others where isThere {
      throw .parameter("push_message.revoke and settings.\(name) cannot setting at same time")
    }
  }

  private static let onlyToMany = "it is for all, tag and fast_custom_tag"

  private mutating func readStrategy(_ fields: GetuiFields) throws(GetuiError) {
    guard let choice = try fields.fields("strategy") else { return }
    try choice.ignoreOthers(than: ["default", "ios"] + Self.channels)
    func number(_ key: String) throws(GetuiError) -> Int64? {
      guard let number = try choice.integer(key, in: Int64.min...Int64.max), number != 0 else { return nil }
      guard Strategy.getui(Int(truncatingIfNeeded: number)) != nil else {
        throw .invalid(choice.name(key), "it must be 1 to 4, or 6")
      }
      return number
    }
    strategy = try number("default") ?? 1
    iosStrategy = try number("ios")
    // Makers' channels have no strategy of their own.
    for key in Self.channels { if let own = try number(key), own != strategy { choice.ignore(key) } }
  }

  private mutating func readActivity(_ fields: GetuiFields) throws(GetuiError) {
    if let days = try fields.integer("active_days", in: 3...15) {
      activity.append(ActivityCondition(days: Int(days), keepsActive: true))
    }
    let days = try fields.integer("activate_filter_day", in: 1...ActivityCondition.mostDays)
    let type = try fields.integer("activate_filter_type", in: -1...1)
    guard days != nil || type != nil else { return }
    guard let days else { throw .missing(fields.name("activate_filter_day")) }
    guard let type else { throw .missing(fields.name("activate_filter_type")) }
    guard type != 0 else { throw .invalid(fields.name("activate_filter_type"), "it must be 1 or -1") }
    activity.append(ActivityCondition(days: Int(days), keepsActive: type == 1))
  }
}
