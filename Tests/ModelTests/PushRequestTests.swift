import BorealisBase
import Model
import Testing

func parsed(_ text: String) throws -> JSONValue { try parseJSON(Array(text.utf8)) }

/// The code that a push object is refused with, 0 if it is taken; and the message.
func outcome(_ text: String, rules: PushRules = .withAPNs) throws -> (code: Int, message: String) {
  let json = try parsed(text)
  do throws(APIError) {
    _ = try PushRequest.parse(json, rules: rules)
    return (0, "")
  } catch {
    return (error.code, error.message)
  }
}

/// A push object to everyone with these further members.
func push(_ members: String) -> String { #"{"platform":"all","audience":"all",\#(members)}"# }

/// A push object with this audience.
func to(_ audience: String) -> String {
  #"{"platform":"all","audience":\#(audience),"notification":{"alert":"x"}}"#
}

func list(_ count: Int) -> String { (0..<count).map { #""n\#($0)""# }.joined(separator: ",") }

@Suite struct PushRequestTests {
  @Test(arguments: [
    // What the vendor's own tests assert.
    (#"{"audience":"all","notification":{"alert":"x"}}"#, 1002, "platform"),
    (#"{"platform":"all","notification":{"alert":"x"}}"#, 1002, "audience"),
    (#"{"platform":"all","audience":"all"}"#, 1002, "notification"),
    (push(#""message":{"title":"t"}"#), 1002, "message.msg_content"),
    (push(#""message":{}"#), 1002, "message.msg_content"),
    (#"{"platform":"all_platform","audience":"all","notification":{"alert":"x"}}"#, 1003, "platform"),
    (#"{"platform":["ios","palm"],"audience":"all","notification":{"alert":"x"}}"#, 1003, "palm"),
    (to(#""all_audience""#), 1003, "audience"),
    (push(#""notification":"x""#), 1003, "notification"),
    (push(#""notification":{"android":"x"}"#), 1003, "notification.android"),
    (push(#""notification":{"ios":"x"}"#), 1003, "notification.ios"),
    (push(#""notification":{"hmos":"x"}"#), 1003, "notification.hmos"),
    (push(#""notification":{"alert":"x","android":{"builder_id":"1"}}"#), 1003, "android.builder_id"),
    (push(#""notification":{"android":{}}"#), 1002, "notification.android.alert"),
    (push(#""notification":{"ios":{}}"#), 1002, "notification.ios.alert"),
    (push(#""notification":{"ios":{"badge":1}}"#), 1002, "notification.ios.alert"),
    (push(#""notification":{"hmos":{}}"#), 1002, "notification.hmos.alert"),
    (push(#""notification":{"hmos":{"title":"t"}}"#), 1003, "notification.hmos.alert"),
    (push(#""notification":{"alert":"x","android":{"builder_id":1}}"#), 0, ""),
    (push(#""notification":{"alert":"x","android":{"extras":{"a":"b","n":1,"f":true}}}"#), 0, ""),
    (push(#""notification":{"alert":"x"},"message":{}"#), 0, ""),
    (push(##""notification":{"alert":"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"}"##), 0, ""),
    (push(##""message":{"msg_content":"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"}"##), 0, ""),
    // Shapes.
    ("[]", 1003, "body"), (#""x""#, 1003, "body"),
    (push(#""notificaton":{"alert":"x"}"#), 1009, "notificaton"),
    (#"{"platform":[],"audience":"all","notification":{"alert":"x"}}"#, 1002, "platform"),
    (#"{"platform":null,"audience":"all","notification":{"alert":"x"}}"#, 1002, "platform"),
    (#"{"platform":"ios","audience":"all","notification":{"alert":"x"}}"#, 1003, "platform"),
    (#"{"platform":[1],"audience":"all","notification":{"alert":"x"}}"#, 1003, "platform"),
    (#"{"platform":["winphone"],"audience":"all","notification":{"alert":"x"}}"#, 1003, "platform"),
    (#"{"platform":["winphone","ios"],"audience":"all","notification":{"alert":"x"}}"#, 0, ""),
    (
      #"{"platform":["android"],"audience":"all","notification":{"ios":{"alert":"x"}}}"#, 1002, "notification"
    ),
    (#"{"platform":["ios"],"audience":"all","notification":{"android":"x","alert":"x"}}"#, 1003, "android"),
    (push(#""notification":{"voip":{"a":1}}"#), 0, ""),
    (push(#""notification":{"voip":{}}"#), 1002, "notification"),
    (#"{"platform":["android"],"audience":"all","notification":{"voip":{"a":1}}}"#, 1002, "notification"),
    (push(#""notification":{"voip":{"a":1},"winphone":{"alert":"x"},"alert":"x"}"#), 0, ""),
    (push(#""notification":{"adnroid":{"alert":"x"}}"#), 1009, "notification.adnroid"),
    (push(#""notification":{},"message":{"msg_content":"x"}"#), 0, ""),
    (push(#""notification":[],"message":{"msg_content":""}"#), 0, ""),
    (push(#""notification":null,"message":{"msg_content":1}"#), 1003, "message.msg_content"),
    (push(#""message":{"msg_content":"x","title":1}"#), 1003, "message.title"),
    (push(#""message":{"msg_content":"x","extras":"e"}"#), 1003, "message.extras"),
    (push(#""message":{"msg_content":"x","extras":[]}"#), 0, ""),
    // The cid.
    (
      push(
        #""cid":"8f0a0a1b2c3d4e5f60718293-5b1f2f0e-8a58-4b53-9d1e-0f6f7c2d9a11","notification":{"alert":""}"#),
      0, ""
    ),
    (push(#""cid":"","notification":{"alert":"x"}"#), 0, ""),
    (push(#""cid":"a b","notification":{"alert":"x"}"#), 1003, "cid"),
    (push(#""cid":7,"notification":{"alert":"x"}"#), 1003, "cid"),
    (push(#""cid":null,"notification":{"alert":"x"}"#), 0, ""),
    // What can't be honoured.
    (push(#""notification":{"alert":"x"},"sms_message":{"temp_id":1,"delay_time":0}"#), 2007, "sms_message"),
    (push(#""notification":{"alert":"x"},"sms_message":null"#), 0, ""),
    (push(#""live_activity":{"ios":{"event":"end"}}"#), 1002, "live_activity"),
    (push(#""notification":{"alert":"x"},"notification_3rd":{"content":"c"}"#), 1002, "notification_3rd"),
    (push(#""message":{"msg_content":"x"},"notification_3rd":{"content":"c"}"#), 0, ""),
    (
      push(#""message":{"msg_content":"x"},"notification_3rd":{"title":"t"}"#), 1002,
      "notification_3rd.content"
    ),
    (
      push(#""message":{"msg_content":"x"},"notification_3rd":{"ios":{"alert":"c"}}"#), 2007,
      "notification_3rd.ios"
    ),
    (
      push(
        #""message":{"msg_content":"x"},"notification_3rd":{"android":{"alert":"c"}},"options":{"notification_3rd_ver":"v2"}"#
      ), 0, ""
    ),
    // Callback.
    (
      push(
        #""notification":{"alert":"x"},"callback":{"url":"https://a.example/x","params":{"a":1},"type":3}"#),
      0, ""
    ),
    (push(#""notification":{"alert":"x"},"callback":{"url":"ftp://a"}"#), 1003, "callback.url"),
    (push(#""notification":{"alert":"x"},"callback":{"type":16}"#), 1003, "callback.type"),
    (push(#""notification":{"alert":"x"},"callback":{"params":"x"}"#), 1003, "callback.params"),
  ])
  func outcomes(_ text: String, _ code: Int, _ named: String) throws {
    let result = try outcome(text)
    #expect(result.code == code, "\(text): \(result.message)")
    #expect(named.isEmpty || result.message.contains(named), "\(text): \(result.message)")
  }

  @Test(arguments: [
    (to("{}"), 1002, "audience"), (to("null"), 1002, "audience"), (to("[]"), 1002, "audience"),
    (to(#"{"tag":[],"alias":null}"#), 1002, "audience"), (to("7"), 1003, "audience"),
    (to(#"{"tag":"a"}"#), 1003, "audience.tag"), (to(#"{"tag":[1]}"#), 1003, "audience.tag"),
    (to(#"{"tag":[""]}"#), 1003, "audience.tag"), (to(#"{"alias":["a-b"]}"#), 1003, "audience.alias"),
    (to(#"{"tag_not":["a"]}"#), 0, ""), (to(#"{"alias":["深圳"],"tag":[]}"#), 0, ""),
    (to(#"{"tag":[\#(list(20))]}"#), 0, ""), (to(#"{"tag":[\#(list(21))]}"#), 1003, "audience.tag"),
    (to(#"{"tag_and":[\#(list(20))]}"#), 0, ""), (to(#"{"tag_and":[\#(list(21))]}"#), 1003, "tag_and"),
    (to(#"{"tag_not":[\#(list(20))]}"#), 0, ""), (to(#"{"tag_not":[\#(list(21))]}"#), 1003, "tag_not"),
    (to(#"{"alias":[\#(list(1000))]}"#), 0, ""), (to(#"{"alias":[\#(list(1001))]}"#), 1003, "alias"),
    (to(#"{"registration_id":[\#(list(1000))]}"#), 0, ""),
    (to(#"{"registration_id":[\#(list(1001))]}"#), 1003, "registration_id"),
    (to(#"{"registration_id":["x"]}"#), 1003, "registration_id"),
    (to(#"{"registration_id":["x","13065ffa4e0b5fb6ba3"]}"#), 0, ""),
    (to(#"{"segment":["s"]}"#), 1003, "segment"), (to(#"{"alias":["a"],"abtest":["s"]}"#), 1003, "abtest"),
    (to(#"{"file":{"file_id":"f"}}"#), 1003, "file"),
    (to(#"{"live_activity_id":"l"}"#), 1003, "live_activity_id"),
    (to(#"{"alias":["a"],"segment":[],"file":null}"#), 0, ""), (to(#"{"imei":["a"]}"#), 1003, "imei"),
  ])
  func audiences(_ text: String, _ code: Int, _ named: String) throws {
    let result = try outcome(text)
    #expect(result.code == code, "\(text.prefix(200)): \(result.message)")
    #expect(named.isEmpty || result.message.contains(named), "\(result.message)")
  }

  @Test func hyphensAreARule() throws {
    let uuid = to(#"{"alias":["a-b"]}"#)
    #expect(try outcome(uuid, rules: PushRules(allowHyphen: true)).code == 0)
  }

  @Test func completeExample() throws {
    let request = try PushRequest.parse(
      parsed(
        #"""
        {"cid":"c-1","platform":["ios","android"],
         "audience":{"alias":["u_1001","u_1001"],"tag_not":["muted"],"tag":["a","b"],"tag_and":["c"]},
         "notification":{"alert":"On its way",
          "ios":{"alert":{"title":"Order","body":"x"},"sound":"default","badge":"+1","mutable-content":1,
                 "thread-id":"orders","extras":{"id":"A77"},"category":null},
          "android":{"title":"Order","channel_id":"orders","extras":{"id":18446744073709551617}}},
         "message":{"msg_content":"refresh","content_type":"text","extras":{"k":[]},"alternate_title":"z"},
         "options":{"sendno":771,"time_to_live":3600,"apns_production":"false","apns_collapse_id":"o",
                    "override_msg_id":"123"},
         "callback":{"url":"https://app.example.com/j","params":{"trace":"x1"},"type":3}}
        """#), rules: .withAPNs)
    #expect(request.cid == "c-1")
    #expect(request.platforms == [PlatformSet(.ios), PlatformSet(.android)])
    #expect(
      request.audience
        == .filter(AudienceFilter(tags: ["a", "b"], tagsAnd: ["c"], tagsNot: ["muted"], aliases: ["u_1001"])))
    #expect(
      request.options
        == PushOptions(
          sendno: 771, timeToLive: 3600, overrideMessageID: MessageID(123), apnsProduction: false,
          apnsCollapseID: "o"))
    #expect(
      request.callback
        == PushCallback(
          url: "https://app.example.com/j", params: Array(#"{"trace":"x1"}"#.utf8), types: 3))
    func device(_ platform: Platform) -> String {
      String(decoding: request.content.deviceJSON(platform: platform), as: UTF8.self)
    }
    let message = #""message":{"msg_content":"refresh","content_type":"text","extras":{"k":[]}}}"#
    #expect(
      device(.android)
        == #"{"notification":{"alert":"On its way","title":"Order","channel_id":"orders","#
        + #""extras":{"id":18446744073709551617}},"# + message)
    #expect(
      device(.ios)
        == #"{"notification":{"alert":{"title":"Order","body":"x"},"sound":"default","badge":"+1","#
        + #""mutable-content":1,"thread-id":"orders","extras":{"id":"A77"}},"# + message)
    #expect(device(.hmos) == "{}")
    #expect(PushContent(decoding: request.content.encode()) == request.content)
  }

  @Test(
    arguments: [
      (#""notification":{"ios":{"alert":"x"}}"#, [.ios]),
      (#""notification":{"android":{"alert":"x"},"hmos":{"alert":"x"}}"#, [.android, .hmos]),
      (#""notification":{"quickapp":{"alert":"x","title":"t","page":"p"}}"#, [.quickapp]),
      (#""notification":{"alert":"x","ios":{"badge":1}}"#, Platform.allCases),
      (#""notification":{"ios":{"alert":"x"}},"message":{"msg_content":"y"}"#, Platform.allCases),
      (#""message":{"msg_content":"y"}"#, Platform.allCases),
      (#""notification":{"voip":{"a":1}}"#, [.ios]),
      (#""notification":{"android":{"alert":"x"},"voip":{"a":1}}"#, [.android, .ios]),
      (
        #""live_activity":{"ios":{"event":"start","attributes-type":"T","attributes":{},"content-state":{},"#
          + #""alert":{"title":"x","body":"y"}}}"#, [.ios]
      ),
    ] as [(String, [Platform])])
  func `Only devices of platforms for which it has something are meant`(
    members: String, expected: [Platform]
  ) throws {
    let request = try PushRequest.parse(parsed(push(members)), rules: .withAPNs)
    #expect(Set(Platform.allCases.filter { request.platforms.contains($0) }) == Set(expected))
  }

  /// What has no notification that a device shows anew has no limit for a day.
  @Test(
    arguments: [
      (#""notification":{"alert":"x"}"#, .normal),
      (#""notification":{"alert":"x"},"options":{"classification":0}"#, .marketing),
      (#""notification":{"alert":"x"},"options":{"classification":1}"#, nil),
      (#""notification":{"alert":"x"},"message":{"msg_content":"y"}"#, .normal),
      (#""notification":{"alert":"x"},"options":{"override_msg_id":"5"}"#, nil),
      (#""message":{"msg_content":"y"}"#, nil), (#""notification":{"voip":{"a":1}}"#, nil),
      (#""notification":{"android":{"alert":"x"},"voip":{"a":1}}"#, .normal),
      (
        #""live_activity":{"ios":{"event":"start","attributes-type":"T","attributes":{},"content-state":{},"#
          + #""alert":{"title":"x","body":"y"}}}"#, nil
      ),
    ] as [(String, PushClass?)])
  func `Only notifications count for a limit`(members: String, expected: PushClass?) throws {
    #expect(try PushRequest.parse(parsed(push(members)), rules: .withAPNs).limitedClass == expected)
  }

  @Test(
    arguments: [
      (#""notification":{"alert":"x"}"#, true),
      (#""notification":{"alert":"x"},"options":{"classification":0}"#, true),
      (#""notification":{"alert":"x"},"options":{"classification":1}"#, false),
      (#""notification":{"alert":"x"},"options":{"quiet_hours":"keep"}"#, true),
      (#""notification":{"alert":"x"},"options":{"quiet_hours":"ignore"}"#, false),
      (#""notification":{"alert":"x"},"options":{"override_msg_id":"5"}"#, true),
      (#""message":{"msg_content":"y"}"#, false), (#""notification":{"voip":{"a":1}}"#, false),
    ] as [(String, Bool)])
  func `Notifications keep quiet hours unless the sender says otherwise`(
    members: String, expected: Bool
  ) throws {
    #expect(try PushRequest.parse(parsed(push(members)), rules: .withAPNs).keepsQuietHours == expected)
  }

  @Test(arguments: [#""never""#, "true", "1", #""Ignore""#])
  func `What is not said of quiet hours is refused`(value: String) throws {
    let members = #""notification":{"alert":"x"},"options":{"quiet_hours":\#(value)}"#
    #expect(throws: APIError.self) {
      _ = try PushRequest.parse(parsed(push(members)), rules: .withAPNs)
    }
  }

  @Test(arguments: [("time-sensitive", true), ("critical", true), ("active", false), ("passive", false)])
  func `Urgent notifications on iOS break through quiet hours`(level: String, isUrgent: Bool) throws {
    let ios = #"{"alert":"x","interruption-level":"\#(level)"}"#
    let request = try PushRequest.parse(
      parsed(push(#""notification":{"android":{"alert":"x"},"ios":\#(ios)}"#)), rules: .withAPNs)
    #expect(request.keepsQuietHours && request.content.urgentPlatforms == (isUrgent ? PlatformSet(.ios) : []))
  }

  @Test func onlyAnAlertIsOneVariantForAll() throws {
    let request = try PushRequest.parse(parsed(push(#""notification":{"alert":"hi"}"#)), rules: .withAPNs)
    #expect(
      request.content.variants
        == [ContentVariant(platforms: .all, notification: Array(#"{"alert":"hi"}"#.utf8))])
    #expect(request.options == PushOptions() && request.options.timeToLive == 86_400)
    #expect(request.audience == .all && request.cid == nil && request.callback == nil)
  }
}
