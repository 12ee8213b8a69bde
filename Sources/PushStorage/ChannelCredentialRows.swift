import PushBase
import PushDomain

/// What an app authenticates with at the service of a channel: of each channel it has at most one. Those of APNs are `CredentialRow`s.
public struct ChannelCredentialRow: Sendable, Equatable {
  /// Its app.
  public var app: AppID
  /// Its channel.
  public var channel: ChannelID
  /// Names it: another one has another ID.
  public var id: String
  /// What it is for, as the service calls it: the project, the app ID.
  public var subject: String
  /// Which of the subject's credentials it is: a key's ID. Empty if there is nothing to tell them apart.
  public var name: String
  /// When it was stored.
  public var createdAt: Timestamp
  /// Why it is not used until somebody resumes it; nil if it is used.
  public var pause: String?
  /// When it was paused or resumed.
  public var changedAt: Timestamp
  /// What is secret, sealed by the caller.
  public var sealed: [UInt8]

  /// A new one, with an ID of its own.
  public init(
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
