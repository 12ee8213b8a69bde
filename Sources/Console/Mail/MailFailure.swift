/// Why the server did not accept a mail.
package struct MailFailure: Error, Sendable, Equatable {
  /// The scope of a failure.
  package enum Reach: Sendable, Equatable {
    /// The server is unavailable or refuses this sender: it accepts no mail now.
    case allMail
    /// A temporary failure of this mail; others may succeed.
    case thisMail
    /// A permanent failure of this mail: it is not retried.
    case thisMailForGood
  }

  /// One line for people.
  package let reason: String
  /// The scope.
  package let reach: Reach

  /// Makes a failure.
  package init(_ reason: String, _ reach: Reach) {
    self.reason = reason
    self.reach = reach
  }
}
