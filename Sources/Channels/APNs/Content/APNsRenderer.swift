import BorealisBase
import Model

/// Renders the parts of a push object that go to Apple. The objects have passed the checks of
/// `PlatformSchema`.
struct APNsRenderer {
  let options: PushOptions

  private static let messageIDKey = ContentDraft.messageIDMember

  // MARK: Notification

  /// `notification.ios`, or nothing but the common alert.
  func notification(_ ios: Fields, alert: JSONValue) throws(APIError) -> APNsNotification {
    let badge = Self.badge(ios["badge"])
    let sound = Self.sound(ios["sound"])
    let wakes = ios["content-available"].flatMap { Fields.flag($0) } == true
    let isVisible = Self.isVisible(alert)
    let isSilent = wakes && !isVisible && sound == nil && badge == .unchanged
    let encryption = options.encryption.flatMap { one in one.notification.map { one.value($0) } }
    guard encryption == nil || isVisible else {
      throw ios.invalid("alert", "must not be empty: Apple lets the app read only what is shown")
    }
    let says = isVisible || sound != nil
    let priority = try priority(isSilent: isSilent, isUrgent: says)

    var writer = APNsPayloadWriter()
    writer.beginObject("aps")
    // An empty text shows nothing. It stays only where nothing else would be left for Apple to look at.
    if isVisible || !(wakes || sound != nil || badge != .unchanged) {
      writer.member("alert", Self.withoutNulls(alert))
    }
    if let sound { writer.member("sound", sound) }
    if wakes { writer.member("content-available", 1) }
    let isMutable = encryption != nil || ios["mutable-content"].flatMap { Fields.flag($0) } == true
    if isMutable { writer.member("mutable-content", 1) }
    for key in Self.texts {
      if let value = ios[key], value != "" { writer.member(key, value) }
    }
    if badge != .unchanged { writer.hole("badge", .badge) }
    writer.endObject()
    writer.hole(Self.messageIDKey, .messageID)
    if let encryption {
      guard ios["extras"]?[PushEncryption.member] == nil else {
        throw ios.invalid("extras.\(PushEncryption.member)", "is reserved for the server")
      }
      writer.member(PushEncryption.member, encryption)
    }
    for member in ios["extras"]?.object?.members ?? [] { writer.member(member.key, member.value) }
    return try finish(
      &writer, type: isSilent ? .background : .alert, priority: priority, badge: badge, of: ios.path)
  }

  /// Members of `aps` that are taken over as they are.
  private static let texts = [
    "category", "thread-id", "interruption-level", "relevance-score", "target-content-id", "filter-criteria",
  ]

  /// Without `options.apns_priority`: 10 for pushes with an alert or a sound, 5 for silent pushes and badges
  /// alone.
  private func priority(isSilent: Bool, isUrgent: Bool) throws(APIError) -> APNsPriority {
    guard let asked = options.apnsPriority.flatMap({ APNsPriority(rawValue: $0) }) else {
      return isUrgent ? .immediate : .considerate
    }
    guard !isSilent || asked != .immediate else {
      throw .invalidValue("options.apns_priority must be 5 or 1 for a silent push: Apple refuses 10")
    }
    return asked
  }

  /// Whether there is anything to see in an alert.
  private static func isVisible(_ alert: JSONValue) -> Bool {
    if let object = alert.object { return Fields(object).present.contains { $0.value != "" } }
    return alert != ""
  }

  /// Absent members of an alert's object are left out.
  private static func withoutNulls(_ alert: JSONValue) -> JSONValue {
    guard let object = alert.object else { return alert }
    var present = JSONObject()
    for member in Fields(object).present { present.set(member.key, member.value) }
    return .object(present)
  }

  /// A sound as Apple wants it; nil for none, which JPush writes as an empty text.
  private static func sound(_ value: JSONValue?) -> JSONValue? {
    guard let object = value?.object else { return value == "" ? nil : value }
    var sound = JSONObject()
    if let critical = object["critical"].flatMap({ Fields.flag($0) }) {
      sound.set("critical", critical ? 1 : 0)
    }
    for key in ["name", "volume"] {
      if let value = object[key], !value.isNull { sound.set(key, value) }
    }
    return sound.isEmpty ? nil : .object(sound)
  }

  /// `"+1"` and `"-1"` count on, other numbers are set, `""` takes the number away. `"auto"`, which JPush's
  /// Python client lets through, has no documented meaning.
  private static func badge(_ value: JSONValue?) -> BadgeChange {
    if let number = value?.int64 { return .set(Int32(clamping: number)) }
    guard let text = value?.string, text != "auto" else { return .unchanged }
    let number = Int32(text) ?? 0
    return text.hasPrefix("+") || text.hasPrefix("-") ? .add(number) : .set(number)
  }

  // MARK: Calls

  /// `notification.voip`: any members, for the app's PushKit token.
  func call(_ voip: Fields) throws(APIError) -> APNsNotification {
    var writer = APNsPayloadWriter()
    writer.hole(Self.messageIDKey, .messageID)
    for member in voip.present {
      guard member.key != Self.messageIDKey else {
        throw voip.invalid(member.key, "is reserved for the server")
      }
      writer.member(member.key, member.value)
    }
    return try finish(&writer, type: .voip, priority: .immediate, badge: .unchanged, of: voip.path)
  }

  // MARK: Live Activities

  /// `live_activity.ios`: starts an activity, or changes or ends the one with the ID, which devices know.
  func liveActivity(_ ios: Fields, id: String?) throws(APIError) -> APNsNotification {
    guard let event = try ios.string("event") else { throw ios.missing("event") }
    let slot = try activitySlot(ios, isStart: event == "start", id)
    let needed =
      event == "start" ? ["attributes-type", "attributes", "content-state", "alert"] : ["content-state"]
    var writer = APNsPayloadWriter()
    writer.beginObject("aps")
    writer.hole("timestamp", .timestamp)
    writer.member("event", .string(event))
    for key in needed where ios[key] == nil { throw ios.missing(key) }
    for key in Self.activityMembers {
      if let value = ios[key] { writer.member(key, value) }
    }
    writer.endObject()
    writer.hole(Self.messageIDKey, .messageID)
    let priority: APNsPriority
    switch ios["apns-priority"].map({ $0.int64 }) {
    case nil, 10: priority = .immediate
    case 5: priority = .considerate
    default: throw ios.invalid("apns-priority", "must be 5 or 10")
    }
    return try finish(
      &writer, type: .liveActivity, slot: slot, priority: priority, badge: .unchanged, of: ios.path)
  }

  /// The token that an activity's push goes to: an activity that is to be started has none of its own yet.
  private func activitySlot(_ ios: Fields, isStart: Bool, _ id: String?) throws(APIError) -> APNsTokenSlot? {
    guard isStart else {
      guard let id else { throw .missing("Missing parameter: live_activity needs audience.live_activity_id") }
      return APNsTokenSlot(.liveActivity, name: id)
    }
    guard id == nil else {
      throw ios.invalid("event", "must not be start for a Live Activity that is there already")
    }
    guard let type = try ios.string("attributes-type") else { throw ios.missing("attributes-type") }
    guard let slot = APNsTokenSlot(.liveActivityStart, name: type), type.isPlainLine else {
      throw ios.invalid(
        "attributes-type", "must have 1 to \(APNsTokenSlot.maximumName) bytes and no control characters")
    }
    return slot
  }

  /// The members of an activity that go to Apple as they are.
  private static let activityMembers = [
    "attributes-type", "attributes", "content-state", "alert", "dismissal-date", "stale-date",
    "relevance-score",
  ]

  // MARK: All kinds

  private func finish(
    _ writer: inout APNsPayloadWriter, type: APNsPushType, slot: APNsTokenSlot? = nil,
    priority: APNsPriority, badge: BadgeChange, of path: String
  ) throws(APIError) -> APNsNotification {
    guard let payload = writer.finish() else { throw .internalError }
    guard payload.maximumBytes <= type.maximumPayload else {
      throw .tooLarge(
        "\(path) makes a payload of up to \(payload.maximumBytes) bytes for Apple, "
          + "which accepts at most \(type.maximumPayload)")
    }
    let notification = APNsNotification(
      type: type, slot: slot, priority: priority,
      wish: options.apnsProduction == false ? .sandbox : .production,
      isOneAttempt: options.timeToLive == 0, isBrief: type == .voip && !options.hasTimeToLive,
      collapse: collapse, badge: badge, payload: payload)
    guard let notification else { throw .internalError }
    return notification
  }

  private var collapse: APNsNotification.CollapseID {
    if let given = options.apnsCollapseID { return .given(Array(given.utf8)) }
    return options.overrideMessageID.map { .id($0) } ?? .ownID
  }
}
