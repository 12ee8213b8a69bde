import PushBase
import PushDomain

/// For whom each outcome of a push's legs stands, in the router's encoding.
public typealias LegResults = [DeliveryLeg: [String: [UInt8]]]

/// A push for which a channel's answers are not complete.
public struct OpenChannelPush: Sendable, Equatable {
  /// The push with its content.
  public var push: PushRow
  /// For whom there is an outcome.
  public var results: LegResults
  /// Whose calls and starts of Live Activities may have been sent, by kind of token.
  public var tried: [APNsTokenKind: [RegistrationNumber]] = [:]
  /// Whether its sender took it back while the channel's service was being asked.
  public var isTakenBack = false
}
