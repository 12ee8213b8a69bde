import PushBase
import PushDomain
import PushJSON

/// A push body of Getui's, read and converted: what all other parts of the server understand is JPush's push object. What cannot be
/// done is refused by name; nothing is passed over silently.
struct PushBody {
  /// The sender's name for the request, under which it is done once.
  let requestID: String
  /// The group that it counts under in reports; empty for none.
  let groupName: String
  /// Messages in a second at most, 0 for as fast as can be.
  let speed: Int64
  /// The push object without audience.
  let push: JSONObject

  /// Reads a body. `isToMany` tells whether `speed` may be there.
  init(_ body: GetuiFields, isToMany: Bool) throws(GetuiError) {
    try body.allow([
      "request_id", "group_name", "task_name", "settings", "audience", "push_message", "push_channel",
    ])
    let requestID = try body.required("request_id")
    guard (10...32).contains(requestID.unicodeScalars.count) else {
      throw .invalid("request_id", "it must have 10 to 32 characters")
    }
    self.requestID = requestID
    groupName = try body.text("group_name", most: 100) ?? ""
    let isPlain = groupName.utf8.allSatisfy {
      switch $0 {
      case 48...57, 65...90, 97...122, 45, 95: true
      default: false
      }
    }
    guard isPlain else { throw .invalid("group_name") }
    _ = try body.text("task_name")
    let settings = try PushSettings(body, isToMany: isToMany)
    speed = settings.speed
    push = try PushContentReader(body, settings).push()
  }
}

/// `settings` of a push body.
struct PushSettings {
  /// Seconds, 0 for those only who are online.
  private(set) var timeToLive: Int64 = 7200
  private(set) var strategy: Int64 = 1
  private(set) var iosStrategy: Int64?
  private(set) var speed: Int64 = 0
  private(set) var callback: String?

  private static let channels = [
    "st", "sn", "hw", "hwq", "ho", "hoshw", "xm", "xmg", "op", "opg", "vv", "mz", "hx", "fcm", "wx",
  ]

  init(_ body: GetuiFields, isToMany: Bool) throws(GetuiError) {
    guard let fields = try body.fields("settings") else { return }
    try fields.allow([
      "ttl", "strategy", "speed", "schedule_time", "custom_callback", "filter_notify_off", "active_days",
      "need_backup", "activate_filter_day", "activate_filter_type", "lst", "active_push",
      "active_push_platform",
    ])
    if let ttl = try fields.integer("ttl", in: -1...259_200_000) {
      timeToLive = ttl <= 0 ? 0 : (ttl + 999) / 1000
    }
    if let choice = try fields.fields("strategy") {
      try choice.allow(["default", "ios"] + Self.channels)
      func number(_ key: String) throws(GetuiError) -> Int64? {
        guard let number = try choice.integer(key, in: 1...6) else { return nil }
        guard Strategy.getui(Int(number)) != nil else { throw .invalid(choice.name(key)) }
        return number
      }
      strategy = try number("default") ?? 1
      iosStrategy = try number("ios")
      for key in Self.channels { _ = try number(key) }
    }
    if let speed = try fields.integer("speed", in: 0...1_000_000), speed > 0 {
      guard isToMany else { throw .invalid(fields.name("speed"), "it is for all, tag and fast_custom_tag") }
      self.speed = speed
    }
    callback = try fields.text("custom_callback", most: 512)
    for key in ["filter_notify_off", "need_backup", "active_push"] {
      if try fields.flag(key) == true { throw .unsupported(fields.name(key)) }
    }
    for key in ["active_days", "activate_filter_day", "activate_filter_type", "lst", "schedule_time"] {
      if try fields.integer(key, in: Int64.min...Int64.max) != nil { throw .unsupported(fields.name(key)) }
    }
    _ = try fields.array("active_push_platform")
  }
}

extension GetuiFields {
  /// Refuses members that are not in a list.
  func allow(_ keys: [String]) throws(GetuiError) {
    for member in object.members where !keys.contains(member.key) && member.value != .null {
      throw .invalid(name(String(member.key.prefix(64))), "it is not known")
    }
  }
}
