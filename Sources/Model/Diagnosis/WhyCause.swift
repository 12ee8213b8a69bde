import BorealisBase

/// Why a push did not arrive, or is not seen. The names are part of the API; Docs/why-not-delivered.md
/// explains each. Channels have causes of their own.
package struct WhyCause: Hashable, Sendable {
  /// Its name in the API.
  package let rawValue: String
  /// What to do about it.
  package let remedy: WhyRemedy
  /// What it means, in a sentence.
  package let text: Phrase

  /// A cause with its name in the API, what to do about it, and what it means.
  package init(_ rawValue: String, _ remedy: WhyRemedy, _ english: String, _ chinese: String) {
    self.rawValue = rawValue
    self.remedy = remedy
    text = Phrase(english, chinese)
  }

  /// By name.
  package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// By name.
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// All that are no channel's own.
  package static let general = ofSending + ofChannels + ofReceipts + ofConnection
}

extension WhyCause {
  /// The cause for a device that is offline after its connection ended in this way.
  package init(offlineAfter end: ConnectionEnd) {
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
