import BorealisBase

/// The members of `notification.<platform>` that are known. Others pass as they are.
enum PlatformSchema {
  static func fields(_ platform: Platform) -> [String: FieldKind] {
    switch platform {
    case .ios: ios
    case .android: android
    case .hmos: hmos
    case .quickapp: quickapp
    }
  }

  static let ios: [String: FieldKind] = [
    "alert": .iosAlert, "sound": .iosSound, "badge": .badge, "content-available": .flag,
    "mutable-content": .flag, "category": .text, "thread-id": .text,
    "interruption-level": .choice(["active", "critical", "passive", "time-sensitive"]),
    "relevance-score": .fraction, "target-content-id": .text, "filter-criteria": .text, "extras": .iosExtras,
  ]

  /// The object of a Live Activity, in the order in which its members are checked.
  static let liveActivity: [(key: String, kind: FieldKind)] = [
    ("attributes-type", .text), ("attributes", .object), ("content-state", .object),
    ("alert", .activityAlert), ("dismissal-date", .integer(0...Int64(UInt32.max))),
    ("stale-date", .integer(0...Int64(UInt32.max))), ("relevance-score", .integer(1...100)),
  ]

  static let android: [String: FieldKind] = [
    "alert": .text, "title": .text, "builder_id": .integer(0...Int64(Int32.max)),
    "channel_id": .textUpTo(1000), "category": .text, "priority": .integer(-2...2),
    "style": .integer(0...3), "alert_type": .integer(-1...7), "big_text": .text, "inbox": .lines,
    "big_pic_path": .text, "large_icon": .text, "small_icon_uri": .text, "icon_bg_color": .text,
    "intent": .intent, "uri_activity": .text, "uri_action": .text, "badge_add_num": .integer(1...99),
    "badge_set_num": .integer(0...99), "badge_class": .text, "sound": .text,
    "show_begin_time": .dateTime, "show_end_time": .dateTime, "display_foreground": .flagText,
    "custom_buttons": .buttons, "extras": .object, "mipns_content_forshort": .text,
    "oppns_content_forshort": .text, "vpns_content_forshort": .text, "mzpns_content_forshort": .text,
  ]

  static let hmos: [String: FieldKind] = [
    "alert": .text, "title": .text, "category": .text, "large_icon": .text, "intent": .intent,
    "badge_add_num": .integer(1...99), "badge_set_num": .integer(0...99), "test_message": .flag,
    "receipt_id": .text, "extras": .object, "style": .integer(0...2), "inbox": .lines,
    "push_type": .integer(0...10), "extra_data": .text, "display_foreground": .flagText, "sound": .text,
    "sound_duration": .integer(1...60), "hm_payload": .object,
  ]

  /// `notification_3rd` in its first version.
  static let fallback: [String: FieldKind] = [
    "title": .text, "content": .text, "intent": .intent, "uri_activity": .text, "uri_action": .text,
    "badge_add_num": .integer(1...99), "badge_set_num": .integer(0...99), "badge_class": .text,
    "sound": .text, "channel_id": .textUpTo(1000), "extras": .object,
  ]

  /// Checks the members of an object that a table names; others have no effect. Returns those to go by:
  /// without any whose value asks for nothing in a way that is not the member's own.
  static func check(
    _ fields: Fields, _ schema: [String: FieldKind]
  ) throws(APIError) -> [JSONObject.Member] {
    var members: [JSONObject.Member] = []
    for member in fields.present {
      if let kind = schema[member.key] {
        if try kind.check(member.key, member.value, in: fields) { members.append(member) }
        continue
      }
      fields.ignore(member.key)
      members.append(member)
    }
    return members
  }

  static let quickapp: [String: FieldKind] = [
    "alert": .text, "title": .text, "page": .text, "extras": .object,
  ]
}
