import BorealisBase
import BorealisCrypto
import Model
import Storage

/// A credential of an app, opened and ready to be used for one of Apple's environments.
package struct APNsCredential: Sendable {
  /// How connections authenticate.
  package enum Authentication: Sendable {
    /// Each request has the mint's current token.
    case token(ProviderTokenMint)
    /// Connections show a TLS client certificate.
    case certificate(CertificateKeyPair)
  }

  /// Its number; a connection belongs to one credential.
  package let id: APNsCredentialID
  package let app: AppID
  /// Production or sandbox.
  package let environment: APNsEnvironment
  /// The app's bundle ID; push types append their suffix to it.
  package let topic: String
  /// How it is used.
  package let authentication: Authentication
  /// When a certificate expires.
  package let expiresAt: Timestamp?

  package init(
    id: APNsCredentialID, app: AppID, environment: APNsEnvironment, topic: String,
    authentication: Authentication, expiresAt: Timestamp?
  ) {
    self.id = id
    self.app = app
    self.environment = environment
    self.topic = topic
    self.authentication = authentication
    self.expiresAt = expiresAt
  }
}

extension APNsCredential {
  /// Whether APNs accepts pushes to a kind of token with it: VoIP only if a certificate has its topic, Live
  /// Activities only with a key.
  package func accepts(_ kind: APNsTokenKind) -> Bool {
    guard case .certificate(let pair) = authentication else { return true }
    switch kind {
    case .device: return true
    case .voip:
      return pair.facts.topics.contains { $0.name == topic + APNsPushType.voip.topicSuffix }
    case .liveActivity, .liveActivityStart: return false
    }
  }
}

/// A certificate and its expiry.
package struct APNsCredentialExpiry: Equatable, Sendable {
  /// The credential's number.
  package let id: APNsCredentialID
  package let app: AppID
  /// The app's public key.
  package let appKey: AppKey
  /// Production or sandbox.
  package let environment: APNsEnvironment
  /// The app's bundle ID.
  package let topic: String
  /// When it expires.
  package let expiresAt: Timestamp
  /// Whole days until then, rounded down; negative afterwards.
  package let daysLeft: Int
  /// Whether a newer credential has replaced it, so that no reminder is needed.
  package let isReplaced: Bool

  /// Whole days from one moment to the expiry of a certificate, rounded down; negative afterwards.
  package static func daysLeft(until end: Timestamp, from now: Timestamp) -> Int {
    let (seconds, overflow) = end.seconds.subtractingReportingOverflow(now.seconds)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return overflow ? 0 : Int(clamping: rest < 0 ? days - 1 : days)
  }
}

/// Whether a credential can be used, and why not.
package enum APNsCredentialStatus: Equatable, Sendable {
  /// It can be used.
  case usable
  /// It is paused; with the reason.
  case paused(String)
  /// The certificate has expired.
  case expired
  /// It cannot be opened; with the reason.
  case unreadable(String)

  /// The problem, for people; nil if there is none.
  package var problem: String? {
    switch self {
    case .usable: nil
    case .paused(let reason): "paused: \(reason)"
    case .expired: "the certificate has expired"
    case .unreadable(let reason): reason
    }
  }
}

/// A change of a credential.
package struct APNsCredentialChange: Equatable, Sendable {
  /// The credential's number.
  package let id: APNsCredentialID
  package let app: AppID
  /// Production or sandbox.
  package let environment: APNsEnvironment
  /// Its status now; nil when it was removed.
  package let status: APNsCredentialStatus?
}
