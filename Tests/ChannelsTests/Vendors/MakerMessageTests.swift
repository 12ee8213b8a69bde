import BorealisBase
import Core
import HTTP
import Model
import Testing

@testable import Channels

/// What a notification for Android becomes in requests to makers' services.
@Suite struct MakerMessageTests {
  private static let push = MakerNotification.push

  private func shown(
    _ android: String, _ wishes: String, replaces: MessageID? = nil
  ) throws -> AndroidNotification { try MakerNotification.shown(android, wishes, replaces: replaces) }

  private func body(_ content: MakerContent, life: Int64 = 3600) -> String {
    MakerNotification.body(content, life: life)
  }

  private func preview(_ vendor: some Vendor, _ android: String, _ wishes: String) throws -> ChannelPreview? {
    let platforms = vendor.info.platforms
    let content = PushContent(
      variants: [ContentVariant(platforms: platforms, notification: Array("{\(android)}".utf8))],
      forChannels: wishes.isEmpty
        ? [] : [ChannelContent(vendor.info.id, for: platforms, Array("{\(wishes)}".utf8))])
    return vendor.preview(content, app: "Shop")
  }

  /// The notes that senders get before a push.
  @Test func previews() throws {
    let text = #""alert":"Hi""#
    let huawei: [(String, ChannelPreview)] = [
      ("", ChannelPreview(.marketing, words: ["MARKETING", "LOW"], isByDefault: true)),
      (#""classification":1"#, ChannelPreview(.service, words: ["NORMAL"])),
      (#""category":"IM""#, ChannelPreview(.service, words: ["IM", "NORMAL"])),
      (#""category":"IM","importance":"LOW""#, ChannelPreview(.marketing, words: ["IM", "LOW"])),
    ]
    for (wishes, expected) in huawei { #expect(try preview(Huawei(), text, wishes) == expected) }
    #expect(
      try preview(Honor(time: SystemTime()), text, "")
        == ChannelPreview(.marketing, words: ["LOW"], isByDefault: true))
    for vendor in [Huawei(), Honor(time: SystemTime())] as [any MakerVendor] {
      let number = text + #","badge_add_num":1"#
      #expect(try preview(vendor, number, "")?.words.last == "no badge without badge_class")
      #expect(
        try preview(vendor, number, #""badge_class":"C""#)?.words.contains("no badge without badge_class")
          == false)
      #expect(
        try preview(vendor, number + #","badge_class":"C""#, "")?.words.last?.contains("badge") == false)
    }
    #expect(
      try preview(Honor(time: SystemTime()), text, #""classification":1"#)
        == ChannelPreview(.service, words: ["NORMAL"]))
    let long = #""alert":"\#(String(repeating: "界", count: 128))""#
    #expect(try preview(Xiaomi(), text, "") == ChannelPreview(.marketing, isByDefault: true))
    #expect(
      try preview(Xiaomi(), long + #","channel_id":"7""#, #""classification":0"#)
        == ChannelPreview(
          .marketing, words: ["channel_id 7"], cuts: [.init(field: "alert", characters: 127)]))
    #expect(
      try preview(Xiaomi(), #""title":"\#(String(repeating: "x", count: 50))","# + text, "")?.cuts
        == [.init(field: "title", characters: 49)])
    let huge = #""alert":"Hi","extras":{"a":"\#(String(repeating: "x", count: 4096))"}"#
    for vendor in [
      Huawei(), Honor(), Xiaomi(), OPPO(), Vivo(), Harmony(),
    ] as [any Vendor] {
      #expect(try preview(vendor, huge, "")?.refusal == "MessageTooBig")
    }
    for title in ["", " ", "\u{3000} "] {
      #expect(try MakerNotification.shown(#""title":"\#(title)""#).title == "Shop")
    }
    #expect(Huawei().preview(PushContent(variants: []), app: "Shop") == nil)
  }

  /// Whether devices make a sound.
  @Test func tones() throws {
    func tone(_ vendor: some Vendor, _ android: String = "", _ wishes: String = "") throws -> PushTone {
      let platforms = vendor.info.platforms
      let text = #""alert":"Hi""# + (android.isEmpty ? "" : "," + android)
      return vendor.tone(
        of: PushContent(
          variants: [ContentVariant(platforms: platforms, notification: Array("{\(text)}".utf8))],
          forChannels: wishes.isEmpty
            ? [] : [ChannelContent(vendor.info.id, for: platforms, Array("{\(wishes)}".utf8))]))
    }
    let service = #""classification":1"#
    for vendor in [Huawei(), Honor(), Xiaomi(), OPPO(), Vivo(), Meizu(), Harmony()] as [any Vendor] {
      #expect(try tone(vendor) == .silent(.classMissing), "\(vendor.info.name)")
      #expect(try tone(vendor, "", #""classification":0"#) == .silent(.marketingClass), "\(vendor.info.name)")
    }
    for vendor in [Huawei(), Honor(), Vivo(), Meizu()] as [any Vendor] {
      #expect(try tone(vendor, "", service) == .loud, "\(vendor.info.name)")
    }
    for vendor in [Huawei(), Vivo(), Meizu()] as [any Vendor] {
      #expect(try tone(vendor, #""alert_type":2"#, service) == .silent(.noSound), "\(vendor.info.name)")
    }
    #expect(try tone(Huawei(), #""alert_type":2,"sound":"bell""#, service) == .loud)
    #expect(try tone(OPPO(), "", service) == .silent(.classMissing), "OPPO takes it for marketing")
    #expect(try tone(OPPO(), "", #""category":"IM""#) == .loud)
    #expect(try tone(Harmony(), #""category":"IM""#) == .loud)
    #expect(try tone(Harmony(), #""push_type":1"#) == .silent(.wakesApp))
    for vendor in [Xiaomi(), OPPO()] as [any Vendor] {
      #expect(try tone(vendor, #""channel_id":"7""#) == .registered, "\(vendor.info.name)")
    }
    #expect(try tone(Xiaomi(), "", #""channel_id":"7","mi_template_id":"M1""#) == .loud)
    #expect(try tone(FCM()) == .loud)
    #expect(try tone(FCM(), #""alert_type":6"#) == .silent(.noSound))
    #expect(try tone(WebPush()) == .loud)
    #expect(try tone(WebPush(), #""alert_type":0"#) == .silent(.noSound))
  }

  /// The same of the makers that have categories, and of Meizu.
  @Test func previewsOfCategories() throws {
    let text = #""alert":"Hi""#
    func expect(_ vendor: some Vendor, _ cases: [(String, String, ChannelPreview)]) throws {
      for (android, wishes, expected) in cases {
        let shown = android.isEmpty ? text : text + "," + android
        #expect(try preview(vendor, shown, wishes) == expected, "\(android) \(wishes)")
      }
    }
    try expect(
      OPPO(),
      [
        ("", "", ChannelPreview(.marketing, isByDefault: true)),
        ("", #""classification":1"#, ChannelPreview(.marketing, isByDefault: true)),
        ("", #""category":"ORDER""#, ChannelPreview(.service, words: ["ORDER"])),
        ("", #""category":"NEWS""#, ChannelPreview(.marketing, words: ["NEWS"])),
        ("", #""category":"ORDER","classification":0"#, ChannelPreview(.marketing)),
        (#""channel_id":"7""#, "", ChannelPreview(nil, words: ["channel_id 7"])),
        (
          #""channel_id":"7""#, #""category":"ORDER""#,
          ChannelPreview(.service, words: ["ORDER", "channel_id 7"])
        ),
      ])
    try expect(
      Vivo(),
      [
        ("", "", ChannelPreview(.marketing, words: ["classification 0"], isByDefault: true)),
        ("", #""classification":1"#, ChannelPreview(.service, words: ["classification 1"])),
        ("", #""category":"ORDER""#, ChannelPreview(.service, words: ["classification 1", "ORDER"])),
      ])
    try expect(
      Meizu(),
      [
        ("", "", ChannelPreview(.marketing, words: ["noticeMsgType 0"], isByDefault: true)),
        ("", #""classification":1"#, ChannelPreview(.service, words: ["noticeMsgType 1"])),
      ])
    try expect(
      Harmony(),
      [
        ("", "", ChannelPreview(.marketing, words: ["MARKETING"], isByDefault: true)),
        (#""category":"WORK""#, "", ChannelPreview(.service, words: ["WORK"])),
        (#""category":"WORK""#, #""classification":0"#, ChannelPreview(.marketing, words: ["MARKETING"])),
      ])
    #expect(try preview(Harmony(), text + #","push_type":10,"extra_data":"x""#, "") == nil)
  }

  /// What is cut to how many characters: a shorter text that the sender has for the maker is no cut.
  @Test func previewsOfCuts() throws {
    let long = String(repeating: "界", count: 200)
    func cuts(_ vendor: some Vendor, _ android: String) throws -> [String] {
      try preview(vendor, android, "")?.cuts.map { "\($0.field) \($0.characters)" } ?? ["nothing"]
    }
    let both = #""title":"\#(long)","alert":"\#(long)""#
    #expect(try cuts(Xiaomi(), both) == ["title 49", "alert 127"])
    #expect(try cuts(OPPO(), both) == ["title 50", "alert 128"])
    // Chinese characters count 2, and so does what marks the cut.
    #expect(try cuts(Vivo(), both) == ["title 20", "alert 50"])
    #expect(try cuts(Meizu(), both) == ["title 32", "alert 100"])
    for (vendor, name) in [
      (OPPO(), "oppns_content_forshort"), (Vivo(), "vpns_content_forshort"),
      (Meizu(), "mzpns_content_forshort"),
    ] as [(any Vendor, String)] {
      #expect(try cuts(vendor, #""alert":"\#(long)","\#(name)":"Short""#) == [], "\(name)")
    }
    #expect(try cuts(OPPO(), #""alert":"Hi","style":1,"big_text":"\#(long)""#) == ["alert 128"])
    #expect(try cuts(OPPO(), #""alert":"Hi","style":1,"big_text":"Long""#) == [])
  }

  @Test func xiaomiQuota() {
    func quota(_ data: String) -> String? {
      let body = #"{"result":"ok","code":0,"data":\#(data)}"#
      return Xiaomi().quota(in: HTTPAnswer(status: 200, body: Array(body.utf8))).map {
        "\($0.used)/\($0.total)"
      }
    }
    #expect(quota(#"{"day_quota":"50000","day_acked":"12"}"#) == "12/50000")
    #expect(quota(#"{"day_quota":50000,"day_acked":12}"#) == "12/50000")
    for data in [
      "{}", #"{"day_quota":50000}"#, #"{"day_quota":-1,"day_acked":0}"#, #"{"day_quota":"x","day_acked":1}"#,
    ] {
      #expect(quota(data) == nil)
    }
  }

  /// The whole message with nothing but a text, and with one more member each.
  @Test func huawei() throws {
    let data = #""data":"{\"msg_id\":\"403926205595649\"}""#
    let android = #""android":{"category":"MARKETING","bi_tag":"403926205595649","ttl":"3600s","#
    let title = #""title":"Shop","body":"Hi","#
    let sounds = #""default_sound":true,"use_default_vibrate":true,"use_default_light":true,"#
    let id = #""notify_id":403926205595649"#
    _ = id
    let notify = #""notify_id":\#(403_926_205_595_649 % 2_147_483_647),"#
    let end = #""importance":"LOW","click_action":{"type":3}}},"token":["t1","t2"]}}"#
    let plain =
      #"{"validate_only":false,"message":{"# + data + "," + android + #""notification":{"# + title + sounds
      + notify + end
    #expect(try body(Huawei.content(shown("", ""))) == plain)
    let service = (#""category":"MARKETING","#, "")
    let normal = (#""importance":"LOW""#, #""importance":"NORMAL""#)
    let bi = #""bi_tag":"403926205595649","#
    let click = #""click_action":{"type":3}"#
    let cases: [(String, String, [(String, String)])] = [
      (#""title":"T""#, "", [(title, #""title":"T","body":"Hi","#)]),
      ("", #""channel_id":"c""#, [(notify, #""channel_id":"c","# + notify)]),
      (#""channel_id":"a""#, "", [(notify, #""channel_id":"a","# + notify)]),
      (#""channel_id":"a""#, #""channel_id":"c""#, [(notify, #""channel_id":"c","# + notify)]),
      // Classes: none is marketing, and the push's classification has the last word.
      ("", #""classification":1"#, [service, normal]), ("", #""classification":0,"category":"IM""#, []),
      ("", #""category":"IM""#, [(#""MARKETING""#, #""IM""#), normal]),
      ("", #""category":"IM","importance":"HIGH""#, [(#""MARKETING""#, #""IM""#), ("LOW", "HIGH")]),
      ("", #""importance":"NORMAL""#, [service, normal]), (#""category":"alarm""#, "", []),
      (#""category":"WORK""#, "", [(#""MARKETING""#, #""WORK""#), normal]),
      ("", #""category":"MARKETING","classification":1"#, [service, normal]),
      ("", #""urgency":"HIGH""#, [(bi, #""urgency":"HIGH","# + bi)]),
      ("", #""receipt_id":"r""#, [(bi, bi + #""receipt_id":"r","#)]),
      ("", #""target_user_type":1"#, [(bi, bi + #""target_user_type":1,"#)]),
      ("", #""sound":"/raw/s""#, [(#""default_sound":true"#, #""sound":"/raw/s""#)]),
      (#""sound":"/raw/a""#, "", [(#""default_sound":true"#, #""sound":"/raw/a""#)]),
      ("", #""default_sound":false"#, [(#""default_sound":true"#, #""default_sound":false"#)]),
      (
        #""alert_type":0"#, "",
        [
          (
            sounds, #""default_sound":false,"use_default_vibrate":false,"use_default_light":false,"#
          )
        ]
      ),
      ("", #""small_icon_uri":"/raw/i""#, [(title, title + #""icon":"/raw/i","#)]),
      (##""icon_bg_color":"#12aBcD""##, "", [(title, title + ##""color":"#12aBcD","##)]),
      (
        "", #""large_icon":"https://a.example/i.png""#,
        [(title, title + #""image":"https://a.example/i.png","#)]
      ),
      (#""large_icon":"/sdcard/i.png""#, "", []),
      (
        #""style":1,"big_text":"Long""#, "",
        [(notify, #""style":1,"big_title":"Shop","big_body":"Long","# + notify)]
      ),
      (
        "", #""style":1,"big_text":"Own""#,
        [(notify, #""style":1,"big_title":"Shop","big_body":"Own","# + notify)]
      ),
      (
        #""style":2,"inbox":{"a":"1","b":"2"}"#, "",
        [(notify, #""style":3,"inbox_content":["1","2"],"# + notify)]
      ),
      (#""big_text":"Long""#, "", []),
      (#""display_foreground":"0""#, "", [(click, #""foreground_show":false,"# + click)]),
      (
        #""uri_action":"com.example.OPEN""#, "",
        [(click, #""click_action":{"type":1,"action":"com.example.OPEN"}"#)]
      ),
      (
        #""badge_add_num":2,"badge_class":"com.example.Main""#, "",
        [(click, click + #","badge":{"add_num":2,"class":"com.example.Main"}"#)]
      ),
      (
        #""badge_set_num":3,"badge_class":"com.example.Main""#, "",
        [(click, click + #","badge":{"set_num":3,"class":"com.example.Main"}"#)]
      ),
      (#""badge_add_num":2"#, "", []), (#""badge_class":"com.example.Main""#, "", []),
      (
        #""extras":{"a":1}"#, "",
        [(data, #""data":"{\"msg_id\":\"403926205595649\",\"extras\":{\"a\":1}}""#)]
      ),
      (
        #""intent":{"url":"https://a.example"}"#, "",
        [
          (click, #""click_action":{"type":2,"url":"https://a.example"}"#),
          (data, #""data":"{\"msg_id\":\"403926205595649\",\"intent\":\"https://a.example\"}""#),
        ]
      ),
      (
        #""intent":{"url":"intent:#Intent;component=a/b;end"}"#, "",
        [
          (click, #""click_action":{"type":1,"intent":"intent:#Intent;component=a/b;end"}"#),
          (
            data,
            #""data":"{\"msg_id\":\"403926205595649\",\"intent\":\"intent:#Intent;component=a/b;end\"}""#
          ),
        ]
      ),
    ]
    for (android, wishes, changes) in cases {
      var expected = plain
      for (old, new) in changes {
        #expect(expected.contains(old))
        expected = expected.replacing(old, with: new, maxReplacements: 1)
      }
      #expect(try body(Huawei.content(shown(android, wishes))) == expected, "\(android) \(wishes)")
    }
    #expect(
      try body(Huawei.content(shown("", "", replaces: MessageID(77))))
        == plain.replacing(notify, with: #""notify_id":77,"#))
    #expect(try body(Huawei.content(shown("", "")), life: 0).contains(#""ttl":"1s""#))
    #expect(try body(Huawei.content(shown("", "")), life: 9_000_000).contains(#""ttl":"1296000s""#))
    let long = String(repeating: "x", count: 4000)
    #expect(try Huawei.content(shown(#""title":"\#(long)""#, "")).refusal == "MessageTooBig")
    #expect(try Huawei.content(shown("", "")).refusal == nil)
  }

  @Test func honor() throws {
    let notify = #""notifyId":\#(403_926_205_595_649 % 2_147_483_647)"#
    let data = #""data":"{\"msg_id\":\"403926205595649\"}""#
    let bi = #""biTag":"403926205595649""#
    let plain =
      #"{"# + data + #","android":{"ttl":"3600s","# + bi
      + #","notification":{"title":"Shop","body":"Hi","importance":"LOW","# + notify
      + #","clickAction":{"type":3}}},"token":["t1","t2"]}"#
    #expect(try body(Honor.content(shown("", ""))) == plain)
    let low = #""importance":"LOW""#
    let click = #""clickAction":{"type":3}"#
    let cases: [(String, String, [(String, String)])] = [
      (#""title":"T""#, "", [("Shop", "T")]), ("", #""importance":"NORMAL""#, [("LOW", "NORMAL")]),
      ("", #""classification":1"#, [("LOW", "NORMAL")]),
      ("", #""classification":0,"importance":"NORMAL""#, []),
      ("", #""target_user_type":1"#, [(bi, bi + #","targetUserType":1"#)]),
      (
        #""large_icon":"https://a.example/i.png""#, "", [(low, #""image":"https://a.example/i.png","# + low)]
      ),
      (
        #""style":1,"big_text":"Long""#, "",
        [(low, #""style":1,"bigTitle":"Shop","bigBody":"Long","# + low)]
      ),
      (#""style":2,"inbox":{"a":"1"}"#, "", []),
      (
        #""badge_add_num":2,"badge_class":"com.example.Main""#, "",
        [(click, click + #","badge":{"addNum":2,"badgeClass":"com.example.Main"}"#)]
      ),
      (
        #""badge_set_num":0,"badge_class":"com.example.Main""#, "",
        [(click, click + #","badge":{"setNum":0,"badgeClass":"com.example.Main"}"#)]
      ),
      (
        #""uri_action":"com.example.OPEN""#, "",
        [(click, #""clickAction":{"type":1,"action":"com.example.OPEN"}"#)]
      ),
      (
        #""extras":{"a":1}"#, "",
        [(data, #""data":"{\"msg_id\":\"403926205595649\",\"extras\":{\"a\":1}}""#)]
      ),
    ]
    for (android, wishes, changes) in cases {
      var expected = plain
      for (old, new) in changes { expected = expected.replacing(old, with: new, maxReplacements: 1) }
      #expect(try body(Honor.content(shown(android, wishes))) == expected, "\(android) \(wishes)")
    }
    #expect(
      try body(Honor.content(shown("", "", replaces: MessageID(77))))
        == plain.replacing(notify, with: #""notifyId":77"#))
  }

  @Test func xiaomiRecalls() throws {
    let credential = try #require(VendorFields(Array(#"{"package_name":"p","secret":"s"}"#.utf8)))
    let variant = ContentVariant(
      platforms: PlatformSet(.android), notification: Array(#"{"alert":"x"}"#.utf8))
    let recall = VendorRecall(
      push: Self.push, content: PushContent(variants: [variant], overrides: nil),
      tokens: [Array("a".utf8), Array("b".utf8)])
    let post = try #require(
      Xiaomi().request(
        recall, with: credential, access: AccessToken("s", expiresAt: Timestamp(milliseconds: 0))))
    #expect(post.url == "https://api.xmpush.xiaomi.com/v3/message/regid/revoke")
    #expect(post.fields == ["Authorization: key=s"])
    let number = 403_926_205_595_649 % 2_147_483_647
    #expect(
      String(decoding: post.body, as: UTF8.self)
        == "registration_ids=a%2Cb&restricted_package_name=p&notify_id=\(number)")
    func ends(_ code: Int) -> Bool {
      Xiaomi().endsRecall(HTTPAnswer(status: 200, body: Array(#"{"code":\#(code)}"#.utf8)))
    }
    #expect(ends(0) && ends(10_017) && !ends(10_002))
  }

  @Test func xiaomi() throws {
    let notify = "notify_id=\(403_926_205_595_649 % 2_147_483_647)"
    let key = "m" + String(Self.push.rawValue, radix: 36)
    let payload = "payload=%257B%2522msg_id%2522%253A%2522403926205595649%2522%257D"
    let plain =
      "registration_id=t1%2Ct2&pass_through=0&title=Shop&description=Hi&notify_type=-1&" + notify
      + "&extra.notify_effect=1&extra.jobkey=\(key)&" + payload + "&time_to_live=3600000"
    #expect(try body(Xiaomi.content(shown("", ""))) == plain)
    #expect(key.utf8.count <= 12)
    let effect = "&extra.notify_effect=1"
    let long = String(repeating: "é", count: 200)
    let mark = "%E2%80%A6"
    let cases: [(String, String, [(String, String)])] = [
      (#""title":"T&Co""#, "", [("title=Shop", "title=T%26Co")]),
      ("", #""channel_id":"c""#, [(effect, "&extra.channel_id=c" + effect)]),
      (#""channel_id":"a""#, "", [(effect, "&extra.channel_id=a" + effect)]),
      (#""channel_id":"a""#, #""channel_id":"c""#, [(effect, "&extra.channel_id=c" + effect)]),
      (
        "", #""channel_id":"c","mi_template_id":"T1","mi_template_param":{"name":"Ann"}"#,
        [
          (
            effect,
            "&extra.channel_id=c&extra.template_id=T1&extra.template_param=%7B%22name%22%3A%22Ann%22%7D"
              + effect
          )
        ]
      ),
      (#""sound":"s""#, "", [(effect, "&extra.sound_uri=s" + effect)]),
      (#""alert_type":5"#, "", [("notify_type=-1", "notify_type=5")]),
      (#""alert_type":0"#, "", [("notify_type=-1", "notify_type=0")]),
      (#""display_foreground":"0""#, "", [(effect, "&extra.notify_foreground=0" + effect)]),
      (
        #""intent":{"url":"https://a.example/"}"#, "",
        [
          (effect, "&extra.notify_effect=3&extra.web_uri=https%3A%2F%2Fa.example%2F"),
          (
            "%2522%257D&", "%2522%252C%2522intent%2522%253A%2522https%253A%252F%252Fa.example%252F%2522%257D&"
          ),
        ]
      ),
      (
        #""title":"\#(long)""#, "",
        [("title=Shop", "title=" + String(repeating: "%C3%A9", count: 48) + mark)]
      ),
    ]
    for (android, wishes, changes) in cases {
      var expected = plain
      for (old, new) in changes { expected = expected.replacing(old, with: new, maxReplacements: 1) }
      #expect(try body(Xiaomi.content(shown(android, wishes))) == expected, "\(android) \(wishes)")
    }
    #expect(
      try body(Xiaomi.content(shown("", "", replaces: MessageID(77))))
        == plain.replacing(notify, with: "notify_id=77"))
    #expect(try body(Xiaomi.content(shown("", "")), life: 0).hasSuffix("time_to_live=1000"))
    // Marketing is kept for a day, other messages for ten.
    #expect(try body(Xiaomi.content(shown("", "")), life: 864_000).hasSuffix("time_to_live=86400000"))
    let own = try Xiaomi.content(shown(#""channel_id":"a""#, ""))
    #expect(body(own, life: 864_000).hasSuffix("time_to_live=864000000"))
    let large = String(repeating: "x", count: 4096)
    #expect(try Xiaomi.content(shown(#""extras":{"a":"\#(large)"}"#, "")).refusal == "MessageTooBig")
  }

  @Test func requests() throws {
    let access = AccessToken("tok", expiresAt: Timestamp(milliseconds: 0))
    let target = VendorTarget(token: Array("t".utf8), push: Self.push, secondsToLive: 60)
    func huawei(_ more: String) throws -> OutgoingRequest? {
      let credential = try #require(
        VendorFields(Array(#"{"app_id":"1001","secret":"s+/="\#(more)}"#.utf8)))
      guard
        case .post(let post) = Huawei().request(
          Huawei.content(try shown("", "")), to: target, with: credential, access: access)
      else { return nil }
      return post
    }
    #expect(try huawei("")?.url == "https://push-api.cloud.huawei.com/v1/1001/messages:send")
    #expect(
      try huawei(#","project_id":"77""#)?.url == "https://push-api.cloud.huawei.com/v2/77/messages:send")
    #expect(try huawei("")?.fields == ["Authorization: Bearer tok"])
    let credential = try #require(
      VendorFields(Array(#"{"app_id":"1001","client_id":"c","secret":"s+/="}"#.utf8)))
    guard
      case .post(let post) = Honor(time: FixedTime()).request(
        Honor.content(try shown("", "")), to: target, with: credential, access: access)
    else {
      Issue.record("no request")
      return
    }
    #expect(post.url == "https://push-api.cloud.honor.com/api/v1/1001/sendMessage")
    #expect(post.fields == ["Authorization: Bearer tok", "timestamp: 1500"])
    for (request, client) in [
      (Huawei().authorize(credential, at: Timestamp(milliseconds: 0)), "1001"),
      (Honor().authorize(credential, at: Timestamp(milliseconds: 0)), "c"),
    ] {
      guard case .ask(let post) = request else {
        Issue.record("nobody is asked")
        continue
      }
      #expect(
        String(decoding: post.body, as: UTF8.self)
          == "grant_type=client_credentials&client_id=\(client)&client_secret=s%2B%2F%3D")
    }
  }

  @Test func credentials() throws {
    func read(_ fields: [String: String]) -> String? {
      do throws(CredentialProblem) {
        let upload = try Huawei().read(
          CredentialInput("huawei", fields: fields.mapValues { Array($0.utf8) }), replacing: nil)
        #expect(Huawei().credential(upload.secret)?["secret"] == fields["secret"])
        return upload.subject
      } catch {
        return error.field.map { "!" + $0 }
      }
    }
    #expect(read(["app_id": "1001", "secret": "abc"]) == "1001")
    #expect(read(["app_id": "1001", "secret": "abc", "project_id": "7"]) == "1001")
    #expect(read(["app_id": "1001"]) == "!secret" && read(["secret": "abc"]) == "!app_id")
    for bad in ["../x", "a b", "a/b", "a?b", "é", String(repeating: "1", count: 257)] {
      #expect(read(["app_id": bad, "secret": "abc"]) == "!app_id")
    }
  }

  /// Where tokens stand in a list with commas, one of them could be a thousand.
  @Test func tokensHaveNoCommas() {
    let vendors: [any Vendor] = [Huawei(), Honor(), Xiaomi(), OPPO(), Vivo(), Meizu()]
    for vendor in vendors {
      func isAccepted(_ token: String) -> Bool { (try? vendor.check(Array(token.utf8)).get()) != nil }
      #expect(isAccepted("CN_0a-_:+/=") && !isAccepted("a,b") && !isAccepted(","))
    }
  }

  private struct FixedTime: TimeSource {
    func now() -> Timestamp { Timestamp(milliseconds: 1500) }
    func monotonic() -> UInt64 { 0 }
  }
}
