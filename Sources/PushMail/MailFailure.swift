/// Why the server did not accept a mail.
public struct MailFailure: Error, Sendable, Equatable {
  /// The scope of a failure.
  public enum Reach: Sendable, Equatable {
    /// The server is unavailable or refuses this sender: it accepts no mail now.
    case allMail
    /// A temporary failure of this mail; others may succeed.
    case thisMail
    /// A permanent failure of this mail: it is not retried.
    case thisMailForGood
  }

  /// One line for people.
  public let reason: String
  /// The scope.
  public let reach: Reach

  /// Makes a failure.
  public init(_ reason: String, _ reach: Reach) {
    self.reason = reason
    self.reach = reach
  }
}
