import BorealisBase
import Model
import Testing

@Suite struct PushFieldTests {
  @Test(arguments: [
    (#""sendno":1"#, 0), (#""sendno":0"#, 0), (#""sendno":4294967294"#, 0),
    (#""sendno":9223372036854775807"#, 0), (#""sendno":9223372036854775808"#, 1003),
    (#""sendno":-2147483648"#, 0), (#""sendno":"1""#, 1003), (#""sendno":1.5"#, 1003), (#""sendno":null"#, 0),
    (#""time_to_live":0"#, 0), (#""time_to_live":864000"#, 0), (#""time_to_live":864001"#, 1003),
    (#""time_to_live":-1"#, 1003), (#""time_to_live":1e3"#, 1003), (#""time_to_live":true"#, 1003),
    (#""override_msg_id":123"#, 0), (#""override_msg_id":"123""#, 0), (#""override_msg_id":0"#, 0),
    (#""override_msg_id":-1"#, 1003), (#""override_msg_id":"x""#, 1003), (#""override_msg_id":[]"#, 0),
    (#""override_msg_id":99999999999999999999"#, 1003), (#""override_msg_id":{"a":1}"#, 1003),
    (#""apns_production":true"#, 0), (#""apns_production":1"#, 0), (#""apns_production":"true""#, 0),
    (#""apns_production":2"#, 1003), (#""apns_production":"no""#, 1003), (#""apns_collapse_id":"""#, 0),
    (#""apns_collapse_id":"\#(String(repeating: "c", count: 64))""#, 0),
    (#""apns_collapse_id":"\#(String(repeating: "c", count: 65))""#, 1003),
    // It becomes a header: no control characters, of neither kind.
    (#""apns_collapse_id":"a\r\nx-b: c""#, 1003), (#""apns_collapse_id":"a\u0000b""#, 1003),
    (#""apns_collapse_id":"a\u007fb""#, 1003), (#""apns_collapse_id":"a\u0085b""#, 1003),
    (#""apns_collapse_id":"a\u2028b""#, 1003), (#""apns_collapse_id":"进度 7""#, 0),
    (#""big_push_duration":0"#, 0), (#""big_push_duration":5"#, 0), (#""big_push_duration":1401"#, 1003),
    (#""active_push":false"#, 0), (#""active_push":true"#, 2007),
    (#""active_push":true,"big_push_duration":5"#, 1035), (#""test_model":true"#, 0),
    (#""test_model":false"#, 0), (#""alternate_set":1"#, 2007), (#""notification_switch_filter":true"#, 0),
    (#""target_event":["e"]"#, 2007), (#""target_event":[]"#, 0), (#""geofence":{"a":1}"#, 2007),
    (#""geofence":{}"#, 0), (#""business_operation_code":"b""#, 0), (#""business_operation_code":7"#, 1003),
    (#""classification":1"#, 0),
    (#""classification":2"#, 1003),
    (#""third_party_channel":{"xiaomi":{"distribution":"jpush","new":1}}"#, 0),
    (#""third_party_channel":"x""#, 1003), (#""third_party_channel":{"fcm":{"distribution":"ospush"}}"#, 0),
    (#""third_party_channel":{"fcm":{"distribution":"fcm"}}"#, 1003),
    (#""third_party_channel":{"fcm":{"distribution_fcm":"ospush"}}"#, 1003),
    (#""third_party_channel":{"fcm":{"distribution":1}}"#, 1003),
    (#""third_party_channel":{"fcm":{"distribution_customize":"jpush"}}"#, 0),
    (#""third_party_channel":{"fcm":{"distribution_customize":"first_ospush"}}"#, 0),
    (#""third_party_channel":{"fcm":{"channel_id":"x"}}"#, 0),
    (#""third_party_channel":{"maker":{"level":2,"name":"n","large":{}}}"#, 0),
    (#""third_party_channel":{"maker":{"level":4}}"#, 1003),
    (#""third_party_channel":{"maker":{"name":"x2345"}}"#, 1003),
    (#""third_party_channel":{"maker":{"sound":"x"}}"#, 0), (#""third_party_channel":{"maker":1}"#, 1003),
    (#""third_party_channel":{"fcm":{"distribution":"ospush"},"maker":{"distribution":"ospush"}}"#, 0),
    (#""third_party_channel":{"fcm":{"distribution":"ospush"},"maker":{"distribution":"jpush"}}"#, 0),
    (#""test_message":0,"receipt_id":"r","need_backup":false"#, 0),
    (#""notification_3rd_ver":"v3""#, 1003), (#""auto_truncation":"x""#, 1003), (#""whatever":1"#, 0),
    (#""strategy":1"#, 0), (#""strategy":4"#, 0), (#""strategy":0"#, 0), (#""strategy":5"#, 1003),
    (#""strategy":"1""#, 1003), (#""strategy":{"default":1}"#, 0), (#""strategy":{"default":9}"#, 1003),
    (#""strategy":null"#, 0),
    (#""apns_priority":10"#, 0), (#""apns_priority":1"#, 0), (#""apns_priority":2"#, 1003),
    (#""apns_priority":"10""#, 1003), (#""apns_priority":266"#, 1003),
  ])
  func options(_ member: String, _ code: Int) throws {
    let result = try outcome(
      push(#""notification":{"alert":"x"},"options":{\#(member)}"#), rules: Self.withChannels)
    #expect(result.code == code, "\(member): \(result.message)")
    #expect(code == 0 || result.message.contains("options."), "\(result.message)")
  }

  @Test(arguments: [
    (nil, Strategy.jpush), (1, .ownThenVendor), (2, .vendorOnly), (3, .ownOnly), (4, .vendorThenOwn),
  ])
  func strategies(_ number: Int?, _ expected: Strategy) throws {
    let options = number.map { #","options":{"strategy":\#($0)}"# } ?? ""
    let request = try PushRequest.parse(
      try parsed(push(#""notification":{"alert":"x"}\#(options)"#)), rules: .withAPNs)
    #expect(request.options.strategy == expected)
    #expect(Int(expected.number) == number ?? 0)
    #expect(Strategy(number: expected.number) == expected)
    #expect(Strategy(number: 7) == nil)
  }

  /// JPush's names of strategies, for each channel by itself; on iOS they change nothing.
  @Test(arguments: [
    (#"{"distribution":"jpush"}"#, Strategy.Rule.ownOnly), (#"{"distribution":"secondary_push"}"#, .jpush),
    (#"{"distribution":"first_ospush"}"#, .vendorThenOwn), (#"{"distribution":"ospush"}"#, .vendorIfAny),
    (#"{"distribution_fcm":"jpush"}"#, .ownOnly), (#"{"distribution_fcm":"fcm"}"#, .vendorIfAny),
    (#"{"distribution_fcm":"secondary_fcm_push"}"#, .jpush), (#"{"distribution_fcm":"pns"}"#, .vendorIfAny),
    (#"{"distribution_fcm":"secondary_pns_push"}"#, .jpush), (#"{"distribution":""}"#, .jpush),
    (#"{"distribution":"jpush","distribution_fcm":"fcm"}"#, .ownOnly), ("{}", .jpush),
  ])
  func distributions(_ fcm: String, _ rule: Strategy.Rule) throws {
    func strategies(_ options: String) throws -> [Strategy] {
      let request = try PushRequest.parse(
        try parsed(push(#""notification":{"alert":"x"},"options":{\#(options)}"#)), rules: Self.withChannels)
      return [3, 77, 78].map {
        request.content.strategy(of: ChannelID(rawValue: $0), else: request.options.strategy)
      }
    }
    let channels = #""third_party_channel":{"maker":{"distribution":"ospush"},"fcm":\#(fcm)}"#
    #expect(
      try strategies(channels) == [Strategy(rule, ios: .jpush), Strategy(.vendorIfAny, ios: .jpush), .jpush])
    // A strategy for all channels says more.
    #expect(try strategies(channels + #","strategy":2"#) == [.vendorOnly, .vendorOnly, .vendorOnly])
  }

  /// What devices get over that have a token of a maker and one of FCM; the maker's own object goes before
  /// that of FCM.
  @Test(arguments: [
    ("jpush", Strategy.Rule.ownOnly, false), ("fcm", .vendorIfAny, true), ("pns", .vendorIfAny, false),
    ("secondary_fcm_push", .jpush, true), ("secondary_pns_push", .jpush, false),
  ])
  func distributionsForBoth(_ name: String, _ rule: Strategy.Rule, _ isOverOther: Bool) throws {
    func way(_ channels: String) throws -> WayForBoth? {
      let options = #""options":{"third_party_channel":{\#(channels)}}"#
      return try PushRequest.parse(
        try parsed(push(#""notification":{"alert":"x"},\#(options)"#)), rules: Self.withChannels
      ).content.wayForBoth(of: ChannelID(rawValue: 77))
    }
    for channels in [
      #""maker":{"distribution_fcm":"\#(name)","distribution":"ospush"}"#,
      #""fcm":{"distribution_fcm":"\#(name)"}"#,
      #""maker":{"distribution_fcm":"\#(name)"},"fcm":{"distribution_fcm":"jpush"}"#,
    ] {
      let found = try #require(try way(channels))
      #expect(found.rule == rule && found.isOverOther == isOverOther && found.other == ChannelID(rawValue: 3))
    }
    #expect(try way(#""maker":{"distribution":"ospush","distribution_fcm":""}"#) == nil)
    #expect(try way(#""fcm":{"distribution_fcm":"\#(name)"}},"strategy":2,"x":{"#) == nil)
  }

  /// FCM, and a channel with members of its own.
  private static let withChannels: PushRules = {
    func info(_ number: UInt8, _ options: ChannelOptions) -> ChannelInfo {
      ChannelInfo(
        id: ChannelID(rawValue: number), name: options.key, english: "", chinese: "",
        platforms: PlatformSet(.android), parts: .notification, options: options)
    }
    var rules = PushRules()
    rules.channels = [
      info(3, ChannelOptions("fcm")),
      info(
        77,
        ChannelOptions(
          "maker", fields: ["level": .integer(1...3), "name": .textUpTo(4), "large": .object],
          hasClasses: true)),
    ]
    return rules
  }()

  /// What a channel is told is stored with the notification for it alone; the push's classification has the
  /// last word.
  @Test(arguments: [
    (#""third_party_channel":{"maker":{"level":2,"distribution":"ospush"}}"#, #"{"level":2,"way":5}"#),
    (
      #""classification":1,"third_party_channel":{"maker":{"name":"n"}}"#, #"{"name":"n","classification":1}"#
    ),
    (#""classification":0"#, #"{"classification":0}"#), (#""third_party_channel":{"maker":{}}"#, nil),
  ])
  func wishes(_ options: String, _ stored: String?) throws {
    func content(_ shown: String) throws -> PushContent {
      try PushRequest.parse(
        try parsed(push(#"\#(shown),"options":{\#(options)}"#)), rules: Self.withChannels
      ).content
    }
    let both = try content(#""notification":{"alert":"x"}"#)
    #expect(both.content(for: ChannelID(rawValue: 77)).map { String(decoding: $0, as: UTF8.self) } == stored)
    #expect(both.content(for: ChannelID(rawValue: 3)) == nil)
    #expect(PushContent(decoding: both.encode()) == both)
    // No Android device gets anything of these.
    #expect(try !content(#""message":{"msg_content":"m"}"#).isForChannels)
    #expect(try !content(#""notification":{"ios":{"alert":"x"}}"#).isForChannels)
  }

  @Test func activePushDoesNotGoWithAMessage() throws {
    let text = push(
      #""notification":{"alert":"x"},"message":{"msg_content":"m"},"options":{"active_push":1}"#)
    #expect(try outcome(text).code == 1035)
    #expect(try outcome(push(#""notification":{"alert":"x"},"options":1"#)).code == 1003)
    let longer = PushRules(maximumTimeToLive: 10)
    #expect(
      try outcome(push(#""notification":{"alert":"x"},"options":{"time_to_live":11}"#), rules: longer).code
        == 1003)
  }

  @Test(arguments: [
    (#""badge":1"#, 0), (#""badge":"+1""#, 0), (#""badge":"-3""#, 0), (#""badge":"7""#, 0),
    (#""badge":"""#, 0),
    (#""badge":"auto""#, 0), (#""badge":99999"#, 0), (#""badge":100000"#, 1003), (#""badge":"x""#, 1003),
    (#""badge":"+""#, 1003), (#""badge":true"#, 1003), (#""badge":1.5"#, 1003), (#""badge":"+100000""#, 1003),
    (#""sound":"""#, 0), (#""sound":{"critical":1,"name":"default","volume":0.8}"#, 0), (#""sound":1"#, 1003),
    (#""sound":{"volume":1.1}"#, 1003), (#""sound":{"critical":"x"}"#, 1003), (#""alert":"""#, 0),
    (#""alert":{"title":"t","my-key":1,"loc-args":["a"]}"#, 0), (#""alert":{"title":1}"#, 1003),
    (#""alert":{"loc-args":"a"}"#, 1003), (#""alert":{}"#, 1002), (#""alert":1"#, 1003), (#""alert":[]"#, 0),
    (#""content-available":1"#, 0), (#""content-available":true"#, 0), (#""content-available":2"#, 1003),
    (#""content_available":1"#, 1009), (#""thread_id":"x""#, 1009), (#""mutable-content":"x""#, 1003),
    (#""interruption-level":"passive""#, 0), (#""interruption-level":"loud""#, 1003), (#""extras":[]"#, 0),
    (#""extras":["a"]"#, 1003), (#""category":1"#, 1003), (#""relevance-score":1"#, 0),
    (#""relevance-score":1.1"#, 1003), (#""relevance-score":"1""#, 1003), (#""relevance-score":0.25"#, 0),
    (#""target-content-id":1"#, 1003), (#""target_content_id":"x""#, 1009), (#""filter-criteria":[1]"#, 1003),
    (#""extras":{"aps":{"a":1}}"#, 1003), (#""extras":{"aps":{}}"#, 0), (#""extras":{"_j_msgid":1}"#, 1003),
    (#""extras":{"Aps":{}}"#, 0),
  ])
  func ios(_ member: String, _ code: Int) throws {
    let result = try outcome(push(#""notification":{"alert":"x","ios":{\#(member)}}"#))
    #expect(result.code == code, "\(member): \(result.message)")
    #expect(code == 0 || result.message.contains("notification.ios."), "\(result.message)")
  }

  @Test(arguments: [
    (#""alert":"""#, 0), (#""alert":{"title":"x"}"#, 1003), (#""priority":2"#, 0), (#""priority":3"#, 1003),
    (#""priority":-3"#, 1003), (#""style":3"#, 0), (#""style":4"#, 1003), (#""alert_type":-1"#, 0),
    (#""alert_type":8"#, 1003), (#""badge_add_num":1"#, 0), (#""badge_add_num":0"#, 0),
    (#""badge_add_num":100"#, 1003), (#""badge_set_num":0"#, 0), (#""badge_set_num":100"#, 1003),
    (#""inbox":{"a":"b"}"#, 0), (#""inbox":"a""#, 1003), (#""intent":{"url":"a://b"}"#, 0),
    (#""intent":"a""#, 1003),
    (#""channel_id":"\#(String(repeating: "c", count: 1000))""#, 0),
    (#""channel_id":"\#(String(repeating: "c", count: 1001))""#, 1003),
    (#""show_begin_time":"2026-01-31 09:15:00""#, 0), (#""show_end_time":"tomorrow""#, 1003),
    (#""display_foreground":"1""#, 0), (#""display_foreground":0"#, 0), (#""display_foreground":"2""#, 1003),
    (#""extras":{"mipns_content_forshort":"\#(String(repeating: "c", count: 128))"}"#, 0),
    (#""extras":{"mipns_content_forshort":"\#(String(repeating: "c", count: 129))"}"#, 1003),
    (#""vpns_content_forshort":"\#(String(repeating: "深", count: 100))""#, 0),
    (#""vpns_content_forshort":"\#(String(repeating: "深", count: 101))""#, 1003),
    (#""custom_buttons":[{"name":"n","action_type":4}]"#, 0), (#""custom_buttons":[]"#, 0),
    (#""custom_buttons":[{"name":"n","action_type":1}]"#, 1002),
    (#""custom_buttons":[{"name":"n","action_type":2,"action":"a","data":"d"}]"#, 0),
    (#""custom_buttons":[{"name":"n","action_type":5}]"#, 1003),
    (#""custom_buttons":[{"action_type":3}]"#, 1002),
    (#""custom_buttons":[{"name":"\#(String(repeating: "n", count: 21))","action_type":3}]"#, 1003),
    (#""custom_buttons":["x"]"#, 1003), (#""custom_buttons":{"a":1}"#, 1003), (#""brand_new":{"a":1}"#, 0),
    (#""title":false"#, 0), (#""title":true"#, 1003),
  ])
  func android(_ member: String, _ code: Int) throws {
    let result = try outcome(push(#""notification":{"alert":"x","android":{\#(member)}}"#))
    #expect(result.code == code, "\(member.prefix(80)): \(result.message)")
    #expect(code == 0 || result.message.contains("notification.android."), "\(result.message)")
  }

  @Test(arguments: [
    (#""hmos":{"alert":"a","push_type":0}"#, 0), (#""hmos":{"alert":""}"#, 1003),
    (#""hmos":{"alert":"a","push_type":3}"#, 1003), (#""hmos":{"alert":"a","push_type":2}"#, 1002),
    (#""hmos":{"alert":"a","push_type":7}"#, 1002),
    (#""hmos":{"alert":"a","push_type":7,"hm_payload":{}}"#, 0),
    (#""hmos":{"alert":"a","push_type":10,"extra_data":"d"}"#, 0), (#""hmos":{"alert":"a","style":1}"#, 1003),
    (#""hmos":{"title":"t"},"alert":"a""#, 0), (#""quickapp":{"alert":"a","title":"t","page":"/p"}"#, 0),
    (#""quickapp":{"alert":"a","title":"t"}"#, 1002), (#""quickapp":{"title":"t","page":"/p"}"#, 1002),
  ])
  func otherPlatforms(_ member: String, _ code: Int) throws {
    let result = try outcome(push(#""notification":{\#(member)}"#))
    #expect(result.code == code, "\(member): \(result.message)")
  }

  /// A limit holds to the byte: the text is as long as makes the object exactly as large, then one byte
  /// longer.
  @Test(arguments: [
    (#"["ios"]"#, #""notification":{"ios":{"alert":"%"}}"#, 2000 - #"{"alert":""}"#.utf8.count),
    (#"["android"]"#, #""notification":{"alert":"%"}"#, 4000 - #"{"alert":""}"#.utf8.count),
    (#"["ios"]"#, #""message":{"msg_content":"%"}"#, 4000 - #"{"msg_content":""}"#.utf8.count),
    (
      #"["android"]"#, #""message":{"msg_content":"%"},"notification":{"alert":""}"#,
      4000 - #"{"msg_content":""}{"alert":""}"#.utf8.count
    ),
  ])
  func sizes(_ platform: String, _ members: String, _ room: Int) throws {
    for (count, code) in [(room, 0), (room + 1, 1005)] {
      let pieces = members.split(separator: "%", maxSplits: 1)
      let filled = pieces.joined(separator: String(repeating: "t", count: count))
      #expect(try outcome(#"{"platform":\#(platform),"audience":"all",\#(filled)}"#).code == code)
    }
  }
}
