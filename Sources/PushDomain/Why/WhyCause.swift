import PushBase

/// Why a push did not arrive, or is not seen. The names are part of the API; Docs/why-not-delivered.md explains each. Channels have
/// causes of their own.
public struct WhyCause: Hashable, Sendable {
  /// Its name in the API.
  public let rawValue: String
  /// What to do about it.
  public let remedy: WhyRemedy
  /// What it means, in a sentence.
  public let text: Phrase

  /// A cause with its name in the API, what to do about it, and what it means.
  public init(_ rawValue: String, _ remedy: WhyRemedy, _ english: String, _ chinese: String) {
    self.rawValue = rawValue
    self.remedy = remedy
    text = Phrase(english, chinese)
  }

  /// By name.
  public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// By name.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// All that are no channel's own.
  public static let general = ofSending + ofChannels + ofReceipts + ofConnection
}

extension WhyCause {
  /// The cause for a device that is offline after its connection ended in this way.
  public init(offlineAfter end: ConnectionEnd) {
    self =
      switch end {
      case .unknown, .connected, .registrationReplaced: .offlineUnknown
      case .heartbeatLost: .offlineHeartbeatLost
      case .closedByPeer: .offlineClosed
      case .replacedByLogin: .offlineReplaced
      case .serverDrain, .serverStopped: .offlineServer
      case .appDisabled: .offlineAppDisabled
      case .tooSlow: .offlineTooSlow
      case .protocolError: .offlineProtocolError
      case .loggedOut: .offlineLoggedOut
      case .connectionError: .offlineBroken
      }
  }
}
