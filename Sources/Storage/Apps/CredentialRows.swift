import BorealisBase
import Model

/// Row number of a credential; never used again.
package struct CredentialID: Hashable, Comparable, Sendable {
  /// The database's row number, from 1.
  package let rawValue: Int64

  /// Wraps a row number.
  package init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by age: the older credential first.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// How addresses of pages and rows of other tables name it.
  package var text: String { String(rawValue) }
}

/// How an app proves itself to the service of a channel.
package enum CredentialKind: UInt8, Sendable {
  /// A key that signs, or a secret.
  case token = 1
  /// A TLS client certificate.
  case certificate = 2
}

/// Whether a credential may be used.
package enum CredentialState: Equatable, Sendable {
  /// It may.
  case active
  /// A newer one is there; this one is used only while that one cannot be.
  case retiring
  /// It must not be used until somebody resumes it; with the reason.
  case paused(String)
}

/// What is stored of a new credential.
package struct NewCredential: Sendable {
  package var channel: ChannelID
  package var kind: CredentialKind
  /// The service of the channel that it is for; not `none`.
  package var service: ServiceID
  /// What it is for, as the service calls it: the bundle ID, the project, the app ID.
  package var subject: String
  /// The service's ID of the developer's team; nil if there is none.
  package var teamID: String?
  /// Which of the subject's credentials it is: a key's ID. Empty if there is nothing to tell them apart.
  package var name: String
  /// SHA-256 of the public key or the certificate; empty for a secret.
  package var fingerprint: [UInt8]
  /// When a certificate ends.
  package var expiresAt: Timestamp?
  /// The secret, sealed by the caller.
  package var sealed: [UInt8]

  package init(
    channel: ChannelID, kind: CredentialKind = .token, service: ServiceID = .only, subject: String,
    teamID: String? = nil, name: String = "", fingerprint: [UInt8] = [], expiresAt: Timestamp? = nil,
    sealed: [UInt8]
  ) {
    self.channel = channel
    self.kind = kind
    self.service = service
    self.subject = subject
    self.teamID = teamID
    self.name = name
    self.fingerprint = fingerprint
    self.expiresAt = expiresAt
    self.sealed = sealed
  }
}

/// A stored credential without its secret.
package struct CredentialRow: Sendable, Equatable {
  /// Its number.
  package var id: CredentialID
  package var app: AppID
  /// The public key of that app.
  package var appKey: AppKey
  package var channel: ChannelID
  package var kind: CredentialKind
  /// The service of the channel that it is for.
  package var service: ServiceID
  /// What it is for, as the service calls it: the bundle ID, the project, the app ID.
  package var subject: String
  /// The service's ID of the developer's team.
  package var teamID: String?
  /// Which of the subject's credentials it is: a key's ID. Empty if there is nothing to tell them apart.
  package var name: String
  /// SHA-256 of the public key or the certificate; empty for a secret.
  package var fingerprint: [UInt8]
  /// When a certificate ends.
  package var expiresAt: Timestamp?
  /// When it was stored.
  package var createdAt: Timestamp
  /// Whether it may be used.
  package var state: CredentialState
  /// When the state last changed.
  package var changedAt: Timestamp
  /// The newer credential that took its place.
  package var replacedBy: CredentialID?

  /// Why it is paused; nil if it is not.
  package var pause: String? { if case .paused(let reason) = state { reason } else { nil } }
}
