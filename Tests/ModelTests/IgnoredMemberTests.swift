import BorealisBase
import Model
import Testing

/// What nobody obeys: accepted if it asks for nothing, ignored and named if it only affects looks or makers,
/// else refused.
@Suite struct IgnoredMemberTests {
  private static let withChannel: PushRules = {
    var rules = PushRules()
    rules.channels = [
      ChannelInfo(
        id: ChannelID(rawValue: 77), name: "maker", english: "", chinese: "",
        platforms: PlatformSet(.android), parts: .notification,
        options: ChannelOptions(
          "huawei",
          fields: [
            "importance": .choice(["LOW", "HIGH"]), "badge_class": .text, "badge_add_num": .integer(1...99),
          ], needs: ["badge_class": ["badge_add_num", "badge_set_num"]], hasClasses: true))
    ]
    return rules
  }()

  private func ignored(_ members: String) throws -> [String] {
    try PushRequest.parse(try parsed(push(members)), rules: Self.withChannel).ignored
  }

  @Test(arguments: [
    "null", "false", #""false""#, #""""#, "0", "0.0", "[]", "{}", #"{"a":false,"b":{"c":""},"d":[]}"#,
  ])
  func whatAsksForNothingIsAcceptedEverywhere(_ value: String) throws {
    let content = #""notification":{"alert":"x"}"#
    for members in [
      #""new":\#(value),\#(content)"#, #""sms_message":\#(value),\#(content)"#,
      #""inapp_message":\#(value),\#(content)"#, #""live_activity":\#(value),\#(content)"#,
      #""notification_3rd":\#(value),\#(content)"#, #""callback":\#(value),\#(content)"#,
      #""notification":{"alert":"x","ai_opportunity":\#(value),"new":\#(value),"voip":\#(value)}"#,
      #""notification":{"alert":"x","android":{"alert":"y","new":\#(value),"custom_buttons":\#(value)}}"#,
      #""notification":{"alert":"x","ios":{"alert":"y","content_available":\#(value),"extras":\#(value)}}"#,
      #""message":{"msg_content":"x","new":\#(value),"extras":\#(value)}"#,
      #""options":\#(value),\#(content)"#,
      #""options":{"new":\#(value),"timeToLive":\#(value),"target_event":\#(value)},\#(content)"#,
      #""options":{"active_push":\#(value),"geofence":\#(value),"encryption":\#(value)},\#(content)"#,
      #""options":{"third_party_channel":\#(value)},\#(content)"#,
      #""options":{"third_party_channel":{"new":\#(value),"nio":\#(value),"huawei":\#(value)}},\#(content)"#,
      #""options":{"third_party_channel":{"huawei":{"new":\#(value),"importance":\#(value)}}},\#(content)"#,
    ] {
      #expect(try outcome(push(members), rules: Self.withChannel).code == 0, "\(members)")
      #expect(try ignored(members).isEmpty, "\(members)")
    }
    let audience = to(#"{"alias":["a"],"segment":\#(value),"file":\#(value),"live_activity_id":\#(value)}"#)
    #expect(try outcome(audience).code == 0, "\(audience)")
  }

  @Test(arguments: [
    (#""notification":{"alert":"x","android":{"new":{"a":1},"title":"t"}}"#, ["notification.android.new"]),
    (#""notification":{"alert":"x","winphone":{"title":"t"}}"#, ["notification.winphone"]),
    (#""notification":{"alert":"x","alternate_alert":"t"}"#, ["notification.alternate_alert"]),
    (
      #""message":{"msg_content":"x","alternate_title":"t","b":1}"#, ["message.alternate_title", "message.b"]
    ),
    (
      #""notification":{"alert":"x"},"options":{"mkt_enable":true,"portal_extra":{"a":1},"new":7}"#,
      ["options.mkt_enable", "options.portal_extra", "options.new"]
    ),
    (
      #""options":{"third_party_channel":{"huawei":{"hw_push_type":1,"importance":"LOW"},"nio":{"a":1},"b":1}},"#
        + #""notification":{"alert":"x"}"#,
      [
        "options.third_party_channel.nio", "options.third_party_channel.b",
        "options.third_party_channel.huawei.hw_push_type",
      ]
    ),
    // There is no badge without the class of the activity.
    (
      #""options":{"third_party_channel":{"huawei":{"badge_add_num":1}}},"#
        + #""notification":{"alert":"x","android":{"badge_add_num":1}}"#,
      ["options.third_party_channel.huawei.badge_add_num"]
    ),
    (
      #""options":{"third_party_channel":{"huawei":{"badge_add_num":1}}},"#
        + #""notification":{"alert":"x","android":{"badge_class":"C"}}"#, []
    ),
    (
      #""options":{"third_party_channel":{"huawei":{"badge_add_num":1,"badge_class":"C"}}},"#
        + #""notification":{"alert":"x"}"#, []
    ),
    (#""message":{"msg_content":"x"},"notification_3rd":{"content":"c"}"#, ["notification_3rd"]),
    (#""message":{"msg_content":"x"},"callback":{"url":"https://a.example/","new":1}"#, ["callback.new"]),
  ])
  func whatOnlyAffectsLooksOrMakersIsNamed(_ members: String, _ names: [String]) throws {
    #expect(try ignored(members) == names)
  }

  @Test(arguments: [
    (#""new":1,"notification":{"alert":"x"}"#, 1009, "new"),
    (#""notification":{"alert":"x","new":1}"#, 1009, "notification.new"),
    (#""notification":{"alert":"x","ai_opportunity":true}"#, 2007, "notification.ai_opportunity"),
    (#""notification":{"alert":"x"},"options":{"timeToLive":60}"#, 1009, "time_to_live"),
    (#""notification":{"alert":"x"},"options":{"big-push-duration":60}"#, 1009, "big_push_duration"),
    (#""notification":{"alert":"x","ios":{"content_available":1}}"#, 1009, "content-available"),
  ])
  func whatMayDecideIsRefused(_ members: String, _ code: Int, _ named: String) throws {
    let found = try outcome(push(members))
    #expect(found.code == code && found.message.contains(named), "\(found)")
  }

  /// What asks for nothing in a way that is not the member's own reaches no device.
  @Test func whatAsksForNothingIsNotPassedOn() throws {
    let json = try parsed(
      push(
        #""notification":{"alert":"x","android":{"title":false,"badge_add_num":0,"badge_set_num":0,"#
          + #""style":"","extras":"","show_begin_time":"","custom_buttons":{}}}"#))
    let request = try PushRequest.parse(json)
    let notification = request.content.variant(for: .android)?.notification ?? []
    #expect(
      String(decoding: notification, as: UTF8.self) == #"{"alert":"x","badge_set_num":0}"#)
  }

  @Test func theHeaderNamesThem() {
    #expect(IgnoredMembers.headerValue([]) == nil)
    #expect(IgnoredMembers.headerValue(["a.b", "c"]) == "a.b, c")
    #expect(IgnoredMembers.headerValue(["a\r\nb: c,%d深"]) == "a%0D%0Ab:%20c%2C%25d%E6%B7%B1")
    let many = IgnoredMembers()
    for number in 0..<100 { many.add("\(number)" + String(repeating: "深", count: 1000)) }
    many.add("0")
    #expect(many.names.count == IgnoredMembers.most)
    #expect((IgnoredMembers.headerValue(many.names) ?? "").utf8.count < 8000)
  }

  /// What official clients send with every push: Java `jpush-client` 3.7.8, Node `jpush-async` 4.2.0 with its
  /// random label, and PHP.
  @Test(arguments: [
    #"{"platform":"all","audience":"all","notification":{"ai_opportunity":false,"alert":"Hi"},"#
      + #""options":{"sendno":421,"apns_production":false,"classification":0}}"#,
    #"{"platform":["android","ios"],"audience":{"tag":["a"]},"notification":{"ai_opportunity":false,"#
      + #""android":{"alert":"Hi","title":"T","extras":{"a":"b"}},"#
      + #""ios":{"alert":"Hi","badge":"+1","sound":"","extras":{"a":"b"}}},"#
      + #""message":{"msg_content":"m"},"options":{"apns_production":true,"classification":0,"#
      + #""third_party_channel":{"xiaomi":{"distribution":"ospush","channel_id":"1"}}}}"#,
    #"{"platform":"all","audience":"all","options":{"sendno":4294967294,"apns_production":false},"#
      + #""notification":{"alert":"Hi"}}"#,
    #"{"platform":"all","audience":"all","notification":{"alert":"Hi"},"#
      + #""options":{"sendno":100000,"apns_production":false},"message":null,"sms_message":[]}"#,
  ])
  func officialClientsAreServed(_ body: String) throws {
    let found = try outcome(body)
    #expect(found.code == 0, "\(found)")
  }
}
