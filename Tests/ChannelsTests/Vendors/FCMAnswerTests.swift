import BorealisBase
import HTTP
import Model
import Testing

@testable import Channels

/// What answers of FCM and of Google's token service mean.
@Suite struct FCMAnswerTests {
  private static func error(
    _ status: Int, _ name: String, code: String? = nil, field: String? = nil, retryAfter: Int64? = nil
  ) -> HTTPAnswer {
    var details: [String] = []
    if let code {
      details.append(
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#)
    }
    if let field {
      details.append(
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)","description":"d"}]}"#
      )
    }
    let body =
      #"{"error":{"code":\#(status),"message":"m\n1","status":"\#(name)","details":[\#(details.joined(separator: ","))]}}"#
    return HTTPAnswer(status: status, body: Array(body.utf8), retryAfter: retryAfter)
  }

  private static let tenSeconds = RetrySchedule(firstSeconds: 10)
  private static let minute = RetrySchedule(firstSeconds: 60)

  @Test func everyCode() {
    let cases: [(HTTPAnswer, VendorOutcome)] = [
      (HTTPAnswer(status: 200, body: Array(#"{"name":"projects/p/messages/1"}"#.utf8)), .accepted),
      (Self.error(404, "NOT_FOUND", code: "UNREGISTERED"), .dropDeadToken("UNREGISTERED")),
      (
        Self.error(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"),
        .dropForeignToken("SENDER_ID_MISMATCH")
      ),
      (
        Self.error(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"),
        .dropForeignToken("THIRD_PARTY_AUTH_ERROR")
      ),
      (
        Self.error(401, "UNAUTHENTICATED", code: "APNS_AUTH_ERROR"),
        .dropForeignToken("THIRD_PARTY_AUTH_ERROR")
      ),
      (
        Self.error(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"), .suspectToken("INVALID_ARGUMENT")
      ),
      (
        Self.error(400, "INVALID_ARGUMENT", field: "message.token"), .suspectToken("INVALID_ARGUMENT")
      ),
      (
        Self.error(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", field: "message.android.ttl"),
        .rejectContent("INVALID_ARGUMENT")
      ),
      (Self.error(400, "INVALID_ARGUMENT", field: "message.data"), .rejectContent("INVALID_ARGUMENT")),
      (Self.error(400, "INVALID_ARGUMENT"), .rejectContent("INVALID_ARGUMENT")),
      (Self.error(401, "UNAUTHENTICATED"), .refreshAuthOnce("FCM answered 401 UNAUTHENTICATED m 1")),
      (
        Self.error(403, "PERMISSION_DENIED"),
        .pauseAndAlertOperator("FCM answered 403 PERMISSION_DENIED m 1")
      ),
      (Self.error(404, "NOT_FOUND"), .pauseAndAlertOperator("FCM answered 404 NOT_FOUND m 1")),
      (
        Self.error(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", retryAfter: 30),
        .retryAfter(Self.minute, seconds: 30, rests: true, "FCM answered 429 RESOURCE_EXHAUSTED m 1")
      ),
      (
        Self.error(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED"),
        .retryAfter(Self.minute, seconds: nil, rests: false, "FCM answered 429 RESOURCE_EXHAUSTED m 1")
      ),
      // The limit of one device stops nobody else.
      (
        HTTPAnswer(
          status: 429,
          body: Array(
            #"{"error":{"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"d","description":"Device message rate exceeded"}]}]}}"#
              .utf8), retryAfter: 29),
        .retryAfter(Self.minute, seconds: 29, rests: false, "FCM answered 429 RESOURCE_EXHAUSTED m")
      ),
      // Proxies answer so, and say nothing of the key.
      (
        HTTPAnswer(status: 403, body: Array("<html>".utf8)),
        .retryAfter(Self.minute, seconds: nil, rests: true, "FCM answered 403")
      ),
      (
        HTTPAnswer(status: 404, body: Array("<html>".utf8)),
        .retryAfter(Self.minute, seconds: nil, rests: true, "FCM answered 404")
      ),
      (
        Self.error(503, "UNAVAILABLE", code: "UNAVAILABLE", retryAfter: 5),
        .retryAfter(Self.tenSeconds, seconds: 5, rests: true, "FCM answered 503 UNAVAILABLE m 1")
      ),
      (
        Self.error(503, "UNAVAILABLE", code: "UNAVAILABLE"),
        .retryAfter(Self.tenSeconds, seconds: nil, rests: true, "FCM answered 503 UNAVAILABLE m 1")
      ),
      (
        Self.error(500, "INTERNAL", code: "INTERNAL"),
        .retryAfter(Self.tenSeconds, seconds: nil, rests: false, "FCM answered 500 INTERNAL m 1")
      ),
      (
        HTTPAnswer(status: 502, body: Array("<html>".utf8)),
        .retryAfter(Self.tenSeconds, seconds: nil, rests: false, "FCM answered 502")
      ),
      (
        HTTPAnswer(status: 302), .retryAfter(Self.minute, seconds: nil, rests: true, "FCM answered 302")
      ),
      (HTTPAnswer(status: 413), .rejectContent("Status413")),
    ]
    for (answer, outcome) in cases {
      #expect(FCM().interpret(answer) == outcome, "\(String(decoding: answer.body, as: UTF8.self))")
    }
  }

  @Test func tokensOfAccess() {
    func answer(_ status: Int, _ body: String, retryAfter: Int64? = nil) -> AccessAnswer {
      FCM().readToken(HTTPAnswer(status: status, body: Array(body.utf8), retryAfter: retryAfter))
    }
    #expect(
      answer(200, #"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#)
        == .token("ya29.x", seconds: 3599))
    for body in [
      "", "{}", #"{"access_token":"","expires_in":1}"#, #"{"access_token":"a\r\nX: y","expires_in":3599}"#,
      #"{"access_token":"a","expires_in":0}"#, #"{"access_token":"a","expires_in":1e9}"#,
      #"{"access_token":"a"}"#,
    ] {
      #expect(answer(200, body) == .later("Google's answer has no token of access", seconds: nil), "\(body)")
    }
    #expect(
      answer(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
        == .refused("Google refused the key: 400 invalid_grant: Invalid JWT Signature."))
    // Somebody else than Google.
    for status in [401, 403] {
      #expect(
        answer(status, "<html>") == .later("Google's token service answered \(status)", seconds: nil))
    }
    let late = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
    #expect(
      answer(400, #"{"error":"invalid_grant","error_description":"\#(late)"}"#)
        == .later("Google answered 400 invalid_grant: \(late): is the server's clock right?", seconds: nil))
    #expect(
      answer(503, "", retryAfter: 9) == .later("Google's token service answered 503", seconds: 9))
    #expect(answer(429, "") == .later("Google's token service answered 429", seconds: nil))
  }

  /// Each reason that reports show has a sentence.
  @Test func meanings() {
    for reason in [
      "UNREGISTERED", "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR", "INVALID_ARGUMENT", "MessageTooBig",
    ] {
      #expect(FCM().meaning(of: reason) != nil)
    }
    #expect(FCM().meaning(of: "BadDeviceToken") == nil)
  }
}
