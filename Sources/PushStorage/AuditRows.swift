import PushBase

/// What somebody did.
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

extension ReadTransaction {
  /// What was done, newest first: at most `limit` entries, older than `before` if that is given.
  public func audit(
    _ scope: AuditScope, before: Int64?, limit: Int
  ) throws(StorageError) -> [(id: Int64, entry: AuditRow)] {
    let oldest: Int64 = before ?? .max
    switch scope {
    case .account(let account):
      return try database.all(
        """
        SELECT id, at, account_id, subject_app, person_id, who, action, target, address FROM audit
        WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?
        """, .integer(account.rawValue), .integer(oldest), .integer(limit), map: Self.auditEntry)
    case .person(let person):
      return try database.all(
        """
        SELECT id, at, account_id, subject_app, person_id, who, action, target, address FROM audit
        WHERE person_id = ? AND id < ? ORDER BY id DESC LIMIT ?
        """, .integer(person.rawValue), .integer(oldest), .integer(limit), map: Self.auditEntry)
    case .installation:
      // The index is named since without it the whole log might be looked through.
      return try database.all(
        """
        SELECT id, at, account_id, subject_app, person_id, who, action, target, address
        FROM audit INDEXED BY audit_installation
        WHERE (account_id IS NULL OR action GLOB 'account.*') AND id < ? ORDER BY id DESC LIMIT ?
        """, .integer(oldest), .integer(limit), map: Self.auditEntry)
    }
  }

  /// The same with the apps that the entries are about.
  public func auditList(_ scope: AuditScope, before: Int64?, limit: Int) throws(StorageError) -> AuditList {
    let entries = try audit(scope, before: before, limit: limit)
    var apps: [AppID: AppName] = [:]
    for app in Set(entries.compactMap(\.entry.app)) { apps[app] = try appName(app, in: scope) }
    return AuditList(entries: entries, apps: apps)
  }

  /// What an app is called, for those who may see the account it is in.
  private func appName(_ app: AppID, in scope: AuditScope) throws(StorageError) -> AppName? {
    let name: (Statement) -> AppName? = { row in
      AppKey(row.text(0)).map { AppName(key: $0, name: row.text(1)) }
    }
    switch scope {
    case .installation:
      return try database.first("SELECT app_key, name FROM app WHERE id = ?", .app(app), map: name) ?? nil
    case .account(let account):
      return try database.first(
        "SELECT app_key, name FROM app WHERE id = ? AND account_id = ?", .app(app), .account(account),
        map: name)
        ?? nil
    case .person(let person):
      return try database.first(
        """
        SELECT app_key, name FROM app WHERE id = ?
          AND account_id IN (SELECT account_id FROM membership WHERE person_id = ?)
        """, .app(app), .integer(person.rawValue), map: name) ?? nil
    }
  }

  private static func auditEntry(_ row: Statement) -> (id: Int64, entry: AuditRow) {
    (
      row.integer(0),
      AuditRow(
        at: row.time(1), account: row.optionalInteger(2).map { AccountID(UInt32(truncatingIfNeeded: $0)) },
        app: row.optionalInteger(3).map { AppID(UInt32(truncatingIfNeeded: $0)) },
        person: row.optionalInteger(4).map { PersonID($0) }, who: row.text(5), action: row.text(6),
        target: row.text(7), address: row.text(8))
    )
  }
}

extension WriteTransaction {
  /// Notes what somebody did.
  public func audit(_ entry: AuditRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO audit (at, account_id, subject_app, person_id, who, action, target, address)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, .time(entry.at), .optional(entry.account?.rawValue), .optional(entry.app?.rawValue),
      .optional(entry.person?.rawValue), .text(entry.who), .text(entry.action), .text(entry.target),
      .text(entry.address))
  }
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
