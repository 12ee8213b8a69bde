import BorealisBase
import HTTP
import Model
import Testing

@testable import Channels

/// What answers of makers' services mean.
@Suite struct MakerAnswerTests {
  private static func answer(_ status: Int, _ body: String, retryAfter: Int64? = nil) -> HTTPAnswer {
    MakerNotification.answer(status, body, retryAfter: retryAfter)
  }

  private static func later(_ text: String, _ seconds: Int64? = nil, rests: Bool, from first: Int64 = 10)
    -> VendorOutcome
  { MakerNotification.later(text, seconds, rests: rests, from: first) }

  @Test func huaweiCodes() {
    func code(_ code: String, _ status: Int = 200) -> VendorOutcome {
      Huawei().interpret(Self.answer(status, #"{"code":"\#(code)","msg":"m","requestId":"r"}"#))
    }
    #expect(code("80000000") == .accepted)
    for (bad, status) in [
      ("80100001", 400), ("80100002", 400), ("80100003", 400), ("80100004", 400), ("80100013", 400),
      ("80100016", 400), ("80300008", 400), ("80300010", 400), ("82000001", 400), ("80100001", 200),
    ] {
      #expect(code(bad, status) == .rejectContent(bad))
    }
    #expect(code("80200001", 401) == .refreshAuthOnce("Huawei answered 401 80200001 m"))
    #expect(code("80200003") == .refreshAuthOnce("Huawei answered 200 80200003 m"))
    #expect(code("80300002", 400) == .pauseAndAlertOperator("Huawei answered 400 80300002 m"))
    #expect(code("80300037") == .pauseAndAlertOperator("Huawei answered 200 80300037 m"))
    #expect(code("80300007") == .dropToken("80300007"))
    #expect(code("81000001", 500) == Self.later("Huawei answered 500 81000001 m", rests: false))
    MakerNotification.expectStatuses(
      of: Huawei(), "Huawei")
  }

  /// The app may not send, or one token is another app's: smaller requests show which.
  @Test(arguments: [1, 2]) func `Codes that a token of another app may cause do not blame the app`(count: Int)
  {
    let tokens = ["a", "b"].prefix(count).map { Array($0.utf8) }
    let app = Self.answer(400, #"{"code":"80300002","msg":"m"}"#)
    let foreign = VendorAnswer(.dropForeignToken("80300002"))
    #expect(Huawei().interpret(app, for: tokens) == foreign && Honor().interpret(app, for: tokens) == foreign)
    let xiaomi = Self.answer(200, #"{"result":"error","code":22000,"reason":"r"}"#)
    #expect(Xiaomi().interpret(xiaomi, for: tokens) == VendorAnswer(.dropForeignToken("22000")))
    #expect(Huawei().meaning(of: "80300002") != nil && Honor().meaning(of: "80300002") != nil)
    #expect(Harmony().meaning(of: "80300002") != nil && Xiaomi().meaning(of: "22000") != nil)
    #expect(
      WebPush().refusedAgain("x") == .dropForeignToken("KeyRefused")
        && WebPush().meaning(of: "KeyRefused") != nil)
    #expect(FCM().refusedAgain("x") == .pauseAndAlertOperator("x"))
  }

  @Test func huaweiPartly() {
    let tokens = ["a", "b", "c"].map { Array($0.utf8) }
    func partly(_ message: String, _ code: String = "80100000") -> VendorAnswer {
      let text = message.replacing("\"", with: "\\\"")
      return Huawei().interpret(Self.answer(200, #"{"code":"\#(code)","msg":"\#(text)"}"#), for: tokens)
    }
    let bad = [Array("b".utf8): VendorOutcome.dropToken("80100000")]
    let list = partly(#"{"success":2,"failure":1,"illegal_tokens":["b"]}"#)
    #expect(list == VendorAnswer(.accepted, exceptions: bad))
    #expect(list.outcome(for: tokens[0]) == .accepted)
    #expect(partly(#"{"success":2,"failure":1,"illegal_tokens":{"format":["b"]}}"#) == list)
    #expect(partly("no JSON") == VendorAnswer(.accepted))
    #expect(partly(#"{"illegal_tokens":["b"]}"#, "80300007") == VendorAnswer(.dropToken("80300007")))
  }

  @Test func honorCodes() {
    func code(_ code: String, _ status: Int = 200) -> VendorOutcome {
      Honor().interpret(Self.answer(status, #"{"code":\#(code),"message":"m"}"#))
    }
    #expect(code("200") == .accepted && code("80000000") == .accepted)
    #expect(code("401") == .refreshAuthOnce("Honor answered 200 401 m"))
    #expect(code("80200001") == .refreshAuthOnce("Honor answered 200 80200001 m"))
    #expect(code("80200003", 401) == .refreshAuthOnce("Honor answered 401 80200003 m"))
    #expect(code("403") == .pauseAndAlertOperator("Honor answered 200 403 m"))
    #expect(code("404", 404) == .pauseAndAlertOperator("Honor answered 404 404 m"))
    #expect(code("80300002") == .pauseAndAlertOperator("Honor answered 200 80300002 m"))
    #expect(code("80300007") == .dropToken("ExpiredToken"))
    #expect(code("80100003", 400) == .rejectContent("80100003"))
    #expect(code("80300008", 400) == .rejectContent("80300008"))
    #expect(
      code("400", 400) == .rejectContent("Status400") && code("413", 413) == .rejectContent("Status413"))
    #expect(code("429", 429) == Self.later("Honor answered 429 429 m", rests: true))
    #expect(code("503") == Self.later("Honor answered 200 503 m", rests: true))
    #expect(code("500", 500) == Self.later("Honor answered 500 500 m", rests: false))
    for unknown in ["0", "81000001", "80600003", "299"] {
      #expect(code(unknown) == Self.later("Honor answered 200 \(unknown) m", rests: true, from: 60))
    }
    #expect(
      Honor().interpret(Self.answer(200, #"{"message":"m"}"#))
        == Self.later("Honor answered 200 m", rests: true, from: 60))
    #expect(
      Honor().interpret(Self.answer(200, "<html>"))
        == Self.later("Honor answered 200", rests: true, from: 60))
  }

  @Test func honorSends() {
    func sent(_ code: Int, _ result: String) -> VendorAnswer {
      Honor().interpret(
        Self.answer(
          200, #"{"code":\#(code),"message":"m","data":{"sendResult":\#(result),"expireTokens":["b"]}}"#),
        for: ["a", "b"].map { Array($0.utf8) })
    }
    let gone: [[UInt8]: VendorOutcome] = [Array("b".utf8): .dropToken("ExpiredToken")]
    #expect(sent(200, "true") == VendorAnswer(.accepted, exceptions: gone))
    #expect(sent(0, "true") == VendorAnswer(.accepted, exceptions: gone))
    #expect(
      sent(200, "false")
        == VendorAnswer(Self.later("Honor answered 200 200 m", rests: false, from: 60), exceptions: gone))
    #expect(sent(0, "false") == VendorAnswer(Self.later("Honor answered 200 0 m", rests: true, from: 60)))
  }

  @Test func honorPartly() {
    let answer = Self.answer(
      200,
      #"{"code":200,"data":{"sendResult":true,"requestId":"r","failTokens":["a"],"expireTokens":["b"]}}"#
    )
    let said = Honor().interpret(answer, for: ["a", "b", "c"].map { Array($0.utf8) })
    #expect(said.outcome == .accepted)
    #expect(
      said.outcome(for: Array("a".utf8))
        == Self.later("Honor could not send to the token", rests: false, from: 60))
    #expect(said.outcome(for: Array("b".utf8)) == .dropToken("ExpiredToken"))
    #expect(said.outcome(for: Array("c".utf8)) == .accepted)
  }

  @Test func xiaomi() {
    func code(_ code: String, _ status: Int = 200) -> VendorOutcome {
      Xiaomi().interpret(
        Self.answer(status, #"{"result":"error","code":\#(code),"description":"d","reason":"r"}"#))
    }
    func text(_ code: String, _ status: Int = 200) -> String { "Xiaomi answered \(status) \(code) r" }
    #expect(code("0") == .accepted)
    for bad in ["10008", "10012", "10016", "10017", "10018"] {
      #expect(code(bad) == .rejectContent(bad) && code(bad, 400) == .rejectContent(bad))
    }
    for wrong in [
      "10005", "10014", "10026", "10031", "10036", "21301", "21302", "21305", "22000", "22004", "22008",
      "22022",
    ] { #expect(code(wrong) == .pauseAndAlertOperator(text(wrong))) }
    for dead in ["20301", "66108"] { #expect(code(dead) == .dropToken(dead)) }
    for busy in ["1", "-1", "10001", "10002", "10003", "20607", "26003", "65029"] {
      #expect(code(busy) == Self.later(text(busy), rests: false))
    }
    for fast in ["10022", "10023", "10024", "10027"] {
      #expect(code(fast) == Self.later(text(fast), rests: true))
    }
    for spent in ["10034", "200001"] { #expect(code(spent) == .stopUntilQuotaReset(text(spent))) }
    for unknown in ["22100", "99999"] {
      #expect(code(unknown) == Self.later(text(unknown), rests: true, from: 60))
    }
    #expect(code("0", 503) == Self.later(text("0", 503), rests: true))
    MakerNotification.expectStatuses(
      of: Xiaomi(), "Xiaomi")
    let partly = Self.answer(200, #"{"result":"ok","code":0,"data":{"id":"i","bad_regids":"a,c"}}"#)
    let said = Xiaomi().interpret(partly, for: ["a", "b", "c"].map { Array($0.utf8) })
    #expect(said.outcome(for: Array("b".utf8)) == .accepted)
    for token in ["a", "c"] { #expect(said.outcome(for: Array(token.utf8)) == .dropToken("BadRegID")) }
    for reason in ["BadRegID", "20301", "66108", "10016", "10017", "10018"] {
      #expect(Xiaomi().meaning(of: reason) != nil)
    }
    #expect(Xiaomi().meaning(of: "1") == nil)
  }

  @Test func tokensOfAccess() {
    func read(_ status: Int, _ body: String) -> AccessAnswer {
      VendorFields.readToken(Self.answer(status, body), of: "Huawei")
    }
    #expect(
      read(200, #"{"access_token":"x","expires_in":3600,"token_type":"Bearer"}"#)
        == .token("x", seconds: 3600))
    #expect(
      read(200, #"{"access_token":"a\r\nb","expires_in":3600}"#)
        == .later("Huawei's answer has no token of access", seconds: nil))
    #expect(
      read(400, #"{"error":1101,"error_description":"invalid secret"}"#)
        == .refused("Huawei refused the credential: 400 1101: invalid secret"))
    #expect(read(503, "") == .later("Huawei's token service answered 503", seconds: nil))
    // Somebody else than Huawei.
    for status in [400, 401, 403] {
      #expect(read(status, "<html>") == .later("Huawei's token service answered \(status)", seconds: nil))
    }
  }

  @Test func meanings() {
    for reason in [
      "80100000", "80300007", "80100004", "80100016", "80300008", "80100001", "80100003", "80100013",
    ] {
      #expect(Huawei().meaning(of: reason) != nil)
    }
    #expect(Honor().meaning(of: "ExpiredToken") != nil && Honor().meaning(of: "x") == nil)
  }
}
