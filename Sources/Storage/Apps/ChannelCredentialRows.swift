import BorealisBase
import Model

/// What an app authenticates with at the service of a channel: of each channel it has at most one. Those of
/// APNs are `CredentialRow`s.
package struct ChannelCredentialRow: Sendable, Equatable {
  package var app: AppID
  package var channel: ChannelID
  /// Names it: another one has another ID.
  package var id: String
  /// What it is for, as the service calls it: the project, the app ID.
  package var subject: String
  /// Which of the subject's credentials it is: a key's ID. Empty if there is nothing to tell them apart.
  package var name: String
  /// When it was stored.
  package var createdAt: Timestamp
  /// Why it is not used until somebody resumes it; nil if it is used.
  package var pause: String?
  /// When it was paused or resumed.
  package var changedAt: Timestamp
  /// What is secret, sealed by the caller.
  package var sealed: [UInt8]

  /// A new one, with an ID of its own.
  package init(
    app: AppID, channel: ChannelID, subject: String, name: String, sealed: [UInt8], at now: Timestamp
  ) {
    self.app = app
    self.channel = channel
    id = Hex.encode(SystemRandom.bytes(8))
    self.subject = subject
    self.name = name
    createdAt = now
    changedAt = now
    self.sealed = sealed
  }
}
