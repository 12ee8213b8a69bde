import PushBase

/// An entry of the audit log.
public struct AuditRow: Sendable, Equatable {
  /// When.
  public var at: Timestamp
  /// Whose affair it was; nil for the installation's.
  public var account: AccountID?
  /// Which app it was about, if one.
  public var app: AppID?
  /// Who did it, if it was a person.
  public var person: PersonID?
  /// The name at that time with the person's address, such as `Zoe <zoe@example.com>`: a name alone is anybody's.
  public var who: String
  /// A word of the program's, such as `app.create`.
  public var action: String
  /// What it was done to, for people.
  public var target: String
  /// Where from.
  public var address: String

  /// All fields.
  public init(
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
public enum AuditScope: Sendable, Equatable {
  /// In an account.
  case account(AccountID)
  /// To the installation: what belongs to no account, and what operators did to accounts.
  case installation
  /// By a person.
  case person(PersonID)
}

/// A part of the audit log.
public struct AuditList: Sendable {
  /// The entries with their numbers, newest first.
  public var entries: [(id: Int64, entry: AuditRow)]
  /// The apps that they are about, deleted ones too.
  public let apps: [AppID: AppName]
}

/// What an app is called, also when it was deleted.
public struct AppName: Sendable, Equatable {
  /// Its key.
  public let key: AppKey
  /// Its name.
  public let name: String
}
