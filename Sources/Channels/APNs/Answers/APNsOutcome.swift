import BorealisBase
import Model

/// The consequence of a response of APNs: one table, which depends only on its input.
///
/// | status | reason | outcome |
/// |---|---|---|
/// | 200 | | delivered, or `wrongEnvironment` if it was the other service's turn |
/// | 400 | `BadDeviceToken` | the other service once, if there is a credential; else retire the token |
/// | 400 | `DeviceTokenNotForTopic` | retire the token |
/// | 400 | `TopicDisallowed` | pause the topic |
/// | 400 | `IdleTimeout` | retry on a new connection |
/// | 403 | `ExpiredProviderToken` | a new provider token once, then rest for half a minute |
/// | 403 | `UnrelatedKeyIdInToken` | retry on a connection of that key |
/// | 403 | `MissingProviderToken` | reject |
/// | 403 | `TopicMismatch` | pause the topic |
/// | 403 | all others that are known | pause the credential |
/// | 410 | `Unregistered`, `ExpiredToken`, unknown | retire the token, unless it was registered later |
/// | 429 | `TooManyProviderTokenUpdates` | pause the credential for 20 minutes |
/// | 429 | `TooManyRequests`, unknown | retry for this token |
/// | 500 | `InternalServerError`, unknown | retry on another stream |
/// | 503 | `ServiceUnavailable`, unknown 5xx | retry, and slow the whole host |
/// | 503 | `Shutdown` | retry on a new connection |
/// | other 4xx, and anything else | | reject |
package enum APNsOutcome: Equatable, Sendable {
  /// Apple took it.
  case delivered
  /// Apple took it on the second of its services: the token belongs to this one, which is to be stored.
  case wrongEnvironment(belongsTo: APNsEnvironment)
  /// It may be sent again.
  case retry(APNsRetry)
  /// It may be sent again at once, with a new provider token and on a new connection.
  case newProviderToken
  /// The token may belong to the other environment: send it there, once.
  case tryOtherEnvironment(APNsEnvironment)
  /// The token is dead, unless it was registered again after this time. `TokenGuard` has to agree if the
  /// fault is one that a wrong setting could have caused.
  case retireToken(since: Timestamp, APNsTokenFault)
  /// The token was refused, but was registered again after that: it stays.
  case keepToken
  /// Sending with this credential stops until the error is over; pushes wait.
  case pauseCredential(APNsCredentialFault)
  /// Sending with this credential to this topic stops until somebody resumes it; pushes wait.
  case pauseTopic
  /// Apple will never take it.
  case reject

  /// What follows from an answer.
  package init(_ answer: APNsAnswer, to attempt: APNsAttempt) {
    if (200..<300).contains(answer.status) {
      self = attempt.otherHasRefused ? .wrongEnvironment(belongsTo: attempt.environment) : .delivered
    } else if let reason = answer.knownReason {
      self = Self.following(reason, answer, attempt)
    } else {
      self = Self.following(status: answer.status, answer, attempt)
    }
  }

  private static func following(
    _ reason: APNsReason, _ answer: APNsAnswer, _ attempt: APNsAttempt
  ) -> APNsOutcome {
    switch reason {
    case .badDeviceToken: badToken(attempt)
    case .deviceTokenNotForTopic: retire(.otherTopic, since: attempt.sentAt, attempt)
    case .unregistered: retire(.unregistered, since: answer.inactiveSince ?? attempt.sentAt, attempt)
    case .expiredToken: retire(.expired, since: answer.inactiveSince ?? attempt.sentAt, attempt)
    case .topicDisallowed, .topicMismatch: .pauseTopic
    case .badCertificate: .pauseCredential(.certificate)
    case .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken:
      .pauseCredential(.environment)
    case .forbidden: .pauseCredential(.forbidden)
    case .invalidProviderToken: .pauseCredential(.providerToken)
    case .expiredProviderToken: attempt.hasRenewedProviderToken ? .pauseCredential(.clock) : .newProviderToken
    case .tooManyProviderTokenUpdates: .pauseCredential(.tooManyUpdates)
    case .idleTimeout, .unrelatedKeyIdInToken, .shutdown: .retry(.newConnection)
    case .tooManyRequests: .retry(.sameToken)
    case .internalServerError: .retry(.otherStream)
    case .serviceUnavailable: .retry(.slowHost)
    case .badCollapseId, .badExpirationDate, .badMessageId, .badPriority, .badTopic, .duplicateHeaders,
      .invalidPushType, .missingDeviceToken, .missingTopic, .payloadEmpty, .missingProviderToken, .badPath,
      .methodNotAllowed, .payloadTooLarge, .featureNotEnabled, .missingChannelId, .badChannelId,
      .channelNotRegistered, .badRequestParams, .badRequestPayload, .missingPushType,
      .cannotCreateChannelConfig, .missingChannelQueueSize:
      .reject
    }
  }

  /// For reasons that are missing or new.
  private static func following(
    status: Int, _ answer: APNsAnswer, _ attempt: APNsAttempt
  ) -> APNsOutcome {
    switch status {
    case 410: retire(.unregistered, since: answer.inactiveSince ?? attempt.sentAt, attempt)
    case 429: .retry(.sameToken)
    case 500: .retry(.otherStream)
    case 501...599: .retry(.slowHost)
    default: .reject
    }
  }

  /// APNs does not distinguish a malformed token from one of the other environment: only the other
  /// environment can tell.
  private static func badToken(_ attempt: APNsAttempt) -> APNsOutcome {
    if attempt.tokenRegisteredAt > attempt.sentAt { return .keepToken }
    if attempt.otherHasRefused { return retire(.unknownEverywhere, since: attempt.sentAt, attempt) }
    if attempt.hasOtherCredential { return .tryOtherEnvironment(attempt.otherEnvironment) }
    return retire(.unknownHere, since: attempt.sentAt, attempt)
  }

  private static func retire(
    _ fault: APNsTokenFault, since: Timestamp, _ attempt: APNsAttempt
  ) -> APNsOutcome {
    attempt.tokenRegisteredAt > since ? .keepToken : .retireToken(since: since, fault)
  }
}

/// How a push may be sent again.
package struct APNsRetry: Equatable, Sendable {
  /// What has to be slowed down or changed.
  package enum Scope: Equatable, Sendable {
    /// This request alone; another connection is better.
    case stream
    /// Everything for this device token, nothing for others.
    case token
    /// All requests to this APNs host.
    case host
    /// The connection is given up; everything that waits on it moves to a new one.
    case connection
  }

  /// What has to be slowed down or changed.
  package let scope: Scope
  /// When to send again.
  package let schedule: RetrySchedule

  /// Makes a rule.
  package init(scope: Scope, schedule: RetrySchedule) {
    self.scope = scope
    self.schedule = schedule
  }

  /// Apple failed for this request: again in 1 to 2 seconds, then less and less often.
  package static let otherStream = APNsRetry(scope: .stream, schedule: RetrySchedule(firstSeconds: 1))
  /// The token gets too much: again in 10 to 20 seconds, then less and less often.
  package static let sameToken = APNsRetry(scope: .token, schedule: RetrySchedule(firstSeconds: 10))
  /// Apple is overloaded: again in 1 to 2 seconds, then less and less often.
  package static let slowHost = APNsRetry(scope: .host, schedule: RetrySchedule(firstSeconds: 1))
  /// The connection is unusable: again immediately, then after 1 to 2 seconds, then with back-off. Also for
  /// requests that APNs certainly did not process: refused streams, and those above a GOAWAY's last stream.
  package static let newConnection = APNsRetry(scope: .connection, schedule: RetrySchedule(firstSeconds: 0))
  /// It is unknown whether APNs accepted it, since the connection was lost after the request was sent. The
  /// collapse ID makes a second banner replace the first.
  package static let lostAnswer = otherStream
}

/// Why a token is retired. Raw values may be stored.
package enum APNsTokenFault: UInt8, CaseIterable, Sendable {
  /// The app was removed, or turned notifications off permanently.
  case unregistered = 1
  /// Apple let the token expire.
  case expired = 2
  /// Both environments rejected the token.
  case unknownEverywhere = 3
  /// The service of the token's registration says that it is no token of its own, and there is no credential
  /// for the other one: the token is malformed, or the device or the server has the wrong service.
  case unknownHere = 4
  /// The token belongs to another app, or is of another kind.
  case otherTopic = 5

  /// Whether a wrong setting could have caused this for many tokens at once, so that `TokenGuard` has to
  /// agree.
  package var mayBeOurs: Bool {
    switch self {
    case .unregistered, .expired: false
    case .unknownEverywhere, .unknownHere, .otherTopic: true
    }
  }
}

extension TokenEnd {
  /// Why there is no token after Apple found a fault with it.
  package init(_ fault: APNsTokenFault) {
    self =
      switch fault {
      case .unregistered, .expired: .byService
      case .unknownHere, .unknownEverywhere: .wrongService
      case .otherTopic: .otherApp
      }
  }
}

extension APNsOutcome {
  /// What follows for a credential from the words with which Apple ends a connection, such as
  /// `{"reason":"BadCertificate"}`; nil if they say nothing about it.
  package init?(goAway debug: String) {
    let text = APNsAnswer(status: 400, body: Array(debug.utf8)).reason
    guard let reason = text.flatMap({ APNsReason(rawValue: $0) }) else { return nil }
    let now = Timestamp(milliseconds: 0)
    let attempt = APNsAttempt(sentAt: now, tokenRegisteredAt: now)
    let outcome = APNsOutcome(APNsAnswer(status: reason.status, reason: reason.rawValue), to: attempt)
    switch outcome {
    case .pauseCredential, .newProviderToken: self = outcome
    default: return nil
    }
  }
}

/// Why nothing goes out with a credential. Raw values may be stored.
package enum APNsCredentialFault: UInt8, CaseIterable, Sendable {
  /// The certificate is invalid or was revoked.
  case certificate = 1
  /// The certificate or key is for The other APNs environment.
  case environment = 2
  /// The action is not allowed.
  case forbidden = 3
  /// The provider token is wrong: key, key ID and team do not belong together, or the key was revoked.
  case providerToken = 4
  /// A new provider token is called expired: the server's clock is wrong.
  case clock = 5
  /// The provider token was changed too often.
  case tooManyUpdates = 6

  /// Seconds after which to retry; nil if somebody has to fix something first.
  package var seconds: Int64? {
    switch self {
    case .tooManyUpdates: 20 * 60
    // It is mended outside of this server, and nobody would think of resuming the credential.
    case .clock: Self.clockSeconds
    case .certificate, .environment, .forbidden, .providerToken: nil
    }
  }
}
