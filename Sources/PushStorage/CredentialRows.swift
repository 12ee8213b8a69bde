import PushBase
import PushDomain

/// Row number of a credential; never used again.
public struct CredentialID: Hashable, Comparable, Sendable {
  /// The database's row number, from 1.
  public let rawValue: Int64

  /// Wraps a row number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by age: the older credential first.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// How an app proves itself to the service of a channel.
public enum CredentialKind: UInt8, Sendable {
  /// A key that signs tokens of access.
  case token = 1
  /// A TLS client certificate.
  case certificate = 2
}

/// Whether a credential may be used.
public enum CredentialState: Equatable, Sendable {
  /// It may.
  case active
  /// A newer one is there; this one is used only while that one cannot be.
  case retiring
  /// It must not be used until somebody resumes it; with the reason.
  case paused(String)
}

/// What is stored of a new credential.
public struct NewCredential: Sendable {
  /// What it is.
  public var kind: CredentialKind
  /// The service of the channel that it is for; not `none`.
  public var service: ServiceID
  /// What it allows to push to: of APNs, the app's bundle ID.
  public var topic: String
  /// The service's ID of the developer's team; nil if a certificate does not name it.
  public var teamID: String?
  /// The service's ID of a key; nil for a certificate.
  public var keyID: String?
  /// SHA-256 of the public key or the certificate, 32 bytes.
  public var fingerprint: [UInt8]
  /// When a certificate ends.
  public var expiresAt: Timestamp?
  /// The secret, sealed by the caller.
  public var sealed: [UInt8]

  /// All fields.
  public init(
    kind: CredentialKind, service: ServiceID, topic: String, teamID: String?, keyID: String?,
    fingerprint: [UInt8], expiresAt: Timestamp?, sealed: [UInt8]
  ) {
    self.kind = kind
    self.service = service
    self.topic = topic
    self.teamID = teamID
    self.keyID = keyID
    self.fingerprint = fingerprint
    self.expiresAt = expiresAt
    self.sealed = sealed
  }
}

/// A stored credential without its secret.
public struct CredentialRow: Sendable, Equatable {
  /// Its number.
  public var id: CredentialID
  /// Its app.
  public var app: AppID
  /// The public key of that app.
  public var appKey: AppKey
  /// What it is.
  public var kind: CredentialKind
  /// The service of the channel that it is for.
  public var service: ServiceID
  /// What it allows to push to: of APNs, the app's bundle ID.
  public var topic: String
  /// The service's ID of the developer's team.
  public var teamID: String?
  /// The service's ID of a key.
  public var keyID: String?
  /// SHA-256 of the public key or the certificate.
  public var fingerprint: [UInt8]
  /// When a certificate ends.
  public var expiresAt: Timestamp?
  /// When it was stored.
  public var createdAt: Timestamp
  /// Whether it may be used.
  public var state: CredentialState
  /// When the state last changed.
  public var changedAt: Timestamp
  /// The newer credential that took its place.
  public var replacedBy: CredentialID?
}
