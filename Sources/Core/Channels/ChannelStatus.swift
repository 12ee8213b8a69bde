import BorealisBase
import Model

/// What was seen of the connections to a channel's service since the server started.
package enum ChannelHealth: Sendable, Equatable {
  /// No connection was attempted yet.
  case unused
  /// There is a connection, since this moment.
  case connected(since: Timestamp)
  /// There is none now, and the latest, until this moment, ended as it should.
  case idle(since: Timestamp)
  /// No connection can be made since this moment, for this reason.
  case unreachable(since: Timestamp, reason: String)
}

/// The status of a channel's service for an app.
package struct ChannelStatus: Sendable, Equatable {
  package let channel: ChannelID
  /// Which of its services: for APNs `production` or `sandbox`; empty for a channel that has only one.
  package let service: String
  /// The problem, for people; nil if sending is not stopped.
  package var problem: Phrase?
  /// The services that send nothing until somebody acts, since the app's credential for them is paused or
  /// unusable: what only rests, or cannot be reached, goes on by itself.
  package var stopped: ServiceSet = []
  /// Whether the app has a credential for it at all.
  package var hasCredential: Bool
  /// Connections that take requests; other apps may use them as well.
  package var connections = 0
  /// Requests that have no answer yet, of all who use these connections.
  package var inFlight = 0
  /// What was seen of the connections.
  package var health = ChannelHealth.unused
  /// When there was a connection last; nil if there was none since the server started.
  package var lastConnectedAt: Timestamp?
  /// Why the latest connection failed; nil if none has.
  package var lastFailure: String?
  /// When that was.
  package var lastFailureAt: Timestamp?

  /// A service without anything known of it.
  package init(_ channel: ChannelID, service: String = "", problem: Phrase? = nil, hasCredential: Bool = true)
  {
    self.channel = channel
    self.service = service
    self.problem = problem
    self.hasCredential = hasCredential
  }

  /// The state in one word: `no credential`, `stopped` (nothing is sent until somebody resumes),
  /// `unreachable` (no connection can be made), `ready` (the latest connection succeeded) or `unused` (none
  /// was attempted since the server started).
  package var state: String {
    if !hasCredential { return "no credential" }
    if problem != nil { return "stopped" }
    return switch health {
    case .unused: "unused"
    case .connected, .idle: "ready"
    case .unreachable: "unreachable"
    }
  }
}
