/// What may be wrong with an app. The raw values are stored in the database.
package enum TroubleKind: UInt8, Sendable, CaseIterable {
  /// A channel sends nothing until somebody acts: its credential is paused or cannot be opened.
  case stopped = 1
  /// No connection to a channel's service can be made.
  case unreachable = 2
  /// The tokens that a channel's service refuses make the credential look like another app's.
  case doubted = 3
  /// A channel's service takes no more for now: a quota is used up.
  case quota = 4
  /// A channel's credential ends soon.
  case expiring = 5
  /// The plan allows no more pushes to everyone today.
  case broadcasts = 6
  /// The plan allows no more registrations.
  case registrations = 7
  /// Callbacks have waited for a long time.
  case callbacks = 8
  /// A push went to a share of its audience, and the rest did not get it.
  case canary = 9

  /// Whether it is something that happened once: nothing is over when it needs no attention any more.
  package var isEvent: Bool { self == .canary }

  /// Whether it is an incident. A credential that ends soon is not: there are reminders for that.
  package var isIncident: Bool { self != .expiring }

  /// Whether only this process's memory knows of it, so that after a start nothing is known.
  package var isSeenInMemory: Bool { [.unreachable, .doubted, .quota].contains(self) }
}
