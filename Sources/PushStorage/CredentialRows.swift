import PushBase

/// Row number of an APNs credential; never used again.
public struct APNsCredentialID: Hashable, Comparable, Sendable {
  /// The database's row number, from 1.
  public let rawValue: Int64

  /// Wraps a row number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by age: the older credential first.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// How an app proves itself to Apple.
public enum APNsCredentialKind: UInt8, Sendable {
  /// A key that signs provider tokens.
  case token = 1
  /// A TLS client certificate.
  case certificate = 2
}

/// Whether a credential may be used.
public enum APNsCredentialState: Equatable, Sendable {
  /// It may.
  case active
  /// A newer one is there; this one is used only while that one cannot be.
  case retiring
  /// It must not be used until somebody resumes it; with the reason.
  case paused(String)
}

/// What is stored of a new credential.
public struct NewAPNsCredential: Sendable {
  /// What it is.
  public var kind: APNsCredentialKind
  /// The APNs environment, production or sandbox.
  public var environment: APNsEnvironment
  /// The app's bundle ID.
  public var topic: String
  /// Apple's ID of the developer's team; nil if a certificate does not name it.
  public var teamID: String?
  /// Apple's ID of a key; nil for a certificate.
  public var keyID: String?
  /// SHA-256 of the public key or the certificate, 32 bytes.
  public var fingerprint: [UInt8]
  /// When a certificate ends.
  public var expiresAt: Timestamp?
  /// The secret, sealed by the caller.
  public var sealed: [UInt8]

  /// All fields.
  public init(
    kind: APNsCredentialKind, environment: APNsEnvironment, topic: String, teamID: String?, keyID: String?,
    fingerprint: [UInt8], expiresAt: Timestamp?, sealed: [UInt8]
  ) {
    self.kind = kind
    self.environment = environment
    self.topic = topic
    self.teamID = teamID
    self.keyID = keyID
    self.fingerprint = fingerprint
    self.expiresAt = expiresAt
    self.sealed = sealed
  }
}

/// A stored credential without its secret.
public struct APNsCredentialRow: Sendable, Equatable {
  /// Its number.
  public var id: APNsCredentialID
  /// Its app.
  public var app: AppID
  /// The public key of that app.
  public var appKey: AppKey
  /// What it is.
  public var kind: APNsCredentialKind
  /// The APNs environment.
  public var environment: APNsEnvironment
  /// The app's bundle ID.
  public var topic: String
  /// Apple's ID of the developer's team.
  public var teamID: String?
  /// Apple's ID of a key.
  public var keyID: String?
  /// SHA-256 of the public key or the certificate.
  public var fingerprint: [UInt8]
  /// When a certificate ends.
  public var expiresAt: Timestamp?
  /// When it was stored.
  public var createdAt: Timestamp
  /// Whether it may be used.
  public var state: APNsCredentialState
  /// When the state last changed.
  public var changedAt: Timestamp
  /// The newer credential that took its place.
  public var replacedBy: APNsCredentialID?
}
