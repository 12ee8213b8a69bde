import PushBase
import PushCrypto
import PushDomain
import PushStorage

/// A credential of an app, opened and ready to be used for one of Apple's environments.
public struct APNsCredential: Sendable {
  /// How connections prove who sends.
  public enum Authentication: Sendable {
    /// Each request carries the mint's current token.
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
  /// When a certificate ends.
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
  /// Whether Apple takes pushes to a kind of token with it: to calls only if a certificate names their topic, to Live
  /// Activities only with a key.
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

/// A certificate and when it ends.
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
  /// When it ends.
  public let expiresAt: Timestamp
  /// Whole days until then, rounded down; negative afterwards.
  public let daysLeft: Int
  /// Whether a newer credential has taken its place, so that nobody needs to be reminded.
  public let isReplaced: Bool

  /// Days from one moment to the end of a certificate as people say them, to the nearest; negative afterwards.
  public static func spokenDays(until end: Timestamp, from now: Timestamp) -> Int {
    daysLeft(until: end, from: now.adding(seconds: -43_200))
  }

  /// Whole days from one moment to the end of a certificate, rounded down; negative afterwards.
  public static func daysLeft(until end: Timestamp, from now: Timestamp) -> Int {
    let (seconds, overflow) = end.seconds.subtractingReportingOverflow(now.seconds)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return overflow ? 0 : Int(clamping: rest < 0 ? days - 1 : days)
  }
}

/// Why a credential cannot be used, or that it can.
public enum APNsCredentialStatus: Equatable, Sendable {
  /// It can be used.
  case usable
  /// Somebody or Apple stopped it; with the reason.
  case paused(String)
  /// The certificate has ended.
  case expired
  /// It cannot be opened; with the reason.
  case unreadable(String)

  /// What is wrong, for people; nil if nothing is.
  public var problem: String? {
    switch self {
    case .usable: nil
    case .paused(let reason): "paused: \(reason)"
    case .expired: "the certificate has expired"
    case .unreadable(let reason): reason
    }
  }
}

/// What became of a credential.
public struct APNsCredentialChange: Equatable, Sendable {
  /// The credential's number.
  public let id: APNsCredentialID
  /// Its app.
  public let app: AppID
  /// Production or sandbox.
  public let environment: APNsEnvironment
  /// How it stands now; nil when it was removed.
  public let status: APNsCredentialStatus?
}
