import BorealisBase
import HTTP
import PushTesting
import Testing

@testable import Channels

/// What Meizu is told, and what its answers mean.
@Suite struct MeizuTests {
  private static let id = "403926205595649"

  @Test func `The whole message, and with one thing more each`() throws {
    let text = #""content":"Hi""#
    let kind = #""noticeMsgType":0}"#
    let click = #"{"clickType":0,"#
    let data = #""parameters":{"msg_id":"\#(Self.id)"}"#
    let alerts = #"{"vibrate":1,"lights":1,"sound":1}"#
    let key = #""notifyKey":"\#(String(MakerNotification.notifyID, radix: 36))""#
    let plain =
      #"{"noticeBarInfo":{"noticeBarType":0,"title":"Shop",\#(text),\#(kind),"clickTypeInfo":\#(click)"#
      + #"\#(data)},"advanceInfo":{"notificationType":\#(alerts),\#(key)},"#
      + #""pushTimeInfo":{"offLine":1,"validTime":1}}"#
    let long = String(repeating: "界", count: 200)
    let cases: [(String, String, [(String, String)])] = [
      ("", "", []), (#""title":"T""#, "", [("Shop", "T")]),
      (#""title":"\#(long)""#, "", [("Shop", String(long.prefix(31)) + "…")]),
      ("", #""classification":1"#, [(kind, #""noticeMsgType":1}"#)]), ("", #""classification":0"#, []),
      (
        #""style":1,"big_text":"Long""#, "",
        [(kind, kind + #","noticeExpandInfo":{"noticeExpandType":1,"noticeExpandContent":"Long"}"#)]
      ),
      (#""big_text":"Long""#, "", []), (#""mzpns_content_forshort":"Short""#, "", []),
      (#""alert_type":0"#, "", [(alerts, #"{"vibrate":0,"lights":0,"sound":0}"#)]),
      (#""alert_type":1"#, "", [(alerts, #"{"vibrate":0,"lights":0,"sound":1}"#)]),
      (#""alert_type":2"#, "", [(alerts, #"{"vibrate":1,"lights":0,"sound":0}"#)]),
      (
        #""uri_activity":"com.example.A""#, "", [(click, #"{"clickType":1,"activity":"com.example.A","#)]
      ),
      (#""uri_action":"com.example.OPEN""#, "", []),
      (
        #""intent":{"url":"https://a.example"}"#, "",
        [
          (click, #"{"clickType":2,"url":"https://a.example","#),
          (#""\#(Self.id)"}"#, #""\#(Self.id)","intent":"https://a.example"}"#),
        ]
      ),
      (
        #""intent":{"url":"intent:#Intent;component=a/b;end"}"#, "",
        [
          (click, #"{"clickType":2,"url":"intent:#Intent;component=a/b;end","#),
          (#""\#(Self.id)"}"#, #""\#(Self.id)","intent":"intent:#Intent;component=a/b;end"}"#),
        ]
      ),
      (#""extras":{"a":1}"#, "", [(#""\#(Self.id)"}"#, #""\#(Self.id)","extras":"{\"a\":1}"}"#)]),
    ]
    try MakerNotification.expect(plain, cases) { Meizu.content($0) }
    // Where receipts go, if they go anywhere.
    let passed = Meizu.content(try MakerNotification.shown()).body(
      to: MakerNotification.target(passing: MakerNotification.passing), within: .huawei)
    let extra =
      #""callback":"https://p.example/r","callback.param":"\#(Self.id).AAAAAAAAAAAAAAAA","callback.type":3"#
    #expect(
      String(decoding: passed, as: UTF8.self) == plain.dropLast() + #","extra":{\#(extra)}}"#)
    #expect(
      MakerNotification.body(Meizu.content(try MakerNotification.shown(replaces: MessageID(77))))
        == plain.replacing(key, with: #""notifyKey":"25""#))
    #expect(
      MakerNotification.body(Meizu.content(try MakerNotification.shown(alert: long)))
        == plain.replacing("Hi", with: String(long.prefix(99)) + "…"))
    let short = try MakerNotification.shown(#""mzpns_content_forshort":"Short""#, alert: long)
    #expect(MakerNotification.body(Meizu.content(short)) == plain.replacing("Hi", with: "Short"))
    // The longest key has room.
    #expect(String(2_147_483_646, radix: 36).utf8.count <= 8)
  }

  @Test func limits() throws {
    func refusal(_ android: String) throws -> String? {
      Meizu.content(try MakerNotification.shown(android)).refusal
    }
    let long = String(repeating: "x", count: 1001)
    #expect(try refusal(#""uri_activity":"\#(long)""#) == "MessageTooBig")
    #expect(try refusal(#""uri_activity":"\#(long.dropLast())""#) == nil)
    #expect(try refusal(#""intent":{"url":"https://\#(long.prefix(993))"}"#) == "MessageTooBig")
    let content = Meizu.content(try MakerNotification.shown())
    func time(_ seconds: Int64) -> String? {
      let body = content.body(
        to: MakerNotification.target(life: seconds), within: .meizu)
      return String(decoding: body, as: UTF8.self).split(separator: #""pushTimeInfo":"#).last.map {
        String($0)
      }
    }
    // Hours that have not begun do not count, so that nothing is shown after its time.
    #expect(time(3599) == #"{"offLine":0}}"#)
    #expect(time(7199) == #"{"offLine":1,"validTime":1}}"#)
    #expect(time(9_000_000) == #"{"offLine":1,"validTime":72}}"#)
  }

  /// The digest is that of `printf 'appId=1001messageJson=…pushIds=t1,t2s+/=' | md5sum`.
  @Test func `Requests are signed`() throws {
    let credential = try #require(VendorFields(Array(#"{"app_id":"1001","secret":"s+/="}"#.utf8)))
    guard case .granted(let secret, 86_400) = Meizu().authorize(credential, at: Timestamp(milliseconds: 0))
    else {
      Issue.record("somebody is asked")
      return
    }
    let digest = "65ea56f78be31b7e4ee171eb0f282709"
    let content = MakerContent(refusal: nil) { _, _, _ in Array(#"{"a":"界 &"}"#.utf8) }
    guard
      case .post(let post) = Meizu().request(
        content, to: MakerNotification.target(), with: credential,
        access: AccessToken(secret, expiresAt: Timestamp(milliseconds: 0)))
    else {
      Issue.record("no request")
      return
    }
    #expect(
      post.url == "https://server-api-push.meizu.com/garcia/api/server/push/varnished/pushByPushId")
    #expect(post.contentType == "application/x-www-form-urlencoded")
    #expect(
      String(decoding: post.body, as: UTF8.self)
        == "appId=1001&messageJson=%7B%22a%22%3A%22%E7%95%8C%20%26%22%7D&pushIds=t1%2Ct2&sign=" + digest)
  }

  @Test func codes() {
    func code(_ code: String, _ status: Int = 200) -> VendorOutcome {
      Meizu().interpret(
        MakerNotification.answer(status, #"{"code":"\#(code)","message":"m","value":""}"#))
    }
    func text(_ code: String) -> String { "Meizu answered 200 \(code) m" }
    #expect(code("200") == .accepted)
    for busy in ["500", "1001", "1003"] {
      #expect(code(busy) == MakerNotification.later(text(busy), rests: false))
    }
    #expect(code("110010") == MakerNotification.later(text("110010"), rests: true))
    for wrong in ["1006", "110000", "110001", "110009", "110031", "110033"] {
      #expect(code(wrong) == .pauseAndAlertOperator(text(wrong)))
    }
    for used in ["110019", "110051"] { #expect(code(used) == .stopUntilQuotaReset(text(used))) }
    for bad in ["1005", "110004", "110032", "110053"] {
      #expect(code(bad) == .rejectContent(bad) && code(bad, 400) == .rejectContent(bad))
    }
    #expect(code("999999") == MakerNotification.later(text("999999"), rests: true, from: 60))
    #expect(code("200", 503) == MakerNotification.later("Meizu answered 503 200 m", rests: true))
    MakerNotification.expectStatuses(
      of: Meizu(), "Meizu")
    for reason in ["110002", "110003", "1005", "110004", "ID110011", "ID520"] {
      #expect(Meizu().meaning(of: reason) != nil)
    }
    #expect(Meizu().meaning(of: "110010") == nil)
  }

  @Test func `Only the devices that Meizu lists are concerned`() {
    func said(_ body: String) -> [String: VendorOutcome] {
      let tokens = ["a", "b", "c", "d"]
      let answer = Meizu().interpret(
        MakerNotification.answer(200, body), for: tokens.map { Array($0.utf8) })
      return Dictionary(uniqueKeysWithValues: tokens.map { ($0, answer.outcome(for: Array($0.utf8))) })
    }
    func listed(_ code: String) -> VendorOutcome? {
      let all = said(#"{"code":"200","message":"","value":{"\#(code)":["b"]},"msgId":"1"}"#)
      #expect(all["a"] == .accepted && all["c"] == .accepted)
      return all["b"]
    }
    for dead in ["110002", "110003"] { #expect(listed(dead) == .dropToken(dead)) }
    #expect(listed("519") == MakerNotification.later("Meizu answered 519", rests: false))
    #expect(listed("110010") == .notificationsOff)
    for other in ["201", "501", "513", "520", "110005", "110011"] {
      #expect(listed(other) == .rejectContent("ID\(other)"))
    }
    #expect(
      said(#"{"code":200,"value":{"110002":["a"],"110003":["b","c"]}}"#) == [
        "a": .dropToken("110002"), "b": .dropToken("110003"), "c": .dropToken("110003"), "d": .accepted,
      ])
    for nothing in [#""""#, "null", "{}", "[]"] {
      #expect(said(#"{"code":"200","value":\#(nothing)}"#).values.allSatisfy { $0 == .accepted })
    }
    #expect(said(#"{"code":"1003","message":"m"}"#)["a"] != .accepted)
  }
}
