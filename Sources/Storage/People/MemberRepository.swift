import BorealisBase

/// Who belongs to which account, in which role.
package struct MemberRepository<Access>: Repository {
  let database: Database
}

extension MemberRepository {
  /// Who gets mail about an account: its members from a role upwards, by number, without a person who knows.
  package func recipients(
    of account: AccountID, from role: Role, besides person: PersonID? = nil
  ) throws(StorageError) -> [MailRecipient] {
    let known: Int64 = person?.rawValue ?? 0
    return try database.all(
      """
      SELECT email, name, language FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND role >= ? AND disabled = 0 AND person.id <> ? ORDER BY person.id
      """, .account(account), .integer(role.rawValue), .integer(known), map: Self.recipient)
  }

  /// The members from administrators up who get mail about incidents of an account's apps.
  package func incidentRecipients(of account: AccountID) throws(StorageError) -> [MailRecipient] {
    try database.all(
      """
      SELECT email, name, language FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND role >= ? AND disabled = 0 AND incident_mail = 1 ORDER BY person.id
      """, .account(account), .integer(Role.admin.rawValue), map: Self.recipient)
  }

  private static func recipient(_ row: Row) -> MailRecipient {
    MailRecipient(email: row.text("email"), name: row.text("name"), language: row.text("language"))
  }

  /// What a person may do in an account; nil for somebody who is no member, or is disabled.
  package func role(of person: PersonID, in account: AccountID) throws(StorageError) -> Role? {
    try database.first(
      """
      SELECT role FROM membership JOIN person ON person.id = person_id
      WHERE person_id = ? AND account_id = ? AND disabled = 0
      """, .integer(person.rawValue), .account(account)
    ) { Role(rawValue: $0.integer("role")) } ?? nil
  }

  /// The accounts that a person belongs to, by name.
  package func memberships(of person: PersonID) throws(StorageError) -> [MembershipRow] {
    try database.all(
      """
      SELECT person_id, account_id, account.name, role FROM membership JOIN account ON account.id = account_id
      WHERE person_id = ? AND account.disabled = 0 ORDER BY account.name, account_id
      """, .integer(person.rawValue)
    ) { row in
      MembershipRow(
        person: PersonID(row.integer("person_id")), account: row.account("account_id"),
        accountName: row.text("name"), role: Role(rawValue: row.integer("role")) ?? .viewer)
    }
  }

  /// All roles of a person, also in accounts that are turned off, by account.
  package func grants(of person: PersonID) throws(StorageError) -> [RoleGrant] {
    try database.all(
      "SELECT account_id, role, from_claim FROM membership WHERE person_id = ? ORDER BY account_id",
      .integer(person.rawValue)
    ) { row in
      RoleGrant(
        account: row.account("account_id"), role: Role(rawValue: row.integer("role")) ?? .viewer,
        isFromClaim: row.bool("from_claim"))
    }
  }

  /// The names of the accounts that a person belongs to and that are turned off.
  package func suspendedAccounts(of person: PersonID) throws(StorageError) -> [AccountID: String] {
    let rows = try database.all(
      """
      SELECT account_id, account.name FROM membership JOIN account ON account.id = account_id
      WHERE person_id = ? AND account.disabled = 1
      """, .integer(person.rawValue)
    ) { ($0.account("account_id"), $0.text("name")) }
    return Dictionary(rows) { first, _ in first }
  }

  /// The members of an account, by name.
  package func all(of account: AccountID) throws(StorageError) -> [MemberRow] {
    try database.all(
      """
      SELECT person.id, name, email, role, totp IS NOT NULL AS has_totp, from_claim
      FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND disabled = 0 ORDER BY name, person.id
      """, .integer(account.rawValue)
    ) { row in
      MemberRow(
        person: PersonID(row.integer("id")), name: row.text("name"), email: row.text("email"),
        role: Role(rawValue: row.integer("role")) ?? .viewer, hasTOTP: row.bool("has_totp"),
        isFromClaim: row.bool("from_claim"))
    }
  }

  /// How many members an account has.
  package func count(of account: AccountID) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM membership JOIN person ON person.id = person_id WHERE account_id = ? AND disabled = 0
      """, .account(account)
    ) { $0.count() } ?? 0
  }
}

extension MemberRepository<Writing> {
  /// Adds a member, or changes a member's role.
  package func setRole(
    of person: PersonID, in account: AccountID, _ role: Role, isFromClaim: Bool = false
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO membership (person_id, account_id, role, from_claim) VALUES (?, ?, ?, ?)
      ON CONFLICT (person_id, account_id) DO UPDATE SET role = excluded.role, from_claim = excluded.from_claim
      """, .integer(person.rawValue), .integer(account.rawValue), .integer(role.rawValue),
      .integer(isFromClaim ? 1 : 0))
  }

  /// Adds a member, or raises a member's role: an invitation never lowers it.
  package func join(_ person: PersonID, to account: AccountID, as role: Role) throws(StorageError) {
    try database.run(
      """
      INSERT INTO membership (person_id, account_id, role) VALUES (?, ?, ?)
      ON CONFLICT (person_id, account_id) DO UPDATE SET role = excluded.role, from_claim = 0
      WHERE membership.role < excluded.role
      """, .integer(person.rawValue), .integer(account.rawValue), .integer(role.rawValue))
  }

  /// Ends a membership; false if there was none.
  package func remove(_ person: PersonID, from account: AccountID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM membership WHERE person_id = ? AND account_id = ?", .integer(person.rawValue),
      .integer(account.rawValue))
    return database.changes > 0
  }

  /// The owners of an account besides a person: the last one cannot leave.
  package func owners(of account: AccountID, besides person: PersonID) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND role = 4 AND person_id <> ? AND disabled = 0
      """, .integer(account.rawValue), .integer(person.rawValue)
    ) { $0.count() } ?? 0
  }
}
