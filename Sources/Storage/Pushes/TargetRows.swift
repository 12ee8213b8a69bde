import BorealisBase
import Model

/// The stored outcome of a push for its targets. Sets are in the router's encoding.
package struct TargetRows: Sendable, Equatable {
  package var push: PushRow
  /// Its end on the direct connection, and its only target's receipts; nil if unknown.
  package var outcome: OutcomeRow?
  /// Whether a target waits for it on the direct connection.
  package var isPending: Bool
  /// The targets that acknowledged it over the direct connection; nil if none did, or all did and it ended
  /// so.
  package var delivered: [UInt8]?
  /// Who will not get it over the direct connection, by reason.
  package var dropped: [String: [UInt8]]
  /// The channels whose services have not answered for all.
  package var pendingChannels: Set<ChannelID>
  /// The targets with an outcome of channels to outside services.
  package var results: LegResults
  /// Who showed it, and whose users tapped it, of a push to several.
  package var shown, tapped: [UInt8]?
  /// The targets that acknowledged it when nothing was waiting for them any more.
  package var late: [UInt8]?
  /// Whom vendors' channels take over, or have, if they do not acknowledge it in time.
  package var fallbacks: [FallbackRow] = []
  /// Who waits for the end of quiet hours.
  package var held: [HeldPushRow] = []
  /// The targets that receipts of channels' services are about, by what they say.
  package var ofServices: [PushReceipt: [UInt8]] = [:]
  /// Whose app showed its in-app message, and whose users tapped that.
  package var inAppShown, inAppTapped: [UInt8]?
}
