import PushBase

/// Row number of a person; never reused.
public struct PersonID: Hashable, Sendable {
  /// The database's row number, from 1.
  public let rawValue: Int64

  /// Wraps a row number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// The roles of an account's members; each includes the rights of those before it.
public enum Role: Int64, CaseIterable, Comparable, Sendable {
  /// Sees everything but secrets.
  case viewer = 1
  /// Sends, and takes back.
  case sender = 2
  /// Makes and changes apps, credentials and settings.
  case admin = 3
  /// Invites people and gives roles.
  case owner = 4

  /// By what they may do.
  public static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

/// A person as it is stored.
public struct PersonRow: Sendable, Equatable {
  /// Row number.
  public var id: PersonID
  /// What the person logs in with; compared without regard to the case of ASCII letters.
  public var email: String
  /// For other people.
  public var name: String
  /// The password's hash.
  public var password: String
  /// The sealed secret of one-time passwords; nil if the password is enough.
  public var sealedTOTP: [UInt8]?
  /// The step of the latest one-time password.
  public var totpStep: Int64
  /// `en` or `zh`.
  public var language: String
  /// Whether this person runs the installation.
  public var isOperator: Bool
  /// When it was made.
  public var createdAt: Timestamp
  /// A disabled person cannot log in.
  public var isDisabled: Bool
}

/// A new person.
public struct NewPerson: Sendable {
  /// What the person logs in with.
  public var email: String
  /// For other people.
  public var name: String
  /// The password's hash.
  public var password: String
  /// `en` or `zh`.
  public var language: String
  /// Whether this person runs the installation.
  public var isOperator: Bool

  /// All fields.
  public init(email: String, name: String, password: String, language: String, isOperator: Bool) {
    self.email = email
    self.name = name
    self.password = password
    self.language = language
    self.isOperator = isOperator
  }
}

/// A membership in an account.
public struct MembershipRow: Sendable, Equatable {
  /// Who.
  public var person: PersonID
  /// Where.
  public var account: AccountID
  /// The account's name.
  public var accountName: String
  /// As what.
  public var role: Role
}

/// A member of an account, for lists.
public struct MemberRow: Sendable, Equatable {
  /// Who.
  public var person: PersonID
  /// The person's name and address.
  public var name, email: String
  /// As what.
  public var role: Role
  /// Whether one-time passwords are on.
  public var hasTOTP: Bool
}

/// An invitation as it is stored.
public struct InvitationRow: Sendable, Equatable {
  /// Row number.
  public var id: Int64
  /// Where to.
  public var account: AccountID
  /// The account's name.
  public var accountName: String
  /// As what.
  public var role: Role
  /// Its recipient.
  public var email: String
  /// Until when it holds.
  public var expiresAt: Timestamp
  /// How far its mail has come.
  public var mail: InvitationMail
}

/// How far the mail of an invitation has come.
public struct InvitationMail: Sendable, Equatable {
  /// What was seen of it.
  public enum State: Int64, Sendable {
    /// It is from a version that did not note it.
    case unknown = 0
    /// It was not mailed: the link was shown instead.
    case notMailed = 1
    /// It waits for the mail server.
    case queued = 2
    /// The mail server has taken it.
    case handedOver = 3
    /// It was given up.
    case refused = 4
    /// The server stopped before it was sent.
    case lost = 5
  }

  /// What was seen.
  public var state: State
  /// When that was.
  public var at: Timestamp?
  /// What the mail server said.
  public var note: String?

  /// All fields.
  public init(_ state: State, at: Timestamp? = nil, note: String? = nil) {
    self.state = state
    self.at = at
    self.note = note
  }
}

/// A browser that is logged in.
public struct ConsoleSessionRow: Sendable, Equatable {
  /// Row number.
  public var id: Int64
  /// Whose it is.
  public var person: PersonID
  /// When the person logged in, and was last seen, to about a minute.
  public var createdAt, seenAt: Timestamp
  /// Where from.
  public var address: String
  /// What the browser calls itself.
  public var agent: String
}
