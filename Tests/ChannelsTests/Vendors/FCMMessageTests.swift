import BorealisBase
import Model
import Testing

@testable import Channels

/// What a notification for Android becomes in FCM's message.
@Suite struct FCMMessageTests {
  static let push = MessageID(403_926_205_595_649)

  /// The body of the request for a device.
  private func body(
    _ android: String, badge: Int64? = nil, life: Int64 = 3600, replaces: MessageID? = nil,
    token: String = "abc:APA91"
  ) throws -> String {
    let object = try #require((try? parseJSON(Array(android.utf8)))?.object)
    let content = FCMContent(object, push: Self.push, replaces: replaces)
    let target = VendorTarget(
      token: Array(token.utf8), push: Self.push, badge: badge, secondsToLive: life)
    return String(decoding: content.body(to: target), as: UTF8.self)
  }

  /// The message as it is with nothing but a text, and with one more member each.
  @Test func everyField() throws {
    let plain =
      #"{"message":{"token":"abc:APA91","notification":{"body":"Hi"},"data":{"msg_id":"403926205595649"},"#
      + #""android":{"priority":"HIGH","ttl":"3600s","notification":{"tag":"403926205595649","#
      + #""default_sound":true,"default_vibrate_timings":true,"default_light_settings":true}}}}"#
    #expect(try body(#"{"alert":"Hi"}"#) == plain)
    let tag = #""tag":"403926205595649","#
    let shown = #""notification":{"body":"Hi"}"#
    let data = #""msg_id":"403926205595649""#
    let defaults = #""default_sound":true,"default_vibrate_timings":true,"default_light_settings":true"#
    let cases: [(String, [(String, String)])] = [
      (#""title":"T""#, [(shown, #""notification":{"title":"T","body":"Hi"}"#)]),
      (#""style":1,"big_text":"Long""#, [(tag, tag + #""body":"Long","#)]),
      (#""big_text":"Long""#, []), (#""style":0,"big_text":"Long""#, []),
      (
        #""style":3,"big_pic_path":"https://a.example/p.png""#,
        [(shown, #""notification":{"body":"Hi","image":"https://a.example/p.png"}"#)]
      ),
      (#""style":3,"big_pic_path":"/sdcard/p.png""#, []), (#""big_pic_path":"https://a.example/p.png""#, []),
      (#""channel_id":"news""#, [(tag, tag + #""channel_id":"news","#)]),
      (##""icon_bg_color":"#12aBcD""##, [(tag, tag + ##""color":"#12aBcD","##)]),
      (#""icon_bg_color":"red""#, []),
      (#""uri_action":"com.example.OPEN""#, [(tag, tag + #""click_action":"com.example.OPEN","#)]),
      (
        #""intent":{"url":"intent:#Intent;action=com.example.SHOW;component=a/b;end"}"#,
        [
          (tag, tag + #""click_action":"com.example.SHOW","#),
          (data, data + #","intent":"intent:#Intent;action=com.example.SHOW;component=a/b;end""#),
        ]
      ),
      (
        #""intent":{"url":"intent:#Intent;action=android.intent.action.MAIN;end"}"#,
        [(data, data + #","intent":"intent:#Intent;action=android.intent.action.MAIN;end""#)]
      ),
      (#""intent":{"url":"shop://order"}"#, [(data, data + #","intent":"shop://order""#)]),
      (
        #""sound":"bell""#,
        [(tag, tag + #""sound":"bell","#), (#""default_sound":true,"#, "")]
      ),
      (#""alert_type":-1"#, []), (#""alert_type":7"#, []),
      (#""alert_type":1"#, [(#","default_vibrate_timings":true,"default_light_settings":true"#, "")]),
      (#""alert_type":2"#, [(defaults, #""default_vibrate_timings":true"#)]),
      (#""alert_type":4"#, [(defaults, #""default_light_settings":true"#)]),
      (#""alert_type":0"#, [("," + defaults, "")]),
      (#""priority":0"#, [("true}}", #"true,"notification_priority":"PRIORITY_DEFAULT"}}"#)]),
      (#""priority":2"#, [("true}}", #"true,"notification_priority":"PRIORITY_MAX"}}"#)]),
      (#""priority":1"#, [("true}}", #"true,"notification_priority":"PRIORITY_HIGH"}}"#)]),
      (
        #""priority":-1"#,
        [
          ("true}}", #"true,"notification_priority":"PRIORITY_LOW"}}"#),
          (#""priority":"HIGH""#, #""priority":"NORMAL""#),
        ]
      ),
      (
        #""priority":-2"#,
        [
          ("true}}", #"true,"notification_priority":"PRIORITY_MIN"}}"#),
          (#""priority":"HIGH""#, #""priority":"NORMAL""#),
        ]
      ),
      // Data are texts: what is not becomes JSON in a text.
      (
        #""extras":{"order":77,"from":"x"}"#,
        [(data, data + #","extras":"{\"order\":77,\"from\":\"x\"}""#)]
      ),
      (#""extras":{}"#, []),
      (
        #""encrypted":{"content":"AAAA"}"#, [(data, data + #","encrypted":"{\"content\":\"AAAA\"}""#)]
      ),
      // No field of FCM stands for these.
      (#""large_icon":"https://a.example/i.png","small_icon_uri":"x","builder_id":3,"category":"news""#, []),
      (#""inbox":{"1":"a"},"style":2"#, []),
    ]
    for (member, changes) in cases {
      var expected = plain
      for (from, to) in changes { expected = expected.replacing(from, with: to, maxReplacements: 1) }
      #expect(try body(#"{"alert":"Hi",\#(member)}"#) == expected, "\(member)")
    }
  }

  /// Seconds from 0 to four weeks.
  @Test(arguments: [(0, "0s"), (1, "1s"), (2_419_200, "2419200s"), (2_419_201, "2419200s"), (-5, "0s")])
  func timeToLive(seconds: Int64, expected: String) throws {
    #expect(try body(#"{"alert":"Hi"}"#, life: seconds).contains(#""ttl":"\#(expected)""#))
  }

  @Test func badge() throws {
    func change(_ text: String) throws -> BadgeChange {
      FCMContent(try #require((try? parseJSON(Array(text.utf8)))?.object), push: Self.push).badge
    }
    #expect(try change(#"{"alert":"a"}"#) == .unchanged)
    #expect(try change(#"{"alert":"a","badge_add_num":3}"#) == .add(3))
    #expect(try change(#"{"alert":"a","badge_set_num":0}"#) == .set(0))
    #expect(try change(#"{"alert":"a","badge_set_num":5,"badge_add_num":3}"#) == .set(5))
    #expect(
      try body(#"{"alert":"a"}"#, badge: 12).contains(#""notification":{"notification_count":12,"tag""#))
  }

  /// A push that replaces another takes its place in the shade, and in the queue of FCM.
  @Test func replacement() throws {
    let text = try body(#"{"alert":"a"}"#, replaces: MessageID(7))
    #expect(text.contains(#""android":{"collapse_key":"7","priority":"#))
    #expect(text.contains(#""notification":{"tag":"7","#))
    #expect(text.contains(#""msg_id":"403926205595649""#))
  }

  /// Registration tokens and installation IDs have fields of their own.
  @Test func targets() throws {
    #expect(
      try body("{}", token: "dT3kQ0pRSu-Z1xYwV5_aBc").contains(
        #"{"message":{"fid":"dT3kQ0pRSu-Z1xYwV5_aBc","#))
    for token in ["dT3kQ0pRSu-Z1xYwV5_aBcd", "dT3kQ0pRSu:Z1xYwV5_aBc", "x"] {
      #expect(try body("{}", token: token).contains(#"{"message":{"token":"\#(token)","#))
    }
  }

  /// What FCM would refuse for its size is not sent.
  @Test func size() throws {
    func content(_ count: Int) throws -> FCMContent {
      let text = #"{"alert":"\#(String(repeating: "x", count: count))"}"#
      return FCMContent(try #require((try? parseJSON(Array(text.utf8)))?.object), push: Self.push)
    }
    let target = VendorTarget(token: [], push: Self.push, badge: 99_999, secondsToLive: .max)
    var largest = 0
    for count in 3000..<4096 where try content(count).refusal == nil { largest = count }
    // Without the request's own braces, and the target with its comma.
    let overhead = #"{"message":{"token":"","#.utf8.count + "}".utf8.count - "{".utf8.count
    #expect(try content(largest).body(to: target).count - overhead == FCMContent.limit)
    #expect(try content(largest + 1).refusal == "MessageTooBig")
  }

  /// What is not text of a user must not break out of its place.
  @Test func hostileTexts() throws {
    let text = try body(#"{"alert":"\"}}}","title":"\u0000\\","extras":{"a\"":"}"}}"#, token: #"a"b\c"#)
    let message = try #require((try? parseJSON(Array(text.utf8)))?["message"])
    #expect(message["token"]?.string == #"a"b\c"#)
    #expect(message["notification"]?["body"]?.string == #""}}}"#)
    #expect(message["data"]?["extras"]?.string == #"{"a\"":"}"}"#)
  }
}
