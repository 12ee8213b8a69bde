import BorealisBase
import Model

/// The targets by outcome of a push's legs, in the router's encoding.
package typealias LegResults = [DeliveryLeg: [String: [UInt8]]]

/// A push for which a channel's answers are not complete.
package struct OpenChannelPush: Sendable, Equatable {
  /// The push with its content.
  package var push: PushRow
  /// The targets with an outcome.
  package var results: LegResults
  /// To whom something may have been sent that is sent at most once, by the kind of token that it goes to.
  package var tried: [UInt8: [RegistrationNumber]] = [:]
  /// Whether its sender recalled it while the channel's service was being asked.
  package var isWithdrawn = false
}
