import BorealisBase
import Channels
import Model
import Testing

extension PushRules {
  /// The default rules with this channel plugged in.
  static let withAPNs = PushRules(renderers: [APNsContentRenderer()])
}

private func parsed(_ text: String) throws -> JSONValue { try parseJSON(Array(text.utf8)) }

/// What a push object becomes.
func content(_ text: String, rules: PushRules = .withAPNs) throws -> PushContent {
  try PushRequest.parse(try parsed(text), rules: rules).content
}

/// The code that a push object is refused with, 0 if it is taken; and the message.
private func outcome(_ text: String, rules: PushRules = .withAPNs) throws -> (code: Int, message: String) {
  let json = try parsed(text)
  do throws(APIError) {
    _ = try PushRequest.parse(json, rules: rules)
    return (0, "")
  } catch {
    return (error.code, error.message)
  }
}

private let renderers: [any ContentRenderer] = [APNsContentRenderer()]

/// A push to iOS alone with these members of `notification.ios`, and with these further members.
private func ios(_ members: String, _ more: String = "") -> String {
  #"{"platform":["ios"],"audience":"all","notification":{"ios":{\#(members)}}\#(more)}"#
}

private func rendered(_ notification: APNsNotification, id: UInt64 = 7, badge: Int64 = 0) -> String {
  var bytes: [UInt8] = []
  notification.render(messageID: MessageID(id), badge: badge, into: &bytes)
  return String(decoding: bytes, as: UTF8.self)
}

@Suite struct APNsNotificationTests {
  @Test(arguments: [
    // Alerts.
    (#""alert":"Hello""#, #"{"aps":{"alert":"Hello"},"_j_msgid":7}"#),
    (
      #""alert":{"title":"T","subtitle":"S","body":"B","launch-image":"i.png","loc-key":"K","loc-args":["a","b"]}"#,
      #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"i.png","loc-key":"K","loc-args":["a","b"]}},"_j_msgid":7}"#
    ),
    (
      #""alert":{"title":"T","body":null,"loc-args":[],"my-key":1}"#,
      #"{"aps":{"alert":{"title":"T","my-key":1}},"_j_msgid":7}"#
    ),
    // As few bytes as there can be: no escape that isn't needed.
    (
      #""alert":"\u6df1\u5733 \ud83d\ude80 \/a\/b \u00e9 \" \\ \n \u0001""#,
      #"{"aps":{"alert":"深圳 🚀 /a/b é \" \\ \n \u0001"},"_j_msgid":7}"#
    ),
    // Sounds.
    (
      #""alert":"x","sound":"default""#, #"{"aps":{"alert":"x","sound":"default"},"_j_msgid":7}"#
    ),
    (#""alert":"x","sound":"""#, #"{"aps":{"alert":"x"},"_j_msgid":7}"#),
    (
      #""alert":"x","sound":{"critical":true,"name":"siren.caf","volume":0.80,"other":1}"#,
      #"{"aps":{"alert":"x","sound":{"critical":1,"name":"siren.caf","volume":0.80}},"_j_msgid":7}"#
    ),
    (#""alert":"x","sound":{}"#, #"{"aps":{"alert":"x"},"_j_msgid":7}"#),
    // Flags in every form that clients send.
    (
      #""alert":"x","content-available":true,"mutable-content":"true""#,
      #"{"aps":{"alert":"x","content-available":1,"mutable-content":1},"_j_msgid":7}"#
    ),
    (#""alert":"x","content-available":0,"mutable-content":false"#, #"{"aps":{"alert":"x"},"_j_msgid":7}"#),
    (#""alert":"x","mutable-content":1"#, #"{"aps":{"alert":"x","mutable-content":1},"_j_msgid":7}"#),
    // What is taken over as it is.
    (
      #""alert":"x","category":"c","thread-id":"t","interruption-level":"passive","relevance-score":0.50,"target-content-id":"w","filter-criteria":"f""#,
      #"{"aps":{"alert":"x","category":"c","thread-id":"t","interruption-level":"passive","relevance-score":0.50,"target-content-id":"w","filter-criteria":"f"},"_j_msgid":7}"#
    ),
    (#""alert":"x","category":"","thread-id":null"#, #"{"aps":{"alert":"x"},"_j_msgid":7}"#),
    // The app's own members stand beside `aps`; what nobody knows stays with us.
    (
      #""alert":"x","extras":{"order_id":"A77","n":1e3,"o":{"a":[true,null]}},"brand_new":1"#,
      #"{"aps":{"alert":"x"},"_j_msgid":7,"order_id":"A77","n":1e3,"o":{"a":[true,null]}}"#
    ),
  ])
  func payloads(_ members: String, _ expected: String) throws {
    let apns = try #require(try content(ios(members)).apns)
    #expect(rendered(apns) == expected)
    #expect(apns.type == .alert && apns.priority == .immediate && apns.badge == .unchanged)
  }

  @Test func theCommonAlertServesAppleToo() throws {
    let both = #"{"platform":"all","audience":"all","notification":{"alert":"common"%}}"#
    for (own, expected) in [
      ("", "common"), (#","ios":{"badge":1}"#, "common"), (#","ios":{"alert":"own"}"#, "own"),
    ] {
      let apns = try #require(try content(both.replacing("%", with: own)).apns)
      #expect(rendered(apns).contains(#""alert":"\#(expected)""#))
    }
    let android = #"{"platform":["android"],"audience":"all","notification":{"alert":"x","voip":{"a":1}}}"#
    #expect(try content(android).apple == [])
    let message = #"{"platform":["ios"],"audience":"all","message":{"msg_content":"x"}}"#
    #expect(try content(message).apple == [])
  }

  @Test(arguments: [
    ("1", BadgeChange.set(1), Int64(40), Int64?(1)), (#""7""#, .set(7), 40, 7), ("0", .set(0), 40, 0),
    (#""""#, .set(0), 40, 0),
    (#""+1""#, .add(1), 40, 41), (#""-1""#, .add(-1), 40, 39), (#""-50""#, .add(-50), 40, 0),
    ("-3", .set(-3), 40, 0),
    (#""+99999""#, .add(99_999), 40, 99_999), (#""+2""#, .add(2), Int64.max, 99_999),
    (#""-2""#, .add(-2), .min, 0), (#""auto""#, .unchanged, 40, nil), ("null", .unchanged, 40, nil),
  ])
  func badges(_ value: String, _ badge: BadgeChange, _ stored: Int64, _ shown: Int64?) throws {
    let apns = try #require(try content(ios(#""alert":"x","badge":\#(value)"#)).apns)
    #expect(apns.badge == badge)
    #expect(apns.badge.applied(to: stored) == shown)
    let expected = shown.map { #"{"aps":{"alert":"x","badge":\#($0)},"_j_msgid":7}"# }
    #expect(rendered(apns, badge: shown ?? 3) == expected ?? #"{"aps":{"alert":"x"},"_j_msgid":7}"#)
  }

  /// Apple refuses a silent push of another type or of priority 10, and iOS drops one that also shows
  /// something.
  @Test(arguments: [
    (#""alert":"","content-available":1"#, APNsPushType.background, 5, #"{"content-available":1}"#),
    (#""alert":"","sound":"","content-available":true"#, .background, 5, #"{"content-available":1}"#),
    (
      #""alert":{"title":"","body":""},"content-available":true,"thread-id":"t""#, .background, 5,
      #"{"content-available":1,"thread-id":"t"}"#
    ),
    (#""alert":"x","content-available":1"#, .alert, 10, #"{"alert":"x","content-available":1}"#),
    (
      #""alert":"","sound":"a.caf","content-available":1"#, .alert, 10,
      #"{"sound":"a.caf","content-available":1}"#
    ),
    (#""alert":"","badge":2,"content-available":1"#, .alert, 5, #"{"content-available":1,"badge":0}"#),
    (#""alert":"","badge":"+1""#, .alert, 5, #"{"badge":0}"#), (#""alert":"""#, .alert, 5, #"{"alert":""}"#),
    (#""alert":"","mutable-content":1"#, .alert, 5, #"{"alert":"","mutable-content":1}"#),
  ])
  func silence(_ members: String, _ type: APNsPushType, _ priority: UInt8, _ aps: String) throws {
    let apns = try #require(try content(ios(members)).apns)
    #expect(rendered(apns) == #"{"aps":\#(aps),"_j_msgid":7}"#)
    #expect(apns.type == type && apns.priority.rawValue == priority)
    #expect(apns.type.topicSuffix == "")
  }

  @Test(arguments: [
    ("x", 10, APNsPriority.immediate), ("x", 5, .considerate), ("x", 1, .powerSaving),
    ("", 5, .considerate), ("", 1, .powerSaving), ("", 10, nil), ("x", 7, nil), ("x", 0, .immediate),
  ])
  func askedPriority(_ alert: String, _ asked: Int, _ expected: APNsPriority?) throws {
    let text = ios(
      #""alert":"\#(alert)","content-available":1"#, #","options":{"apns_priority":\#(asked)}"#)
    guard let expected else {
      let result = try outcome(text)
      #expect(result.code == 1003 && result.message.contains("options.apns_priority"), "\(result)")
      return
    }
    #expect(try content(text).apns?.priority == expected)
  }

  // MARK: Headers

  @Test(arguments: [
    ("{}", "7", APNsEnvironment.production, Int64(1_767_225_600)),
    (#"{"apns_collapse_id":"order-A77","apns_production":false}"#, "order-A77", .sandbox, 1_767_225_600),
    (#"{"override_msg_id":"123","apns_production":true}"#, "123", .production, 1_767_225_600),
    (#"{"override_msg_id":"123","apns_collapse_id":"c"}"#, "c", .production, 1_767_225_600),
    (#"{"time_to_live":0,"apns_production":"false"}"#, "7", .sandbox, 0),
  ])
  func headers(
    _ options: String, _ collapse: String, _ wish: APNsEnvironment, _ expiration: Int64
  ) throws {
    let apns = try #require(try content(ios(#""alert":"x""#, #","options":\#(options)"#)).apns)
    #expect(apns.collapseID(of: MessageID(7)).map { String(decoding: $0, as: UTF8.self) } == collapse)
    #expect(apns.expiration(of: Timestamp(milliseconds: 1_767_225_600_999)) == expiration)
    #expect(apns.environment(registered: .none) == wish)
    for registered in [APNsEnvironment.production, .sandbox] {
      #expect(apns.environment(registered: registered) == registered)
    }
  }

  /// B overrides A and C overrides B: all three are one banner, whatever A's collapse ID was.
  @Test(arguments: [(#"{}"#, "1"), (#"{"apns_collapse_id":"score"}"#, "score")])
  func overriddenPushesShareTheCollapseID(_ options: String, _ expected: String) throws {
    let first = try content(ios(#""alert":"a""#, #","options":\#(options)"#))
    var second = try content(ios(#""alert":"b""#, #","options":{"override_msg_id":1}"#))
    second.replaceNotification(of: first, renderers)
    var third = try content(ios(#""alert":"c""#, #","options":{"override_msg_id":2}"#))
    third.replaceNotification(of: second, renderers)
    for (id, content) in [(1, first), (2, second), (3, third)] as [(UInt64, PushContent)] {
      let collapse = try #require(content.apns?.collapseID(of: MessageID(id)))
      #expect(String(decoding: collapse, as: UTF8.self) == expected)
    }
    var own = try content(
      ios(#""alert":"d""#, #","options":{"override_msg_id":1,"apns_collapse_id":"own"}"#))
    own.replaceNotification(of: first, renderers)
    #expect(own.apns?.collapse == .given(Array("own".utf8)))
  }

  // MARK: Other tokens

  @Test func calls() throws {
    let text = ios(
      #""alert":"x""#, #","options":{"time_to_live":60}"#
    ).replacing(
      #""notification":{"#, with: #""notification":{"voip":{"caller":"Анна","aps":{"a":1},"none":[]},"#)
    let both = try content(text)
    let call = try #require(both.apns(for: .voip))
    #expect(rendered(call) == #"{"_j_msgid":7,"caller":"Анна","aps":{"a":1}}"#)
    #expect(call.type.name == "voip" && call.type.topicSuffix == ".voip" && call.priority == .immediate)
    #expect(call.collapseID(of: MessageID(7)) == nil)
    #expect(call.expiration(of: Timestamp(milliseconds: 9000)) == 0, "a late call is worse than none")
    #expect(both.apns.map { rendered($0) } == #"{"aps":{"alert":"x"},"_j_msgid":7}"#)
    let taken = try outcome(text.replacing("caller", with: "_j_msgid"))
    #expect(taken.code == 1003 && taken.message.contains("notification.voip._j_msgid"))
  }

  private static func activity(_ members: String, _ more: String = "", to audience: String? = nil) -> String {
    let isStart = members.contains(#""event":"start""#)
    let audience = audience ?? (isStart ? #""all""# : #"{"live_activity_id":"order-7"}"#)
    return
      #"{"platform":["ios"],"audience":\#(audience),"live_activity":{"ios":{\#(members)}}\#(more)}"#
  }

  @Test func liveActivities() throws {
    let update = try content(
      Self.activity(
        #""event":"update","content-state":{"stop":"Harbour","etaMinutes":4},"relevance-score":80,"stale-date":1767226500,"apns-priority":5"#
      ))
    let apns = try #require(update.apns(for: .liveActivity))
    // 2026-01-01T00:00:00Z: the time is that of the ID, so that a repetition is the same to the last byte.
    let id = MessageID(firstAt: Timestamp(milliseconds: 1_767_225_600_000))
    #expect(
      rendered(apns, id: id.rawValue)
        == #"{"aps":{"timestamp":1767225600,"event":"update","content-state":{"stop":"Harbour","etaMinutes":4},"stale-date":1767226500,"relevance-score":80},"_j_msgid":\#(id.text)}"#
    )
    #expect(apns.type.name == "liveactivity" && apns.type.topicSuffix == ".push-type.liveactivity")
    #expect(apns.priority == .considerate && apns.collapseID(of: id) == nil)
    #expect(apns.slot == APNsTokenSlot(.liveActivity, name: "order-7"))
    #expect(update.platforms == PlatformSet(.ios) && update.apns == nil && update.parts(for: .ios) == [])
    let start = try content(Self.activity(Self.start))
    #expect(start.apple.map(\.slot) == [APNsTokenSlot(.liveActivityStart, name: "A")])
  }

  private static let start =
    #""event":"start","content-state":{},"attributes-type":"A","attributes":{},"alert":{"title":"t"}"#

  @Test(arguments: [
    (#""event":"end","content-state":{}"#, "", 0, ""), (#""content-state":{}"#, "", 1002, "ios.event"),
    (#""event":"go","content-state":{}"#, "", 1003, "ios.event"),
    (#""event":"update""#, "", 1002, "ios.content-state"),
    (#""event":"start","content-state":{}"#, "", 1002, "ios.attributes-type"), (Self.start, "", 0, ""),
    (
      #""event":"start","content-state":{},"attributes-type":"","attributes":{}"#, "", 1003, "attributes-type"
    ),
    (#""event":"start","content-state":{},"attributes-type":"A","attributes":{}"#, "", 1002, "ios.alert"),
    (#""event":"end","content-state":{},"apns-priority":1"#, "", 1003, "ios.apns-priority"),
    (#""event":"end","content-state":{},"relevance-score":101"#, "", 1003, "ios.relevance-score"),
    (#""event":"end","content-state":{},"dismissal-date":"now""#, "", 1003, "ios.dismissal-date"),
    (#""event":"end","content-state":{}"#, #","notification":{"alert":"x"}"#, 1003, "notification"),
    (#""event":"end","content-state":{}"#, #","message":{"msg_content":"x"}"#, 1003, "message"),
    ("", "", 1002, "ios"),
  ])
  func liveActivityRules(_ members: String, _ more: String, _ code: Int, _ named: String) throws {
    let result = try outcome(Self.activity(members, more))
    #expect(result.code == code, "\(members): \(result.message)")
    #expect(named.isEmpty || result.message.contains(named), "\(result.message)")
  }

  /// What is there already is named, and alone; what is to be started is not there.
  @Test(arguments: [
    ("end", #""all""#, 1002, "audience.live_activity_id"),
    ("end", #"{"alias":["a"]}"#, 1002, "live_activity_id"),
    ("end", #"{"live_activity_id":"x"}"#, 0, ""),
    // A member without a value asks for nothing, and nobody else is named.
    ("end", #"{"live_activity_id":""}"#, 1002, "audience"),
    ("end", #"{"live_activity_id":"a\r\nb"}"#, 1003, "no control characters"),
    ("end", #"{"live_activity_id":7}"#, 1003, "live_activity_id"),
    ("end", #"{"live_activity_id":"\#(String(repeating: "x", count: 256))"}"#, 1003, "1 to 255 bytes"),
    ("end", #"{"live_activity_id":"x","alias":["a"]}"#, 1003, "live_activity_id"),
    ("start", #"{"live_activity_id":"x"}"#, 1003, "ios.event"), ("start", #"{"alias":["a"]}"#, 0, ""),
  ])
  func liveActivityAudiences(_ event: String, _ audience: String, _ code: Int, _ named: String) throws {
    let members = event == "start" ? Self.start : #""event":"end","content-state":{}"#
    let result = try outcome(Self.activity(members, to: audience))
    #expect(result.code == code, "\(audience): \(result.message)")
    #expect(named.isEmpty || result.message.contains(named), "\(result.message)")
  }

  // MARK: Sizes

  /// The worst case of each payload is checked to the byte, before anything is stored.
  @Test(arguments: [
    (#""ios":{"alert":"%","badge":"+1"}"#, 4096, "notification.ios"),
    (#""alert":"x","voip":{"a":"%"}"#, 5120, "notification.voip"),
    (#""ios":{"alert":"","content-available":1,"extras":{"a":"%"}}"#, 4096, "notification.ios"),
  ])
  func appleLimits(_ members: String, _ limit: Int, _ field: String) throws {
    let rules = PushRules(maximumIOSNotification: 10_000, renderers: renderers)
    func text(_ count: Int) -> String {
      let filled = members.replacing("%", with: String(repeating: "t", count: count))
      return #"{"platform":["ios"],"audience":"all","notification":{\#(filled)}}"#
    }
    let kind: APNsTokenKind = field.hasSuffix("voip") ? .voip : .device
    let least = try #require(try content(text(1), rules: rules).apns(for: kind))
    let room = 1 + limit - least.payload.maximumBytes
    let full = try #require(try content(text(room), rules: rules).apns(for: kind))
    #expect(rendered(full, id: 1 << 53 - 1, badge: 99_999).utf8.count <= limit)
    let result = try outcome(text(room + 1), rules: rules)
    #expect(result.code == 1005)
    for part in [field, "\(limit + 1)", "\(limit)"] {
      #expect(result.message.contains(part), "\(result.message)")
    }
  }

  @Test func jpushLimits() throws {
    let room = 2000 - #"{"alert":""}"#.utf8.count
    let result = try outcome(ios(#""alert":"\#(String(repeating: "t", count: room + 1))""#))
    #expect(result.code == 1005)
    for part in ["notification.ios", "2001", "2000"] { #expect(result.message.contains(part)) }
    let state = #""event":"end","content-state":{"a":"%"}"#
    let left = 3584 - "{\(state)}".utf8.count + 1
    for (count, code) in [(left, 0), (left + 1, 1005)] {
      let text = Self.activity(state.replacing("%", with: String(repeating: "t", count: count)))
      #expect(try outcome(text).code == code)
    }
  }
}
