/// Why a mail was not taken.
public struct MailFailure: Error, Sendable, Equatable {
  /// What a failure means for this mail and for others.
  public enum Reach: Sendable, Equatable {
    /// The server is out of order, or objects to us: no mail would be taken now.
    case allMail
    /// This mail is not taken now; others may be.
    case thisMail
    /// This mail is refused for good, so that asking again is of no use.
    case thisMailForGood
  }

  /// One line for people.
  public let reason: String
  /// What it means for this mail and for others.
  public let reach: Reach

  /// Both fields.
  public init(_ reason: String, _ reach: Reach) {
    self.reason = reason
    self.reach = reach
  }
}
