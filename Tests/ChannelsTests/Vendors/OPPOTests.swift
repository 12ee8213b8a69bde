import BorealisBase
import BorealisCrypto
import HTTP
import PushTesting
import Testing

@testable import Channels

/// What OPPO is told, and what its answers mean.
@Suite struct OPPOTests {
  private static let id = "403926205595649"
  private let credential = VendorFields(Array(#"{"app_key":"k","master_secret":"s+/="}"#.utf8))

  @Test func `The whole message, and with one thing more each`() throws {
    let click = #""click_action_type":0"#
    let data = #""action_parameters":"{\"msg_id\":\"\#(Self.id)\"}""#
    let notify = #""notify_id":\#(MakerNotification.notifyID)"#
    let text = #""style":1,"content":"Hi""#
    let plain =
      #"[{"target_type":2,"target_value":"t1","verify_registration_id":true,"notification":{"#
      + #""app_message_id":"\#(Self.id)","title":"Shop",\#(text),\#(click),\#(data),\#(notify),"#
      + #""off_line":true,"off_line_ttl":3600}}]"#
    let more = { (added: String) in [(notify, notify + "," + added)] }
    let long = String(repeating: "界", count: 200)
    let template = #""private_msg_template_id":"p","private_title_parameters":{"a":"b"}"#
    let cases: [(String, String, [(String, String)])] = [
      ("", "", []), (#""title":"T""#, "", [("Shop", "T")]),
      (#""title":"\#(long)""#, "", [("Shop", String(long.prefix(49)) + "…")]),
      ("", #""channel_id":"c""#, more(#""channel_id":"c""#)),
      (#""channel_id":"a""#, "", more(#""channel_id":"a""#)),
      (#""channel_id":"a""#, #""channel_id":"c","skip_quota":true"#, more(#""channel_id":"c""#)),
      // Classes: none is marketing, and the push's classification has the last word.
      ("", #""category":"IM""#, more(#""category":"IM""#)),
      (#""category":"ORDER""#, "", more(#""category":"ORDER""#)), (#""category":"alarm""#, "", []),
      ("", #""category":"IM","notify_level":16"#, more(#""category":"IM","notify_level":16"#)),
      ("", #""category":"IM",\#(template)"#, more(#""category":"IM",\#(template)"#)),
      ("", #""category":"NEWS","notify_level":2,\#(template)"#, more(#""category":"NEWS""#)),
      ("", #""notify_level":2"#, []), ("", #""category":"IM","notify_level":2,"classification":0"#, []),
      ("", #""category":"NEWS","classification":0"#, more(#""category":"NEWS""#)),
      ("", #""category":"NEWS","classification":1"#, []), ("", #""classification":1"#, []),
      ("", #""category":"IM","classification":1"#, more(#""category":"IM""#)),
      // Texts.
      (#""style":1,"big_text":"Long""#, "", [(text, #""style":2,"content":"Long""#)]),
      (#""style":1,"big_text":"\#(long)""#, "", [(text, #""style":2,"content":"\#(long.prefix(127))…""#)]),
      (#""style":1,"big_text":"Long""#, #""big_text":"Own""#, [(text, #""style":2,"content":"Own""#)]),
      (#""big_text":"Long""#, "", []), (#""oppns_content_forshort":"Short""#, "", []),
      // Taps.
      (
        #""uri_activity":"com.example.A""#, "",
        [(click, #""click_action_type":4,"click_action_activity":"com.example.A""#)]
      ),
      (
        #""uri_action":"com.example.OPEN","uri_activity":"com.example.A""#, "",
        [(click, #""click_action_type":1,"click_action_activity":"com.example.OPEN""#)]
      ),
      (
        #""intent":{"url":"https://a.example"}"#, "",
        [
          (click, #""click_action_type":2,"click_action_url":"https://a.example""#),
          (#"\"}""#, #"\",\"intent\":\"https://a.example\"}""#),
        ]
      ),
      (
        #""intent":{"url":"intent:#Intent;component=a/b;end"}"#, "",
        [
          (click, #""click_action_type":5,"click_action_url":"intent:#Intent;component=a/b;end""#),
          (#"\"}""#, #"\",\"intent\":\"intent:#Intent;component=a/b;end\"}""#),
        ]
      ),
      // Objects are texts.
      (#""extras":{"a":1}"#, "", [(#"\"}""#, #"\",\"extras\":\"{\\\"a\\\":1}\"}""#)]),
      // Numbers on the icon.
      (#""badge_set_num":3"#, "", more(#""badge_operation_type":0,"badge_message_count":3"#)),
      (#""badge_add_num":2"#, "", more(#""badge_operation_type":1,"badge_message_count":2"#)),
      (#""badge_add_num":2"#, #""badge_operation_type":1"#, more(#""badge_operation_type":1"#)),
      (
        #""badge_add_num":2"#, #""badge_message_count":7"#,
        more(#""badge_operation_type":0,"badge_message_count":7"#)
      ),
    ]
    try MakerNotification.expect(plain, cases) { OPPO.content($0) }
    let replaced = MakerNotification.body(
      OPPO.content(try MakerNotification.shown(replaces: MessageID(77))), tokens: ["t1"])
    #expect(replaced == plain.replacing(notify, with: #""notify_id":77"#))
    let told = OPPO.content(try MakerNotification.shown()).body(
      to: MakerNotification.target(["t1"], passing: MakerNotification.passing), within: .huawei)
    let end = #""off_line_ttl":3600"#
    let receipts =
      #","call_back_url":"https://p.example/r","call_back_parameter":"\#(MakerNotification.passing.tag)""#
    #expect(String(decoding: told, as: UTF8.self) == plain.replacing(end, with: end + receipts))
  }

  @Test func `A long text without a style has the style that has room for it`() throws {
    func text(_ length: Int, _ more: String = "") throws -> String {
      let shown = try MakerNotification.shown(more, alert: String(repeating: "x", count: length))
      let body = MakerNotification.body(OPPO.content(shown))
      return String(try #require(body.firstMatch(of: /"style":.,"content":"[^"]*"/)).output)
    }
    #expect(try text(50) == #""style":1,"content":"\#(String(repeating: "x", count: 50))""#)
    #expect(try text(51) == #""style":2,"content":"\#(String(repeating: "x", count: 51))""#)
    #expect(try text(129) == #""style":2,"content":"\#(String(repeating: "x", count: 127))…""#)
    #expect(try text(51, #""oppns_content_forshort":"Short""#) == #""style":1,"content":"Short""#)
  }

  @Test func limits() throws {
    func refusal(_ android: String) throws -> String? {
      OPPO.content(try MakerNotification.shown(android)).refusal
    }
    let long = String(repeating: "x", count: 4000)
    #expect(try refusal(#""extras":{"a":"\#(long)"}"#) == "MessageTooBig")
    #expect(try refusal(#""extras":{"a":"\#(long.prefix(3900))"}"#) == nil)
    #expect(try refusal(#""intent":{"url":"https://\#(long.prefix(1993))"}"#) == "MessageTooBig")
    #expect(try refusal(#""intent":{"url":"https://\#(long.prefix(1992))"}"#) == nil)
    let content = OPPO.content(try MakerNotification.shown())
    // What OPPO would keep for an hour is not kept at all if it is good for less.
    #expect(MakerNotification.body(content, life: 3599).contains(#""off_line":false}"#))
    let body = content.body(
      to: MakerNotification.target(life: 9_000_000), within: .oppo)
    #expect(String(decoding: body, as: UTF8.self).contains(#""off_line":true,"off_line_ttl":864000}"#))
  }

  @Test func requests() throws {
    let credential = try #require(credential)
    let access = AccessToken("tok+", expiresAt: Timestamp(milliseconds: 0))
    let content = OPPO.content(try MakerNotification.shown())
    guard
      case .post(let post) = OPPO().request(
        content, to: MakerNotification.target(), with: credential, access: access)
    else {
      Issue.record("no request")
      return
    }
    #expect(
      post.url == "https://api-push-cn.heytapmobi.com/server/v1/message/notification/unicast_batch")
    let messages = MakerNotification.body(content)
    #expect(messages.contains(#""target_value":"t1""#) && messages.contains(#""target_value":"t2""#))
    #expect(post.body == VendorFields.form([("auth_token", "tok+"), ("messages", messages)]))
    #expect(post.contentType == "application/x-www-form-urlencoded")
  }

  /// The digest is that of `printf 'k1500s+/=' | sha256sum`.
  @Test func `A signature of the time gets a token of access`() throws {
    guard case .ask(let post) = OPPO().authorize(try #require(credential), at: Timestamp(milliseconds: 1500))
    else {
      Issue.record("nobody is asked")
      return
    }
    #expect(post.url == "https://api-push-cn.heytapmobi.com/server/v1/auth")
    let digest = "b1a881642fa387e2e406ee41cd680ec24aa6590285782ae7b920efd05ccd8d37"
    #expect(String(decoding: post.body, as: UTF8.self) == "app_key=k&timestamp=1500&sign=\(digest)")
  }

  @Test func tokensOfAccess() {
    func read(_ body: String, _ status: Int = 200, at seconds: Int64 = 100_000) -> AccessAnswer {
      OPPO().readToken(
        MakerNotification.answer(status, body), at: Timestamp(milliseconds: seconds * 1000))
    }
    func made(_ time: String) -> AccessAnswer {
      read(#"{"code":0,"message":"","data":{"auth_token":"x","create_time":\#(time)}}"#)
    }
    #expect(made("100000000") == .token("x", seconds: 86_400))
    #expect(made("\"99000000\"") == .token("x", seconds: 85_400))
    #expect(made("1000000") == .token("x", seconds: 1))
    #expect(made("900000000000") == .token("x", seconds: 86_400))
    #expect(made(String(Int64.min)) == .token("x", seconds: 1))
    #expect(read(#"{"code":0,"data":{"auth_token":"x"}}"#) == .token("x", seconds: 86_400))
    #expect(
      read(#"{"code":0,"data":{"auth_token":"a\r\nb"}}"#)
        == .later("OPPO's answer has no token of access", seconds: nil))
    for code in [12, 14, 15, 16, 17, 18, 26, 27, 28, 30, 40] {
      #expect(
        read(#"{"code":\#(code),"message":"m"}"#)
          == .refused("OPPO refused the credential: OPPO answered 200 \(code) m"))
    }
    for code in [-1, -2, 13, 55, 503] {
      #expect(
        read(#"{"code":\#(code),"message":"m"}"#) == .later("OPPO answered 200 \(code) m", seconds: nil))
    }
    #expect(read("", 503) == .later("OPPO answered 503", seconds: nil))
  }

  @Test func codes() {
    func code(_ code: Int, _ status: Int = 200) -> VendorOutcome {
      OPPO().interpret(MakerNotification.answer(status, #"{"code":\#(code),"message":"m","data":null}"#))
    }
    func text(_ code: Int) -> String { "OPPO answered 200 \(code) m" }
    #expect(code(0) == .accepted && code(32) == .accepted)
    for busy in [-1, 55, 500, 503, 599] {
      #expect(code(busy) == MakerNotification.later(text(busy), rests: false))
    }
    for fast in [-2, 13] { #expect(code(fast) == MakerNotification.later(text(fast), rests: true)) }
    for old in [11, 29] { #expect(code(old) == .refreshAuthOnce(text(old))) }
    #expect(code(19) == MakerNotification.later(text(19) + ": is the server's clock right?", rests: true))
    for wrong in [14, 15, 16, 17, 18, 26, 27, 28, 30] {
      #expect(code(wrong) == .pauseAndAlertOperator(text(wrong)))
    }
    #expect(code(33) == .stopUntilQuotaReset(text(33)))
    #expect(code(10_000) == .dropToken("10000") && code(10_001) == .notificationsOff)
    for bad in [12, 20, 21, 22, 23, 24, 25, 31, 40, 41, 54, 10_002, 10_003] {
      #expect(code(bad) == .rejectContent(String(bad)) && code(bad, 400) == .rejectContent(String(bad)))
    }
    #expect(code(99_999) == MakerNotification.later(text(99_999), rests: true, from: 60))
    #expect(code(0, 503) == MakerNotification.later("OPPO answered 503 0 m", rests: true))
    MakerNotification.expectStatuses(
      of: OPPO(), "OPPO")
    for reason in ["10000", "20", "21", "22", "23", "24", "25", "40", "41", "54"] {
      #expect(OPPO().meaning(of: reason) != nil)
    }
    #expect(OPPO().meaning(of: "1") == nil)
  }

  @Test func `Only the devices that OPPO names are concerned`() {
    func said(_ body: String, _ tokens: [String] = ["a", "b", "c", "d"]) -> [VendorOutcome] {
      let tokens = tokens.map { Array($0.utf8) }
      let answer = OPPO().interpret(MakerNotification.answer(200, body), for: tokens)
      return tokens.map { answer.outcome(for: $0) }
    }
    let items =
      #"[{"messageId":"1","registrationId":"a"},{"registrationId":"b","errorCode":10000,"errorMessage":"m"},"#
      + #"{"registrationId":"c","errorCode":"10001"},{"registrationId":"d","errorCode":13,"errorMessage":"m"}]"#
    #expect(
      said(#"{"code":0,"message":"","data":\#(items)}"#) == [
        .accepted, .dropToken("10000"), .notificationsOff,
        MakerNotification.later("OPPO answered 13 m", rests: true),
      ])
    // Of which device it speaks is not known.
    #expect(said(#"{"code":10000}"#, ["a", "b"]) == [.rejectContent("10000"), .rejectContent("10000")])
    #expect(said(#"{"code":10000}"#, ["a"]) == [.dropToken("10000")])
  }
}
