import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting
import Testing

@testable import Channels

/// What vivo is told, and what its answers mean.
@Suite struct VivoTests {
  private static let id = "403926205595649"
  private let access = AccessToken("tok", expiresAt: Timestamp(milliseconds: 0))

  private func credential(app: Int = 1001) throws -> VendorFields {
    try #require(VendorFields(Array(#"{"app_id":"\#(app)","app_key":"k","secret":"s+/="}"#.utf8)))
  }

  private func message(_ shown: AndroidNotification, life: Int64 = 3600) -> String {
    AndroidNotification.text(.object(VivoContent(shown).message(secondsToLive: life)))
  }

  @Test func `The whole message, and with one thing more each`() throws {
    let type = #""notifyType":4"#
    let skip = #""skipType":1"#
    let notify = #""notifyId":\#(MakerNotification.notifyID)"#
    let kind = #""classification":0"#
    let plain =
      #"{"title":"Shop","content":"Hi",\#(type),\#(skip),"clientCustomMap":{"msg_id":"\#(Self.id)"},"#
      + #"\#(kind),\#(notify),"timeToLive":3600}"#
    func service(_ category: String) -> [(String, String)] {
      [(kind, #""classification":1,"category":"\#(category)""#)]
    }
    let custom = #""\#(Self.id)"}"#
    let wide = String(repeating: "界", count: 60)
    let cases: [(String, String, [(String, String)])] = [
      ("", "", []), (#""title":"T""#, "", [("Shop", "T")]),
      // A Chinese character is as wide as two of Latin, and so is the mark of what is cut.
      (#""title":"\#(wide)""#, "", [("Shop", String(wide.prefix(19)) + "…")]),
      (
        #""title":"\#(String(repeating: "x", count: 41))""#, "",
        [("Shop", String(repeating: "x", count: 38) + "…")]
      ),
      (
        #""title":"\#(String(repeating: "x", count: 40))""#, "", [("Shop", String(repeating: "x", count: 40))]
      ),
      (#""alert_type":0"#, "", [(type, #""notifyType":1"#)]),
      (#""alert_type":1"#, "", [(type, #""notifyType":2"#)]),
      (#""alert_type":6"#, "", [(type, #""notifyType":3"#)]),
      // Classes: none is marketing, and the push's classification has the last word.
      ("", #""category":"IM""#, service("IM")), (#""category":"ORDER""#, "", service("ORDER")),
      (#""category":"alarm""#, "", []), ("", #""category":"NEWS""#, [(kind, kind + #","category":"NEWS""#)]),
      ("", #""classification":1"#, [(kind, #""classification":1"#)]),
      ("", #""classification":1,"category":"TODO""#, service("TODO")),
      ("", #""classification":1,"category":"NEWS""#, [(kind, #""classification":1"#)]),
      ("", #""classification":0,"category":"IM""#, []),
      ("", #""add_badge":true"#, [(notify, notify + #","addBadge":true"#)]), ("", #""add_badge":false"#, []),
      ("", #""push_mode":1"#, [(notify, notify + #","pushMode":1"#)]),
      (#""display_foreground":"0""#, "", [(notify, notify + #","foregroundShow":false"#)]),
      (#""uri_action":"com.example.OPEN""#, "", []), (#""vpns_content_forshort":"Short""#, "", []),
      (
        #""intent":{"url":"https://a.example"}"#, "",
        [
          (skip, #""skipType":2,"skipContent":"https://a.example""#),
          (custom, #""\#(Self.id)","intent":"https://a.example"}"#),
        ]
      ),
      (
        #""intent":{"url":"intent:#Intent;component=a/b;end"}"#, "",
        [
          (skip, #""skipType":4,"skipContent":"intent:#Intent;component=a/b;end""#),
          (custom, #""\#(Self.id)","intent":"intent:#Intent;component=a/b;end"}"#),
        ]
      ),
      (#""extras":{"a":1}"#, "", [(custom, #""\#(Self.id)","extras":"{\"a\":1}"}"#)]),
    ]
    for (android, wishes, changes) in cases {
      var expected = plain
      for (old, new) in changes {
        #expect(expected.contains(old), "\(old)")
        expected = expected.replacing(old, with: new, maxReplacements: 1)
      }
      #expect(try message(MakerNotification.shown(android, wishes)) == expected, "\(android) \(wishes)")
    }
    let replaced = try message(MakerNotification.shown(replaces: MessageID(77)))
    #expect(replaced == plain.replacing(notify, with: #""notifyId":77"#))
    let alert = try message(MakerNotification.shown(#""vpns_content_forshort":"Short""#, alert: wide))
    #expect(alert == plain.replacing("Hi", with: "Short"))
    #expect(
      try message(MakerNotification.shown(alert: wide))
        == plain.replacing("Hi", with: String(wide.prefix(49)) + "…"))
  }

  @Test func limits() throws {
    func refusal(_ android: String) throws -> String? {
      VivoContent(try MakerNotification.shown(android)).refusal
    }
    let long = String(repeating: "x", count: 2000)
    #expect(try refusal(#""extras":{"a":"\#(long.prefix(1000))"}"#) == "MessageTooBig")
    #expect(try refusal(#""extras":{"a":"\#(long.prefix(900))"}"#) == nil)
    #expect(try refusal(#""intent":{"url":"https://\#(long.prefix(993))"}"#) == "MessageTooBig")
    let shown = try MakerNotification.shown()
    // What vivo would keep for a minute is not kept at all if it is good for less.
    #expect(message(shown, life: 59).hasSuffix(#""timeToLive":60,"sendOnline":true}"#))
    #expect(message(shown, life: 60).hasSuffix(#""timeToLive":60}"#))
    #expect(message(shown, life: 9_000_000).hasSuffix(#""timeToLive":604800}"#))
  }

  @Test func `One device has a request of its own`() throws {
    let content = VivoContent(try MakerNotification.shown())
    func send(_ token: String, _ passing: ReceiptPassing? = nil) throws -> JSONValue {
      guard
        case .post(let post) = Vivo().request(
          content, to: MakerNotification.target([token], passing: passing), with: try credential(),
          access: access)
      else { throw Unexpected() }
      #expect(post.url == "https://api-push.vivo.com.cn/message/send")
      #expect(post.fields == ["authToken: tok"])
      return try parseJSON(post.body)
    }
    let (first, again, other) = (try send("a"), try send("a"), try send("b"))
    #expect(first["appId"] == 1001 && first["regId"] == "a" && first["title"] == "Shop")
    // The same request has the same ID when it is tried again; that for another device has not.
    #expect(first["requestId"]?.string?.hasPrefix("\(Self.id)-") == true)
    #expect(first == again && first["requestId"] != other["requestId"])
    #expect(first["requestId"]?.string.map { $0.utf8.count <= 64 } == true)
    // Where receipts go is told if somebody has said it.
    #expect(first["extra"] == nil)
    let passing = MakerNotification.passing
    #expect(
      try send("a", passing)["extra"]
        == ["callback": "https://p.example/r", "callback.param": .string(passing.tag)])
    #expect(try send("a", ReceiptPassing(tag: passing.tag))["extra"] == nil)
  }

  @Test func `Several devices get a list, which vivo has first`() throws {
    let content = VivoContent(try MakerNotification.shown())
    func request(_ app: Int) throws -> VendorRequest {
      Vivo().request(
        content, to: MakerNotification.target(["a", "b"], passing: MakerNotification.passing),
        with: try credential(app: app), access: access)
    }
    guard case .first(let save) = try request(1001) else { throw Unexpected() }
    #expect(save.url == "https://api-push.vivo.com.cn/message/saveListPayload")
    let saved = try parseJSON(save.body)
    #expect(saved["title"] == "Shop" && saved["regId"] == nil && saved["appId"] == 1001)
    #expect(saved["extra"] == nil)
    func prepared(_ body: String, _ status: Int = 200) throws -> VendorOutcome {
      Vivo().prepared(MakerNotification.answer(status, body), content, with: try credential())
    }
    #expect(
      try prepared(#"{"result":10070,"desc":"m"}"#) == .stopUntilQuotaReset("vivo answered 200 10070 m"))
    #expect(
      try prepared(#"{"result":10252,"desc":"m"}"#)
        == .sendSinglyUntilQuotaReset("vivo answered 200 10252 m"))
    #expect(
      try prepared(#"{"result":0}"#)
        == MakerNotification.later("vivo's answer has no number of a list", rests: true))
    guard case .first(let second) = try request(1001) else { throw Unexpected() }
    #expect(try parseJSON(second.body)["requestId"] != saved["requestId"])
    #expect(try prepared(#"{"result":0,"taskId":"77"}"#) == .accepted)
    guard case .post(let list) = try request(1001) else { throw Unexpected() }
    #expect(list.url == "https://api-push.vivo.com.cn/message/pushToList")
    let body = try parseJSON(list.body)
    #expect(body["taskId"] == "77" && body["regIds"] == ["a", "b"] && body["appId"] == 1001)
    #expect(body["title"] == nil && body["extra"] == nil)
    // Another app ID has no list yet.
    guard case .first = try request(1002) else { throw Unexpected() }
  }

  /// vivo keeps a list for what the push had left when it was made: later devices need another one.
  @Test func `A list that would outlive the push is made anew, and one that vivo has forgotten`() throws {
    let content = VivoContent(try MakerNotification.shown())
    func isPrepared(_ life: Int64) throws -> Bool {
      let target = MakerNotification.target(["a", "b"], life: life)
      let request = Vivo().request(content, to: target, with: try credential(), access: access)
      if case .post = request { return true } else { return false }
    }
    func prepare() throws {
      let answer = MakerNotification.answer(200, #"{"result":0,"taskId":"77"}"#)
      #expect(Vivo().prepared(answer, content, with: try credential()) == .accepted)
    }
    #expect(try !isPrepared(3600))
    try prepare()
    #expect(try isPrepared(3590))
    #expect(try !isPrepared(3500))
    try prepare()
    #expect(try isPrepared(3500))
    content.forgetPreparation()
    #expect(try !isPrepared(3500))
  }

  private struct Unexpected: Error {}

  /// The digest is that of `printf '1001k1500s+/=' | md5sum`.
  @Test func `A signature of the time gets a token of access`() throws {
    guard case .ask(let post) = Vivo().authorize(try credential(), at: Timestamp(milliseconds: 1500)) else {
      throw Unexpected()
    }
    #expect(post.url == "https://api-push.vivo.com.cn/message/auth")
    let digest = "56de833448ed8e8a0095bb8c3da3feda"
    #expect(
      String(decoding: post.body, as: UTF8.self)
        == #"{"appId":1001,"appKey":"k","timestamp":1500,"sign":"\#(digest)"}"#)
  }

  @Test func tokensOfAccess() {
    func read(_ body: String, _ status: Int = 200) -> AccessAnswer {
      Vivo().readToken(MakerNotification.answer(status, body))
    }
    #expect(read(#"{"result":0,"desc":"","authToken":"x"}"#) == .token("x", seconds: 7200))
    #expect(read(#"{"result":"0","authToken":"x"}"#) == .token("x", seconds: 7200))
    #expect(
      read(#"{"result":0,"authToken":"a\nb"}"#)
        == .later("vivo's answer has no token of access", seconds: nil))
    for code in [10_000, 10_094, 10_200, 10_201, 10_202, 10_206, 10_054] {
      #expect(
        read(#"{"result":\#(code),"desc":"m"}"#)
          == .refused("vivo refused the credential: vivo answered 200 \(code) m"))
    }
    for code in [10_093, 10_250] {
      #expect(
        read(#"{"result":\#(code),"desc":"m"}"#) == .later("vivo answered 200 \(code) m", seconds: nil))
    }
    #expect(read("", 500) == .later("vivo answered 500", seconds: nil))
  }

  @Test func codes() {
    func code(_ code: Int, _ status: Int = 200) -> VendorOutcome {
      Vivo().interpret(MakerNotification.answer(status, #"{"result":\#(code),"desc":"m"}"#))
    }
    func text(_ code: Int) -> String { "vivo answered 200 \(code) m" }
    #expect(code(0) == .accepted && code(10_303) == .accepted)
    #expect(code(10_000) == .refreshAuthOnce(text(10_000)))
    #expect(code(10_070) == .stopUntilQuotaReset(text(10_070)))
    #expect(code(10_252) == .sendSinglyUntilQuotaReset(text(10_252)))
    #expect(code(10_071) == MakerNotification.later(text(10_071), rests: false, from: 600))
    #expect(code(10_072) == MakerNotification.later(text(10_072), 1, rests: true))
    for often in [10_093, 10_250] {
      #expect(code(often) == MakerNotification.later(text(often), rests: true))
    }
    #expect(
      code(10_207)
        == MakerNotification.later(text(10_207) + ": is the server's clock right?", rests: true))
    for wrong in [10_094, 10_200, 10_201, 10_202, 10_203, 10_204, 10_205, 10_206] {
      #expect(code(wrong) == .pauseAndAlertOperator(text(wrong)))
    }
    #expect(code(10_302) == .dropToken("10302"))
    #expect(code(10_256) == .prepareAgain(text(10_256)))
    // 10254 is about messages to all, which are never asked for.
    let bad =
      [10_045, 10_073, 10_254] + Array(10_054...10_069) + Array(10_089...10_092) + [10_150, 10_151]
    for bad in bad {
      #expect(code(bad) == .rejectContent(String(bad)) && code(bad, 400) == .rejectContent(String(bad)))
    }
    #expect(code(99_999) == MakerNotification.later(text(99_999), rests: true, from: 60))
    #expect(code(0, 503) == MakerNotification.later("vivo answered 503 0 m", rests: true))
    MakerNotification.expectStatuses(
      of: Vivo(), "vivo")
    for reason in [
      "10302", "InvalidUser1", "InvalidUser2", "InvalidUser3", "InvalidUser4", "10045", "10073", "10054",
    ] { #expect(Vivo().meaning(of: reason) != nil) }
    #expect(Vivo().meaning(of: "1") == nil)
  }

  @Test func `Only the devices that vivo names are concerned`() {
    func said(_ body: String, _ tokens: [String]) -> [VendorOutcome] {
      let tokens = tokens.map { Array($0.utf8) }
      let answer = Vivo().interpret(MakerNotification.answer(200, body), for: tokens)
      return tokens.map { answer.outcome(for: $0) }
    }
    let users =
      #"[{"userid":"b","status":1},{"userid":"c","status":"2"},{"userid":"d","status":3},{"userid":"e","status":4}]"#
    #expect(
      said(#"{"result":0,"desc":"","invalidUsers":\#(users)}"#, ["a", "b", "c", "d", "e"]) == [
        .accepted, .dropToken("InvalidUser1"), .rejectContent("InvalidUser2"),
        .rejectContent("InvalidUser3"), .rejectContent("InvalidUser4"),
      ])
    #expect(
      said(#"{"result":0,"taskId":"1","invalidUser":{"userid":"a","status":1}}"#, ["a"])
        == [.dropToken("InvalidUser1")])
    #expect(said(#"{"result":10302}"#, ["a"]) == [.dropToken("10302")])
    // Of which device it speaks is not known.
    #expect(said(#"{"result":10302}"#, ["a", "b"]) == [.rejectContent("10302"), .rejectContent("10302")])
  }

  @Test func `The app ID is a number`() {
    func read(_ app: String) -> String? {
      do throws(CredentialProblem) {
        let fields = ["app_id": app, "app_key": "k", "secret": "s"]
        return try Vivo().read(
          CredentialInput("vivo", fields: fields.mapValues { Array($0.utf8) }), replacing: nil
        ).subject
      } catch {
        return error.field.map { "!" + $0 }
      }
    }
    #expect(read("1001") == "1001" && read("x") == "!app_id" && read("../1") == "!app_id")
  }

  /// A character of several code points is as wide as all of its UTF-16 units.
  @Test(arguments: [
    ("a", 1), ("\r\n", 2), ("é", 2), ("e\u{301}", 3), ("界", 2), ("😀", 4), ("👨\u{200D}👩\u{200D}👧", 16),
  ])
  func halfWidth(text: String, width: Int) {
    #expect(text.reduce(0) { $0 + VendorText.halfWidth($1) } == width)
  }
}
