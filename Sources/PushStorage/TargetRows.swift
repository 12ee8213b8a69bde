import PushBase
import PushDomain

/// The stored outcome of a push for its targets. Sets are in the router's encoding.
public struct TargetRows: Sendable, Equatable {
  /// The push.
  public var push: PushRow
  /// Its end on the direct connection, and its only target's receipts; nil if unknown.
  public var outcome: OutcomeRow?
  /// Whether a target waits for it on the direct connection.
  public var isPending: Bool
  /// The targets that acknowledged it over the direct connection; nil if none did, or all did and it ended so.
  public var delivered: [UInt8]?
  /// Who will not get it over the direct connection, by reason.
  public var dropped: [String: [UInt8]]
  /// The channels whose services have not answered for all.
  public var pendingChannels: Set<ChannelID>
  /// The targets with an outcome of channels to outside services.
  public var results: LegResults
  /// Who showed it, and whose users tapped it, of a push to several.
  public var shown, tapped: [UInt8]?
  /// The targets that acknowledged it when nothing was waiting for them any more.
  public var late: [UInt8]?
  /// Whom vendors' channels take over, or have, if they do not acknowledge it in time.
  public var fallbacks: [FallbackRow] = []
  /// The targets that receipts of channels' services are about, by what they say.
  public var ofServices: [PushReceipt: [UInt8]] = [:]
}
