import PushBase
import PushDomain

/// All that is stored of the outcome of a push for its targets. Sets stand in the router's encoding.
public struct TargetRows: Sendable, Equatable {
  /// The push.
  public var push: PushRow
  /// What is known of its end over the direct connection, and of its only target's receipts; nil if nothing.
  public var outcome: OutcomeRow?
  /// Whether somebody waits for it over the direct connection.
  public var isPending: Bool
  /// Who acknowledged it over the direct connection; nil if nobody did, or all did and it ended so.
  public var delivered: [UInt8]?
  /// Who will not get it over the direct connection, by reason.
  public var dropped: [String: [UInt8]]
  /// The channels whose services have not answered for all.
  public var pendingChannels: Set<ChannelID>
  /// For whom there is an outcome of vendors' channels.
  public var results: LegResults
  /// Who showed it, and whose users tapped it, of a push to several.
  public var shown, tapped: [UInt8]?
  /// Who acknowledged it when nothing waited for them any more.
  public var late: [UInt8]?
}
