import PushBase
import PushCrypto
import PushDomain
import PushStorage

/// A credential of an app, opened and ready to be used for one of Apple's environments.
public struct APNsCredential: Sendable {
  /// How connections authenticate.
  public enum Authentication: Sendable {
    /// Each request has the mint's current token.
    case token(ProviderTokenMint)
    /// Connections show a TLS client certificate.
    case certificate(CertificateKeyPair)
  }

  /// Its number; a connection belongs to one credential.
  public let id: APNsCredentialID
  /// Its app.
  public let app: AppID
  /// Production or sandbox.
  public let environment: APNsEnvironment
  /// The app's bundle ID; push types append their suffix to it.
  public let topic: String
  /// How it is used.
  public let authentication: Authentication
  /// When a certificate expires.
  public let expiresAt: Timestamp?

  /// All fields.
  public init(
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
  /// Whether APNs accepts pushes to a kind of token with it: VoIP only if a certificate has its topic, Live Activities
  /// only with a key.
  public func takes(_ kind: APNsTokenKind) -> Bool {
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
public struct APNsCredentialExpiry: Equatable, Sendable {
  /// The credential's number.
  public let id: APNsCredentialID
  /// Its app.
  public let app: AppID
  /// The app's public key.
  public let appKey: AppKey
  /// Production or sandbox.
  public let environment: APNsEnvironment
  /// The app's bundle ID.
  public let topic: String
  /// When it expires.
  public let expiresAt: Timestamp
  /// Whole days until then, rounded down; negative afterwards.
  public let daysLeft: Int
  /// Whether a newer credential has replaced it, so that no reminder is needed.
  public let isReplaced: Bool

  /// Whole days from one moment to the expiry of a certificate, rounded down; negative afterwards.
  public static func daysLeft(until end: Timestamp, from now: Timestamp) -> Int {
    let (seconds, overflow) = end.seconds.subtractingReportingOverflow(now.seconds)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return overflow ? 0 : Int(clamping: rest < 0 ? days - 1 : days)
  }
}

/// Whether a credential can be used, and why not.
public enum APNsCredentialStatus: Equatable, Sendable {
  /// It can be used.
  case usable
  /// It is paused; with the reason.
  case paused(String)
  /// The certificate has expired.
  case expired
  /// It cannot be opened; with the reason.
  case unreadable(String)

  /// The problem, for people; nil if there is none.
  public var problem: String? {
    switch self {
    case .usable: nil
    case .paused(let reason): "paused: \(reason)"
    case .expired: "the certificate has expired"
    case .unreadable(let reason): reason
    }
  }
}

/// A change of a credential.
public struct APNsCredentialChange: Equatable, Sendable {
  /// The credential's number.
  public let id: APNsCredentialID
  /// Its app.
  public let app: AppID
  /// Production or sandbox.
  public let environment: APNsEnvironment
  /// Its status now; nil when it was removed.
  public let status: APNsCredentialStatus?
}
