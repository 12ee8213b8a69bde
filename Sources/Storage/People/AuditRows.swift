import BorealisBase

/// An entry of the audit log.
package struct AuditRow: Sendable, Equatable {
  /// When.
  package var at: Timestamp
  /// Whose affair it was; nil for the installation's.
  package var account: AccountID?
  /// Which app it was about, if one.
  package var app: AppID?
  /// Who did it, if it was a person.
  package var person: PersonID?
  /// The name at that time with the person's address, such as `Zoe <zoe@example.com>`: a name alone is
  /// anybody's.
  package var who: String
  /// A word of the program's, such as `app.create`.
  package var action: String
  /// What it was done to, for people.
  package var target: String
  /// Where from.
  package var address: String

  package init(
    at: Timestamp, account: AccountID?, app: AppID? = nil, person: PersonID?, who: String, action: String,
    target: String, address: String
  ) {
    self.at = at
    self.account = account
    self.app = app
    self.person = person
    self.who = who
    self.action = action
    self.target = target
    self.address = address
  }
}

/// A list out of what was done.
package enum AuditScope: Sendable, Equatable {
  /// In an account.
  case account(AccountID)
  /// To the installation: what belongs to no account, and what operators did to accounts.
  case installation
  /// By a person.
  case person(PersonID)
}

/// Which entries of the audit log are looked for. What is not set asks for nothing.
package struct AuditFilter: Sendable, Equatable {
  /// No older than this.
  package var from: Timestamp?
  /// Older than this.
  package var end: Timestamp?
  /// About this app.
  package var app: AppID?
  /// A word of the program's, such as `app.create`.
  package var action = ""
  /// Part of the name or the address of who did it, in upper or lower case.
  package var who = ""

  /// All entries.
  package init() {}

  private var isEmpty: Bool { self == AuditFilter() }

  /// How many entries are read at a time to find `limit`.
  func step(_ limit: Int) -> Int { isEmpty ? limit : max(limit, 500) }

  func matches(_ entry: AuditRow) -> Bool {
    if let from, entry.at < from { return false }
    if let end, entry.at >= end { return false }
    if let app, entry.app != app { return false }
    if !action.isEmpty, entry.action != action { return false }
    return who.isEmpty || entry.who.lowercased().contains(who.lowercased())
  }
}

/// A part of the audit log.
package struct AuditList: Sendable {
  /// The entries with their numbers, newest first.
  package let entries: [(id: Int64, entry: AuditRow)]
  /// Where the list continues: older than this. Nil when there are no more. It may be set without any entry:
  /// then as many were looked at as one call looks at.
  package let next: Int64?
  /// The apps that they are about, deleted ones too.
  package let apps: [AppID: AppName]
}

/// What an app is called, also when it was deleted.
package struct AppName: Sendable, Equatable {
  package let key: AppKey
  package let name: String
}
