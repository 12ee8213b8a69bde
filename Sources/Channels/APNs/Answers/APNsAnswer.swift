import BorealisBase
import Model

/// What Apple answered to one request.
package struct APNsAnswer: Equatable, Sendable {
  /// The HTTP status.
  package var status: Int
  /// `reason` as it came, shortened to 64 characters; nil if there was none.
  package var reason: String?
  /// When Apple last knew the token to be inactive; only there with status 410.
  package var inactiveSince: Timestamp?
  /// Seconds until which APNs wants no retry (`retry-after`), at most `RetrySchedule.longestAsked`.
  package var retryAfter: Int64?

  /// Puts an answer together.
  package init(
    status: Int, reason: String? = nil, inactiveSince: Timestamp? = nil, retryAfter: Int64? = nil
  ) {
    self.status = status
    self.reason = reason
    self.inactiveSince = inactiveSince
    self.retryAfter = retryAfter
  }

  /// An answer from its status and body, `{"reason":"Unregistered","timestamp":1767225600123}`. A body that
  /// is anything else leaves the status to speak for itself.
  package init(status: Int, body: [UInt8]) {
    self.init(status: status)
    guard status != 200, !body.isEmpty, let json = try? parseJSON(body) else { return }
    // It becomes text in the database, in logs and in callbacks: control characters are dropped.
    reason = json["reason"]?.string.map { text in
      String(String(text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }).prefix(64))
    }
    // Milliseconds. A number of seconds would be a moment in 1970 and make every token look registered later.
    if let milliseconds = json["timestamp"]?.int64, milliseconds >= 1_000_000_000_000 {
      inactiveSince = Timestamp(milliseconds: milliseconds)
    }
  }

  /// Whether Apple took the push.
  package var isAccepted: Bool { (200..<300).contains(status) }

  /// The reason, if it is known and came with a status of its class; else the status is what counts.
  package var knownReason: APNsReason? {
    guard let known = reason.flatMap({ APNsReason(rawValue: $0) }), known.status / 100 == status / 100 else {
      return nil
    }
    return known
  }
}

/// The facts about the request that was answered.
package struct APNsAttempt: Equatable, Sendable {
  /// When it was sent.
  package var sentAt: Timestamp
  /// When the app last reported the token.
  package var tokenRegisteredAt: Timestamp
  /// The service that it went to; not `.none`.
  package var environment: APNsEnvironment
  /// Whether the app has a credential for the other APNs environment.
  package var hasOtherCredential: Bool
  /// Whether the other service has refused this token for this push with `BadDeviceToken` already.
  package var otherHasRefused: Bool
  /// Whether the provider token was renewed because the previous attempt failed with `ExpiredProviderToken`.
  package var hasRenewedProviderToken: Bool

  /// Describes an attempt; what isn't given is so for a first attempt of an app with one credential.
  package init(
    sentAt: Timestamp, tokenRegisteredAt: Timestamp, environment: APNsEnvironment = .production,
    hasOtherCredential: Bool = false, otherHasRefused: Bool = false, hasRenewedProviderToken: Bool = false
  ) {
    self.sentAt = sentAt
    self.tokenRegisteredAt = tokenRegisteredAt
    self.environment = environment
    self.hasOtherCredential = hasOtherCredential
    self.otherHasRefused = otherHasRefused
    self.hasRenewedProviderToken = hasRenewedProviderToken
  }

  /// The other APNs environment.
  package var otherEnvironment: APNsEnvironment { environment == .sandbox ? .production : .sandbox }
}
