import BorealisBase
import Channels
import Model
import Testing

@Suite struct APNsOutcomeTests {
  static let sent = Timestamp(milliseconds: 1_767_225_600_000)
  static let before = Timestamp(milliseconds: 1_767_225_599_999)
  static let after = Timestamp(milliseconds: 1_767_225_600_001)

  static func attempt(
    registered: Timestamp = before, environment: APNsEnvironment = .production, other: Bool = false,
    refused: Bool = false, renewed: Bool = false
  ) -> APNsAttempt {
    APNsAttempt(
      sentAt: sent, tokenRegisteredAt: registered, environment: environment, hasOtherCredential: other,
      otherHasRefused: refused, hasRenewedProviderToken: renewed)
  }

  /// Every reason of Apple's documentation and those seen in the field, with its status and what follows from
  /// it for a first attempt.
  static let table: [(status: Int, reason: String, outcome: APNsOutcome)] = [
    (400, "BadCollapseId", .reject), (400, "BadDeviceToken", .retireToken(since: sent, .unknownHere)),
    (400, "BadExpirationDate", .reject), (400, "BadMessageId", .reject), (400, "BadPriority", .reject),
    (400, "BadTopic", .reject), (400, "DeviceTokenNotForTopic", .retireToken(since: sent, .otherTopic)),
    (400, "DuplicateHeaders", .reject), (400, "IdleTimeout", .retry(.newConnection)),
    (400, "InvalidPushType", .reject), (400, "MissingDeviceToken", .reject), (400, "MissingTopic", .reject),
    (400, "PayloadEmpty", .reject), (400, "TopicDisallowed", .pauseTopic),
    (403, "BadCertificate", .pauseCredential(.certificate)),
    (403, "BadCertificateEnvironment", .pauseCredential(.environment)),
    (403, "ExpiredProviderToken", .newProviderToken), (403, "Forbidden", .pauseCredential(.forbidden)),
    (403, "InvalidProviderToken", .pauseCredential(.providerToken)), (403, "MissingProviderToken", .reject),
    (403, "UnrelatedKeyIdInToken", .retry(.newConnection)),
    (403, "BadEnvironmentKeyIdInToken", .pauseCredential(.environment)),
    (403, "BadEnvironmentKeyInToken", .pauseCredential(.environment)), (404, "BadPath", .reject),
    (405, "MethodNotAllowed", .reject), (410, "ExpiredToken", .retireToken(since: sent, .expired)),
    (410, "Unregistered", .retireToken(since: sent, .unregistered)), (413, "PayloadTooLarge", .reject),
    (429, "TooManyProviderTokenUpdates", .pauseCredential(.tooManyUpdates)),
    (429, "TooManyRequests", .retry(.sameToken)), (500, "InternalServerError", .retry(.otherStream)),
    (503, "ServiceUnavailable", .retry(.slowHost)), (503, "Shutdown", .retry(.newConnection)),
    (400, "FeatureNotEnabled", .reject), (400, "MissingChannelId", .reject), (400, "BadChannelId", .reject),
    (400, "ChannelNotRegistered", .reject), (400, "BadRequestParams", .reject),
    (400, "BadRequestPayload", .reject), (400, "MissingPushType", .reject),
    (400, "CannotCreateChannelConfig", .reject), (403, "TopicMismatch", .pauseTopic),
    (400, "MissingChannelQueueSize", .reject),
  ]

  @Test(arguments: table)
  func everyReason(_ status: Int, _ reason: String, _ expected: APNsOutcome) {
    let answer = APNsAnswer(status: status, body: Array(#"{"reason":"\#(reason)"}"#.utf8))
    #expect(answer.knownReason?.rawValue == reason && answer.knownReason?.status == status)
    #expect(APNsOutcome(answer, to: Self.attempt()) == expected)
  }

  @Test func theTableHasEveryReasonOnce() {
    #expect(Self.table.map(\.reason).sorted() == APNsReason.allCases.map(\.rawValue).sorted())
  }

  @Test(arguments: [
    (200, APNsOutcome.delivered), (201, .delivered), (400, .reject), (401, .reject), (403, .reject),
    (404, .reject), (410, .retireToken(since: sent, .unregistered)), (413, .reject), (418, .reject),
    (429, .retry(.sameToken)), (500, .retry(.otherStream)), (502, .retry(.slowHost)),
    (503, .retry(.slowHost)), (599, .retry(.slowHost)), (100, .reject), (302, .reject), (0, .reject),
    (-1, .reject), (600, .reject),
  ])
  func withoutAKnownReasonTheStatusCounts(_ status: Int, _ expected: APNsOutcome) {
    for body in [
      "", "{}", "[]", "x", #"{"reason":"BrandNew"}"#, #"{"reason":7}"#, #"{"reason":"badtopic"}"#, "{",
    ] {
      let answer = APNsAnswer(status: status, body: Array(body.utf8))
      #expect(APNsOutcome(answer, to: Self.attempt()) == expected, "\(body)")
    }
  }

  /// A reason is stored, logged and sent to app servers.
  @Test func reasonsHoldNoControlCharacters() {
    let answer = APNsAnswer(status: 400, body: Array(#"{"reason":"New\u0000\r\nReason\u007f"}"#.utf8))
    #expect(answer.reason == "NewReason")
  }

  /// A reason of another class of statuses says nothing: nobody loses a token by a proxy's mistake.
  @Test func reasonsCountWithTheirStatusOnly() {
    let body = Array(#"{"reason":"Unregistered","timestamp":1767225600123}"#.utf8)
    #expect(APNsOutcome(APNsAnswer(status: 200, body: body), to: Self.attempt()) == .delivered)
    #expect(APNsOutcome(APNsAnswer(status: 503, body: body), to: Self.attempt()) == .retry(.slowHost))
    let expired = Array(#"{"reason":"ExpiredProviderToken"}"#.utf8)
    #expect(APNsOutcome(APNsAnswer(status: 401, body: expired), to: Self.attempt()) == .newProviderToken)
  }

  @Test(arguments: [
    // The moment of Apple's, in milliseconds; when the token was registered; whether it dies.
    (Int64(1_767_000_000_000), Int64(1_766_999_999_999), true), (1_767_000_000_000, 1_767_000_000_000, true),
    (1_767_000_000_000, 1_767_000_000_001, false),
    // Unusable moments: that of sending counts.
    (0, sent.milliseconds, true), (0, sent.milliseconds + 1, false), (1_767_000_000, sent.milliseconds, true),
    (-5, 0, true),
  ])
  func theMomentOf410(_ moment: Int64, _ registered: Int64, _ dies: Bool) {
    let isUsable = moment > 1_000_000_000_000
    let since = isUsable ? Timestamp(milliseconds: moment) : Self.sent
    let attempt = Self.attempt(registered: Timestamp(milliseconds: registered))
    for (reason, fault) in [("Unregistered", APNsTokenFault.unregistered), ("ExpiredToken", .expired)] {
      let body = Array(#"{"reason":"\#(reason)","timestamp":\#(moment)}"#.utf8)
      let outcome = APNsOutcome(APNsAnswer(status: 410, body: body), to: attempt)
      #expect(outcome == (dies ? .retireToken(since: since, fault) : .keepToken))
    }
  }

  /// A token of the other service is not dead: ask there once, and only if that can be done.
  @Test func badDeviceTokens() {
    let bad = APNsAnswer(status: 400, reason: "BadDeviceToken")
    let ok = APNsAnswer(status: 200)
    for (environment, other) in [
      (APNsEnvironment.production, APNsEnvironment.sandbox), (.sandbox, .production),
    ] {
      let first = Self.attempt(environment: environment, other: true)
      #expect(APNsOutcome(bad, to: first) == .tryOtherEnvironment(other))
      let second = Self.attempt(environment: other, other: true, refused: true)
      #expect(APNsOutcome(ok, to: second) == .wrongEnvironment(belongsTo: other))
      #expect(APNsOutcome(bad, to: second) == .retireToken(since: Self.sent, .unknownEverywhere))
    }
    #expect(APNsOutcome(bad, to: Self.attempt()) == .retireToken(since: Self.sent, .unknownHere))
    for other in [false, true] {
      #expect(APNsOutcome(bad, to: Self.attempt(registered: Self.after, other: other)) == .keepToken)
    }
    #expect(APNsTokenFault.allCases.filter(\.mayBeOurs) == [.unknownEverywhere, .unknownHere, .otherTopic])
  }

  @Test func aNewProviderTokenIsMadeOnce() {
    let expired = APNsAnswer(status: 403, reason: "ExpiredProviderToken")
    #expect(APNsOutcome(expired, to: Self.attempt()) == .newProviderToken)
    #expect(APNsOutcome(expired, to: Self.attempt(renewed: true)) == .pauseCredential(.clock))
    #expect(APNsCredentialFault.allCases.filter { $0.seconds != nil } == [.clock, .tooManyUpdates])
  }

  @Test func answersAreCutToSize() {
    let long = String(repeating: "r", count: 1000)
    #expect(APNsAnswer(status: 400, body: Array(#"{"reason":"\#(long)"}"#.utf8)).reason?.count == 64)
    let escaped = APNsAnswer(
      status: 400, body: Array(#"{"x":[1],"reason":"Bad\u0054opic","timestamp":1.5}"#.utf8))
    #expect(escaped == APNsAnswer(status: 400, reason: "BadTopic"))
  }
}
