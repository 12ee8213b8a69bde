import BorealisBase
import Model
import Testing

/// Every documented member of the push object against every JSON type: what is not of its type is refused,
/// and the message names the member. What is passed over for its content (Docs/api/jpush.md: "no effect") is
/// of its type all the same.
@Suite struct PushTypeTests {
  /// One value of each JSON type; an empty array and null count as absent everywhere.
  private static let samples: [(type: Character, value: JSONValue)] = [
    ("s", "no-such-value!"), ("i", 5), ("f", .number(JSONNumber(2.5) ?? JSONNumber(2))), ("b", true),
    ("a", [.array([])]), ("o", ["a": 7]),
  ]

  /// What a member may be: letters of `samples`. Values of the right type that break a rule of the member are
  /// refused too, so that nothing is said of types that are allowed.
  private static let members: [(path: String, allowed: String)] =
    [
      ("platform", "sa"), ("audience", "so"), ("notification", "o"), ("message", "o"), ("options", "o"),
      ("cid", "s"), ("callback", "o"), ("sms_message", "o"), ("inapp_message", "o"), ("live_activity", "o"),
      ("notification_3rd", "o"), ("audience.tag", "a"), ("audience.tag_and", "a"), ("audience.tag_not", "a"),
      ("audience.alias", "a"), ("audience.registration_id", "a"), ("audience.live_activity_id", "s"),
      ("notification.alert", "s"), ("notification.alternate_alert", "s"), ("notification.android", "o"),
      ("notification.ios", "o"), ("notification.hmos", "o"), ("notification.quickapp", "o"),
      ("notification.voip", "o"), ("notification.winphone", "o"), ("message.msg_content", "s"),
      ("message.title", "s"), ("message.content_type", "s"), ("message.extras", "o"),
      ("message.alternate_title", "s"), ("message.alternate_content", "s"), ("callback.url", "s"),
      ("callback.params", "o"), ("callback.type", "i"), ("inapp_message.inapp_message", "ib"),
    ] + ios + android + hmos + quickapp + options + fallback

  private static let ios = under(
    "notification.ios",
    [
      ("alert", "so"), ("alert.title", "s"), ("alert.subtitle", "s"), ("alert.body", "s"),
      ("alert.launch-image", "s"), ("alert.action-loc-key", "s"), ("alert.title-loc-key", "s"),
      ("alert.title-loc-args", ""), ("alert.subtitle-loc-key", "s"), ("alert.subtitle-loc-args", ""),
      ("alert.loc-key", "s"), ("alert.loc-args", ""), ("sound", "so"), ("sound.critical", "b"),
      ("sound.name", "s"), ("sound.volume", ""), ("badge", "i"), ("content-available", "b"),
      ("mutable-content", "b"), ("category", "s"), ("thread-id", "s"), ("interruption-level", ""),
      ("extras", "o"), ("relevance-score", ""), ("target-content-id", "s"), ("filter-criteria", "s"),
    ])
  private static let android = under(
    "notification.android",
    [
      ("alert", "s"), ("title", "s"), ("builder_id", "i"), ("channel_id", "s"), ("category", "s"),
      ("priority", ""), ("style", ""), ("alert_type", "i"), ("big_text", "s"), ("inbox", ""),
      ("inbox.line1", "s"), ("big_pic_path", "s"), ("large_icon", "s"), ("small_icon_uri", "s"),
      ("icon_bg_color", "s"), ("intent", "o"), ("intent.url", "s"), ("uri_activity", "s"),
      ("uri_action", "s"),
      ("badge_add_num", "i"), ("badge_set_num", "i"), ("badge_class", "s"), ("sound", "s"),
      ("show_begin_time", ""), ("show_end_time", ""), ("display_foreground", "b"), ("custom_buttons", ""),
      ("extras", "o"), ("extras.mipns_content_forshort", "s"), ("extras.oppns_content_forshort", "s"),
      ("extras.vpns_content_forshort", "s"), ("extras.mzpns_content_forshort", "s"),
      ("mipns_content_forshort", "s"), ("oppns_content_forshort", "s"), ("vpns_content_forshort", "s"),
      ("mzpns_content_forshort", "s"),
    ])
  private static let hmos = under(
    "notification.hmos",
    [
      ("alert", "s"), ("title", "s"), ("category", "s"), ("large_icon", "s"), ("intent", "o"),
      ("intent.url", "s"), ("badge_add_num", "i"), ("badge_set_num", "i"), ("test_message", "b"),
      ("receipt_id", "s"), ("extras", "o"), ("style", ""), ("inbox", ""), ("inbox.line1", "s"),
      ("push_type", ""), ("extra_data", "s"), ("display_foreground", "b"), ("sound", "s"),
      ("sound_duration", "i"), ("hm_payload", "o"),
    ])
  private static let quickapp = under(
    "notification.quickapp", [("alert", "s"), ("title", "s"), ("page", "s"), ("extras", "o")])
  private static let options = under(
    "options",
    [
      ("sendno", "i"), ("time_to_live", "i"), ("override_msg_id", "i"), ("apns_production", "b"),
      ("apns_collapse_id", "s"), ("big_push_duration", "i"), ("third_party_channel", "o"),
      ("third_party_channel.xiaomi", "o"), ("third_party_channel.hmos", "o"), ("classification", ""),
      ("target_event", ""), ("test_message", "b"), ("receipt_id", "s"), ("active_push", ""),
      ("need_backup", "b"), ("business_operation_code", "s"), ("test_model", "b"), ("alternate_set", ""),
      ("geofence", ""), ("portal_extra", "o"), ("notification_3rd_ver", ""), ("auto_truncation", "b"),
      ("mkt_enable", "b"), ("notification_switch_filter", "b"), ("apns_priority", "i"), ("strategy", "o"),
    ])
  private static let fallback = under(
    "notification_3rd",
    [
      ("title", "s"), ("content", "s"), ("intent", "o"), ("intent.url", "s"), ("uri_activity", "s"),
      ("uri_action", "s"), ("badge_add_num", "i"), ("badge_set_num", "i"), ("badge_class", "s"),
      ("sound", "s"), ("channel_id", "s"), ("extras", "o"),
    ])

  private static func under(_ path: String, _ members: [(String, String)]) -> [(
    path: String, allowed: String
  )] {
    members.map { ("\(path).\($0.0)", $0.1) }
  }

  private static let base = """
    {"platform":"all","audience":{"tag":["t"]},
     "notification":{"alert":"x","quickapp":{"alert":"x","title":"t","page":"p"}},
     "message":{"msg_content":"y"},"notification_3rd":{"content":"z"}}
    """

  private static func set(_ path: ArraySlice<Substring>, _ value: JSONValue, in json: JSONValue?) -> JSONValue
  {
    guard let key = path.first.map(String.init) else { return value }
    var object = json?.object ?? JSONObject()
    object.set(key, set(path.dropFirst(), value, in: object[key]))
    return .object(object)
  }

  @Test func everyMemberHasItsType() throws {
    let base = try parsed(Self.base)
    _ = try PushRequest.parse(base, rules: .withAPNs)
    for (path, allowed) in Self.members {
      for sample in Self.samples where !allowed.contains(sample.type) {
        let body = Self.set(path.split(separator: ".")[...], sample.value, in: base)
        let name = "\(path) as \(sample.type)"
        do throws(APIError) {
          _ = try PushRequest.parse(body, rules: .withAPNs)
          Issue.record("taken: \(name)")
        } catch {
          // What asks for a function that is not there is 2007, or 1035, whatever its type.
          #expect([1002, 1003, 1035, 2007].contains(error.code), "\(name): \(error.code)")
          let last = path.split(separator: ".").last.map(String.init) ?? path
          #expect(error.message.contains(last), "\(name): \(error.message)")
        }
      }
    }
  }

  /// A Live Activity stands alone.
  @Test func everyMemberOfALiveActivityHasItsType() throws {
    let base = try parsed(
      """
      {"platform":["ios"],"audience":"all","live_activity":{"ios":{"event":"start","attributes-type":"T",
       "attributes":{},"content-state":{},"alert":{"title":"t"}}}}
      """)
    _ = try PushRequest.parse(base, rules: .withAPNs)
    let members = [
      ("event", ""), ("attributes-type", "s"), ("attributes", "o"), ("content-state", "o"), ("alert", "o"),
      ("alert.title", "so"), ("alert.body", "so"), ("alert.sound", "so"), ("dismissal-date", "i"),
      ("stale-date", "i"), ("relevance-score", "i"), ("apns-priority", "i"),
    ]
    for (member, allowed) in members {
      for sample in Self.samples where !allowed.contains(sample.type) {
        let path = "live_activity.ios.\(member)"
        let body = Self.set(path.split(separator: ".")[...], sample.value, in: base)
        let result = Result { () throws(APIError) in try PushRequest.parse(body, rules: .withAPNs) }
        guard case .failure(let error) = result else {
          Issue.record("taken: \(path) as \(sample.type)")
          continue
        }
        #expect(error.code == 1003 && error.message.contains(member), "\(path): \(error.message)")
      }
    }
  }
}
