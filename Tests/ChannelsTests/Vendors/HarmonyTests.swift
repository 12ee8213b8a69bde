import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Testing

@testable import Channels

/// HarmonyOS: what a push becomes in requests of Push Kit's version 3, and what its answers mean.
@Suite struct HarmonyTests {
  private static let push = MessageID(403_926_205_595_649)

  private static func object(_ text: String) throws -> JSONObject {
    try #require((try? parseJSON(Array("{\(text)}".utf8)))?.object)
  }

  private func content(
    _ hmos: String, _ wishes: String = "", replaces: MessageID? = nil
  ) throws -> HarmonyContent {
    let shown = AndroidNotification(
      try Self.object(#""alert":"Hi""# + (hmos.isEmpty ? "" : "," + hmos)), try Self.object(wishes),
      app: "Shop", push: Self.push, replaces: replaces)
    return try #require(HarmonyContent(shown))
  }

  private func body(_ content: HarmonyContent, life: Int64 = 3600) -> String {
    let target = VendorTarget(
      tokens: [Array("t1".utf8), Array("t2".utf8)], push: Self.push, badge: nil, secondsToLive: life)
    return String(decoding: content.body(to: target), as: UTF8.self)
  }

  private static let number = 403_926_205_595_649 % 2_147_483_647
  private static let title = #""title":"Shop","body":"Hi","#
  private static let click = #""clickAction":{"actionType":0,"data":{"msg_id":"403926205595649"}},"#
  private static let ids = #""notifyId":\#(number),"appMessageId":"403926205595649""#
  private static let notification =
    #""notification":{"category":"MARKETING","# + title + click + ids + "}"
  private static let end =
    #","target":{"token":["t1","t2"]},"pushOptions":{"biTag":"403926205595649","ttl":3600}}"#

  /// The whole message with nothing but a text, and with one more member each.
  @Test func notifications() throws {
    let plain = #"{"payload":{"# + Self.notification + "}" + Self.end
    let (title, ids) = (Self.title, Self.ids)
    #expect(try body(content("")) == plain)
    let action = #""actionType":0,"#
    let data = #""data":{"msg_id":"403926205595649"}"#
    let bi = #""biTag":"403926205595649","#
    let cases: [(String, String, [(String, String)])] = [
      (#""title":"T""#, "", [(title, #""title":"T","body":"Hi","#)]),
      // Classes: none is marketing, and so is one that Push Kit does not know.
      (#""category":"IM""#, "", [(#""MARKETING""#, #""IM""#)]),
      (#""category":"IM""#, #""classification":1"#, [(#""MARKETING""#, #""IM""#)]),
      (#""category":"IM""#, #""classification":0"#, []), ("", #""classification":1"#, []),
      (#""category":"alarm""#, "", []), (#""category":"PLAY_VOICE""#, "", []),
      (
        #""large_icon":"https://a.example/i.png""#, "",
        [(title, title + #""image":"https://a.example/i.png","#)]
      ),
      (#""large_icon":"a.png""#, "", []),
      (
        #""style":2,"inbox":{"1":"a","2":"b","3":"c","4":"d"}"#, "",
        [(title, title + #""style":3,"inboxContent":["a","b","c"],"#)]
      ),
      (#""inbox":{"1":"a"}"#, "", []),
      (#""intent":{"url":"action.system.home"}"#, "", [(data, Self.intent("action.system.home"))]),
      (
        #""intent":{"url":"shop://item?id=1"}"#, "",
        [
          (action, #""actionType":1,"uri":"shop://item?id=1","#), (data, Self.intent("shop://item?id=1")),
        ]
      ),
      (
        #""intent":{"url":"com.example.OPEN"}"#, "",
        [(action, #""actionType":1,"action":"com.example.OPEN","#), (data, Self.intent("com.example.OPEN"))]
      ),
      (
        #""extras":{"a":[1]}"#, "",
        [(data, #""data":{"msg_id":"403926205595649","extras":{"a":[1]}}"#)]
      ),
      (#""badge_add_num":2"#, "", [(ids, ids + #","badge":{"addNum":2}"#)]),
      (
        #""badge_add_num":2,"badge_set_num":0"#, "", [(ids, ids + #","badge":{"addNum":2,"setNum":0}"#)]
      ),
      (
        #""sound":"a.mp3","sound_duration":5"#, "",
        [(ids, ids + #","sound":"a.mp3","soundDuration":5"#)]
      ),
      (#""sound_duration":5"#, "", []),
      (#""display_foreground":"0""#, "", [(ids, ids + #","foregroundShow":false"#)]),
      (#""display_foreground":"1""#, "", []),
      (#""test_message":true"#, "", [(bi, #""testMessage":true,"# + bi)]),
      (#""receipt_id":"r""#, "", [(bi, bi + #""receiptId":"r","#)]),
    ]
    for (hmos, wishes, changes) in cases {
      var expected = plain
      for (old, new) in changes { expected = expected.replacing(old, with: new, maxReplacements: 1) }
      #expect(try body(content(hmos, wishes)) == expected, "\(hmos) \(wishes)")
    }
    #expect(
      try body(content("", replaces: MessageID(77)))
        == plain.replacing(#""notifyId":\#(Self.number)"#, with: #""notifyId":77"#))
    #expect(try body(content(""), life: 0).hasSuffix(#""ttl":1}}"#))
    #expect(try body(content(""), life: 9_999_999).hasSuffix(#""ttl":1296000}}"#))
    let large = String(repeating: "x", count: 4000)
    #expect(try content(#""extras":{"a":"\#(large)"}"#).refusal == "MessageTooBig")
    #expect(try content("").refusal == nil)
  }

  @Test func `A tag of receipts comes back, and the longest one has room`() throws {
    func body(_ content: HarmonyContent, _ passing: ReceiptPassing, _ tokens: [String] = ["t1", "t2"])
      -> String
    {
      let target = VendorTarget(
        tokens: tokens.map { Array($0.utf8) }, push: Self.push, badge: nil, secondsToLive: 3600,
        passing: passing)
      return String(decoding: content.body(to: target), as: UTF8.self)
    }
    let plain = #"{"payload":{"# + Self.notification + "}" + Self.end
    let longest = ReceiptPassing.longest(Self.push)
    #expect(
      try body(content(""), longest)
        == plain.replacing(#""biTag":"403926205595649""#, with: #""biTag":"\#(longest.tag)""#))
    // A message of 4096 bytes with the longest tag and the longest time to live is taken, a larger one is
    // not.
    let rest =
      try 4096 - "1296000".utf8.count + "3600".utf8.count
      - body(content(#""extras":{"a":""}"#), longest, []).utf8.count
    func refusal(_ length: Int) throws -> String? {
      try content(#""extras":{"a":"\#(String(repeating: "x", count: length))"}"#).refusal
    }
    #expect(try refusal(rest) == nil && refusal(rest + 1) == "MessageTooBig")
  }

  private static func intent(_ url: String) -> String {
    #""data":{"msg_id":"403926205595649","intent":"\#(url)"}"#
  }

  @Test func otherKinds() throws {
    let voice = try content(#""push_type":2,"extra_data":"e","category":"PLAY_VOICE""#)
    #expect(
      body(voice)
        == #"{"payload":{"# + Self.notification.replacing("MARKETING", with: "PLAY_VOICE")
        + #","extraData":"e"}"# + Self.end)
    let call = try content(#""push_type":10,"extra_data":"{\"from\":\"Ann\"}""#)
    #expect(
      body(call, life: 9)
        == #"{"payload":{"extraData":"{\"from\":\"Ann\"}"}"# + Self.end.replacing("3600", with: "30"))
    #expect(body(call).hasSuffix(#""ttl":60}}"#) && call.lifetime == 60)
    let live = try content(#""push_type":7,"hm_payload":{"activityId":1,"operation":1}"#)
    #expect(body(live) == #"{"payload":{"activityId":1,"operation":1}"# + Self.end)
    let card = try content(#""push_type":1,"hm_payload":{"formId":1}"#)
    #expect(body(card) == #"{"payload":{"formId":1}"# + Self.end)
    #expect([voice, call, live, card].map(\.kind) == [.extension, .call, .liveView, .card])
    #expect([voice, call, live, card].map(\.mostTokens) == [1000, 1000, 1000, 1])
    #expect(try content(#""test_message":true"#).mostTokens == 10)
    #expect(voice.lifetime == nil)
  }

  @Test func requests() throws {
    let account = try HarmonyAccount(file: Self.file(try RSAKey.generate()), client: "1001")
    let access = AccessToken("tok", expiresAt: Timestamp(milliseconds: 0))
    let target = VendorTarget(token: Array("t".utf8), push: Self.push, secondsToLive: 60)
    guard
      case .post(let post) = Harmony().request(
        try content(#""push_type":10,"extra_data":"e""#), to: target, with: account, access: access)
    else {
      Issue.record("no request")
      return
    }
    #expect(post.url == "https://push-api.cloud.huawei.com/v3/77/messages:send")
    #expect(post.fields == ["Authorization: Bearer tok", "push-type: 10"])
    func recall(_ hmos: String, _ account: HarmonyAccount, overrides: MessageID? = nil) -> OutgoingRequest? {
      let variant = ContentVariant(platforms: PlatformSet(.hmos), notification: Array("{\(hmos)}".utf8))
      let recall = VendorRecall(
        push: Self.push, content: PushContent(variants: [variant], overrides: overrides),
        tokens: [Array("t".utf8)])
      return Harmony().request(recall, with: account, access: access)
    }
    let one = try #require(recall(#""alert":"x""#, account))
    #expect(one.url == "https://push-api.cloud.huawei.com/v1/1001/messages:revoke")
    #expect(one.fields == ["Authorization: Bearer tok", "push-type: 0"])
    #expect(String(decoding: one.body, as: UTF8.self) == #"{"notifyId":\#(Self.number),"token":["t"]}"#)
    let replaced = try #require(recall(#""alert":"x","push_type":2"#, account, overrides: MessageID(77)))
    #expect(replaced.fields.last == "push-type: 2")
    #expect(String(decoding: replaced.body, as: UTF8.self) == #"{"notifyId":77,"token":["t"]}"#)
    for type in [1, 7, 10] { #expect(recall(#""alert":"x","push_type":\#(type)"#, account) == nil) }
    let nameless = try HarmonyAccount(file: Self.file(try RSAKey.generate()), client: "")
    #expect(recall(#""alert":"x""#, nameless) == nil)
  }

  // MARK: Credentials

  static func file(_ key: RSAKey, _ changes: [String: String?] = [:]) throws -> [UInt8] {
    var object = JSONObject()
    for (name, value) in [
      ("project_id", "77"), ("key_id", "0123456789abcdef"), ("private_key", try key.pem()),
      ("sub_account", "100200"), ("token_uri", "https://attacker.example/token"),
    ] {
      if let value = changes[name] ?? value { object.set(name, .string(value)) }
    }
    return JSONWriter.serialize(.object(object))
  }

  @Test func tokensAreSigned() throws {
    let key = try RSAKey.generate()
    let account = try HarmonyAccount(file: Self.file(key), client: "")
    let now = Timestamp(milliseconds: 1_800_000_000_999)
    guard case .granted(let token, 3600) = Harmony().authorize(account, at: now) else {
      Issue.record("no token")
      return
    }
    let parts = token.split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let decoded = try parts.map { try #require(Base64.decodeURL($0.utf8)) }
    #expect(
      String(decoding: decoded[0], as: UTF8.self) == #"{"kid":"0123456789abcdef","typ":"JWT","alg":"PS256"}"#)
    #expect(
      String(decoding: decoded[1], as: UTF8.self)
        == #"{"iss":"100200","aud":"https://oauth-login.cloud.huawei.com/oauth2/v3/token","iat":1800000000,"exp":1800003600}"#
    )
    #expect(
      key.publicKey.isValid(signature: decoded[2], of: Array("\(parts[0]).\(parts[1])".utf8), .ps256))
  }

  @Test func credentials() throws {
    let key = try RSAKey.generate()
    func read(_ changes: [String: String?], client: String? = nil) throws -> VendorUpload {
      var fields = ["file": try Self.file(key, changes)]
      if let client { fields["client_id"] = Array(client.utf8) }
      return try Harmony().read(CredentialInput("harmony", fields: fields), replacing: nil)
    }
    let upload = try read([:], client: "1001")
    #expect(upload.subject == "77" && upload.name == "0123456789abcdef")
    #expect(Harmony().credential(upload.secret)?.client == "1001")
    #expect(Harmony().credential(try read([:]).secret)?.client == "")
    func field(_ changes: [String: String?], client: String? = nil) throws -> String? {
      do {
        _ = try read(changes, client: client)
        return nil
      } catch let problem as CredentialProblem { return problem.field }
    }
    for name in ["project_id", "key_id", "private_key", "sub_account"] {
      #expect(try field([name: String?.none]) == "file", "\(name)")
      #expect(try field([name: "a b"]) == "file", "\(name)")
    }
    #expect(try field(["project_id": "7/../8"]) == "file" && field([:]) == nil)
    #expect(try field([:], client: "a/b") == "client_id")
    #expect(throws: HarmonyAccount.Problem.notAccount) { try HarmonyAccount(file: [], client: "") }
    #expect(throws: HarmonyAccount.Problem.notAccount) {
      try HarmonyAccount(file: Array(repeating: 32, count: 20_000), client: "")
    }
  }

  @Test func `The key of receipts is sealed with the account, and changes no address`() throws {
    let file = try Self.file(try RSAKey.generate())
    func read(_ user: String, _ secret: String) throws -> VendorUpload {
      let fields = [
        "file": file, "client_id": Array("1001".utf8), "receipt_user": Array(user.utf8),
        "receipt_secret": Array(secret.utf8),
      ]
      return try Harmony().read(CredentialInput("harmony", fields: fields), replacing: nil)
    }
    func key(_ upload: VendorUpload) throws -> ReceiptKey? {
      Harmony().receiptKey(of: try #require(Harmony().credential(upload.secret)))
    }
    let (with, without) = (try read("borealis", "c2VjcmV0"), try read("", ""))
    #expect(try key(with) == ReceiptKey(user: "borealis", secret: "c2VjcmV0"))
    // What was sealed before receipts were known has no key.
    #expect(try key(without) == nil)
    #expect(!String(decoding: without.secret, as: UTF8.self).contains("receipt"))
    func marks(_ upload: VendorUpload) -> ReceiptMarks {
      ReceiptMarks(secret: upload.secret, of: AppID(7), on: .harmony)
    }
    #expect(marks(with) == marks(without))
    for (user, secret, field) in [("borealis", "", "receipt_secret"), ("", "c2VjcmV0", "receipt_user")] {
      do {
        _ = try read(user, secret)
        Issue.record("one of the two was taken alone")
      } catch let problem as CredentialProblem {
        #expect(problem.field == field)
      }
    }
  }

  // MARK: Answers

  private static func answer(_ status: Int, _ code: String, _ text: String = "m") -> HTTPAnswer {
    let text = text.replacing("\"", with: "\\\"")
    return HTTPAnswer(
      status: status, body: Array(#"{"code":"\#(code)","msg":"\#(text)","requestId":"r"}"#.utf8))
  }

  @Test func codes() {
    func code(_ code: String, _ status: Int = 200) -> VendorOutcome {
      Harmony().interpret(Self.answer(status, code))
    }
    func text(_ code: String, _ status: Int = 200) -> String { "Push Kit answered \(status) \(code) m" }
    #expect(code("80000000") == .accepted && code("80100000") == .accepted)
    for bad in [
      "80100001", "80100002", "80100003", "80100004", "80100013", "80100016", "80100020", "80100022",
      "80300007", "80300008", "80300010", "80300017", "80300028", "80300029", "80300030", "80300032",
    ] { #expect(code(bad, 400) == .rejectContent(bad)) }
    #expect(
      Harmony().refusedAgain(text("80200003", 401))
        == .wrongClock("Push Kit answered 401 80200003 m"))
    #expect(
      Harmony().refusedAgain(text("80200001", 401))
        == .pauseAndAlertOperator("Push Kit answered 401 80200001 m"))
    for old in ["80200001", "80200003", "80200005"] {
      #expect(code(old, 401) == .refreshAuthOnce(text(old, 401)))
    }
    for wrong in ["80300002", "80300036", "80300037"] {
      #expect(code(wrong, 400) == .pauseAndAlertOperator(text(wrong, 400)))
    }
    for busy in ["80000001", "81000001"] {
      #expect(
        code(busy, 500)
          == .retryAfter(RetrySchedule(firstSeconds: 10), seconds: nil, rests: false, text(busy, 500)))
    }
    let statuses: [(Int, VendorOutcome)] = [
      (
        401,
        .retryAfter(RetrySchedule(firstSeconds: 60), seconds: nil, rests: true, "Push Kit answered 401")
      ),
      (
        404,
        .retryAfter(RetrySchedule(firstSeconds: 60), seconds: nil, rests: true, "Push Kit answered 404")
      ),
      (
        503,
        .retryAfter(RetrySchedule(firstSeconds: 10), seconds: nil, rests: true, "Push Kit answered 503")
      ),
    ]
    for (status, outcome) in statuses {
      #expect(Harmony().interpret(HTTPAnswer(status: status, body: Array("<html>".utf8))) == outcome)
    }
  }

  /// Each reason means something else for the token.
  @Test func reasons() {
    let tokens = ["a", "b", "c"].map { Array($0.utf8) }
    func said(_ reason: String, _ code: String = "80100000") -> VendorAnswer {
      let text = #"{"success":2,"failure":1,"illegalTokens":{"\#(reason)":["b"]}}"#
      return Harmony().interpret(Self.answer(200, code, text), for: tokens)
    }
    let reasons: [(String, VendorOutcome)] = [
      ("tokenFormatError", .dropToken("tokenFormatError")),
      ("tokenPlatformNotSupport", .dropToken("tokenPlatformNotSupport")),
      ("noRight", .dropForeignToken("noRight")),
      ("noPushTypeRight", .rejectContent("noPushTypeRight")),
      (
        "noRightToSendThisLiveNotificationEvent",
        .rejectContent("noRightToSendThisLiveNotificationEvent")
      ),
      // What is said of one token does not stop the others.
      ("appinfoError", .rejectContent("appinfoError")),
      ("countryNotSupport", .rejectContent("countryNotSupport")),
      ("disableSendHuaweiMsgBecauseOfPenalty", .rejectContent("disableSendHuaweiMsgBecauseOfPenalty")),
      ("atomicUnableSendUnsubscribedMsg", .rejectContent("atomicUnableSendUnsubscribedMsg")),
      ("differentImgVerifyPolicy", .rejectContent("differentImgVerifyPolicy")),
      ("notSupportPlayVoice", .rejectContent("notSupportPlayVoice")),
    ]
    for (reason, outcome) in reasons {
      let partly = said(reason)
      #expect(partly.outcome(for: tokens[1]) == outcome && partly.outcome(for: tokens[0]) == .accepted)
      let none = said(reason, "80300007")
      #expect(none.outcome(for: tokens[1]) == outcome)
      // One that is not named keeps its token.
      #expect(none.outcome(for: tokens[0]) == .rejectContent("80300007"))
    }
    let foreign = Self.answer(400, "80300028")
    #expect(Harmony().interpret(foreign, for: tokens) == VendorAnswer(.dropForeignToken("80300028")))
    let either = Self.answer(400, "80300002")
    #expect(Harmony().interpret(either, for: tokens) == VendorAnswer(.dropForeignToken("80300002")))
    #expect(
      Harmony().interpret(Self.answer(200, "80100000", "no JSON"), for: tokens) == VendorAnswer(.accepted))
    for reason in [
      "tokenFormatError", "noRight", "80300028", "tokenPlatformNotSupport", "noPushTypeRight",
      "noRightToSendThisLiveNotificationEvent", "80300029", "80300030",
    ] { #expect(Harmony().meaning(of: reason) != nil) }
    #expect(Harmony().meaning(of: "x") == nil)
  }

  @Test func recallsEnd() {
    for code in ["80000000", "80300032", "80100001", "80300007"] {
      #expect(PushKitAnswer(Self.answer(200, code)).endsRecall, "\(code)")
    }
    for (status, code) in [(401, "80200003"), (503, ""), (500, "81000001"), (200, "80200001")] {
      #expect(!PushKitAnswer(Self.answer(status, code)).endsRecall, "\(code)")
    }
  }
}
