import BorealisBase

/// Row number of a person; never reused.
package struct PersonID: Hashable, Sendable {
  /// The database's row number, from 1.
  package let rawValue: Int64

  /// Wraps a row number.
  package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// The roles of an account's members; each includes the rights of those before it.
package enum Role: Int64, CaseIterable, Comparable, Sendable {
  /// Sees everything but secrets.
  case viewer = 1
  /// Sends and recalls.
  case sender = 2
  /// Makes and changes apps, credentials and settings.
  case admin = 3
  /// Invites people and gives roles.
  case owner = 4

  /// By what they may do.
  package static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

/// A person as it is stored.
package struct PersonRow: Sendable, Equatable {
  /// Row number.
  package var id: PersonID
  /// What the person logs in with; compared without regard to the case of ASCII letters.
  package var email: String
  /// For other people.
  package var name: String
  /// The password's hash; empty for a person who has none and logs in with the identity provider.
  package var password: String
  /// The sealed secret of one-time passwords; nil if the password is enough.
  package var sealedTOTP: [UInt8]?
  /// The step of the latest one-time password.
  package var totpStep: Int64
  /// `en` or `zh`.
  package var language: String
  /// Whether this person runs the installation.
  package var isOperator: Bool
  /// When it was made.
  package var createdAt: Timestamp
  /// A disabled person cannot log in.
  package var isDisabled: Bool
  /// Whether the person gets mail about incidents of the apps that the person administers.
  package var wantsIncidentMail: Bool
  /// The identity provider that the person has logged in with; nil for none.
  package var issuer: String?

  /// Whether the person can log in with a password.
  package var hasPassword: Bool { !password.isEmpty }

  /// The name of a person in the audit log: a name alone is ambiguous.
  package var signature: String { "\(name) <\(email)>" }
}

/// A new person.
package struct NewPerson: Sendable {
  /// What the person logs in with.
  package var email: String
  /// For other people.
  package var name: String
  /// The password's hash; empty for a person who has none.
  package var password: String
  /// `en` or `zh`.
  package var language: String
  /// Whether this person runs the installation.
  package var isOperator: Bool

  package init(email: String, name: String, password: String, language: String, isOperator: Bool) {
    self.email = email
    self.name = name
    self.password = password
    self.language = language
    self.isOperator = isOperator
  }

  /// The name of a person in the audit log.
  package var signature: String { "\(name) <\(email)>" }
}

/// A membership in an account.
package struct MembershipRow: Sendable, Equatable {
  package var person: PersonID
  /// Where.
  package var account: AccountID
  /// The account's name.
  package var accountName: String
  package var role: Role
}

/// A role that a person has in an account.
package struct RoleGrant: Sendable, Equatable {
  /// Where.
  package var account: AccountID
  package var role: Role
  /// Whether a claim of the identity provider gives it; otherwise somebody gave it in the console.
  package var isFromClaim: Bool

  package init(account: AccountID, role: Role, isFromClaim: Bool) {
    self.account = account
    self.role = role
    self.isFromClaim = isFromClaim
  }
}

/// A member of an account, for lists.
package struct MemberRow: Sendable, Equatable {
  package var person: PersonID
  /// The person's name and address.
  package var name, email: String
  package var role: Role
  /// Whether one-time passwords are on.
  package var hasTOTP: Bool
  /// Whether a claim of the identity provider gives the role.
  package var isFromClaim: Bool
}

/// An invitation as it is stored.
package struct InvitationRow: Sendable, Equatable {
  /// Row number.
  package var id: Int64
  /// Where to.
  package var account: AccountID
  /// The account's name.
  package var accountName: String
  package var role: Role
  /// Its recipient.
  package var email: String
  /// Until when it holds.
  package var expiresAt: Timestamp
  /// How far its mail has come.
  package var mail: InvitationMail
}

/// How far the mail of an invitation has come.
package struct InvitationMail: Sendable, Equatable {
  /// What was seen of it.
  package enum State: Int64, Sendable {
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
  package var state: State
  /// When that was.
  package var at: Timestamp?
  /// What the mail server said.
  package var note: String?

  package init(_ state: State, at: Timestamp? = nil, note: String? = nil) {
    self.state = state
    self.at = at
    self.note = note
  }
}

/// A browser that is logged in.
package struct ConsoleSessionRow: Sendable, Equatable {
  /// Row number.
  package var id: Int64
  /// Whose it is.
  package var person: PersonID
  /// When the person logged in, and was last seen, to about a minute.
  package var createdAt, seenAt: Timestamp
  /// Where from.
  package var address: String
  /// What the browser calls itself.
  package var agent: String
}
