import PushBase

extension ReadTransaction {
  /// Whether anybody can log in to the console yet.
  public func hasPeople() throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM person LIMIT 1") { _ in true } ?? false
  }

  /// Everybody, by address.
  public func people() throws(StorageError) -> [PersonRow] {
    try database.all(
      """
      SELECT id, email, name, password, totp, totp_step, language, is_operator, created_at, disabled
      FROM person ORDER BY email
      """, map: Self.person)
  }

  /// The person with an address.
  public func person(email: String) throws(StorageError) -> PersonRow? {
    try database.first(
      """
      SELECT id, email, name, password, totp, totp_step, language, is_operator, created_at, disabled
      FROM person WHERE email = ?
      """, .text(email), map: Self.person)
  }

  /// A person by number.
  public func person(_ id: PersonID) throws(StorageError) -> PersonRow? {
    try database.first(
      """
      SELECT id, email, name, password, totp, totp_step, language, is_operator, created_at, disabled
      FROM person WHERE id = ?
      """, .integer(id.rawValue), map: Self.person)
  }

  /// The accounts that a person belongs to, by name.
  public func memberships(of person: PersonID) throws(StorageError) -> [MembershipRow] {
    try database.all(
      """
      SELECT person_id, account_id, account.name, role FROM membership JOIN account ON account.id = account_id
      WHERE person_id = ? AND account.disabled = 0 ORDER BY account.name, account_id
      """, .integer(person.rawValue)
    ) { row in
      MembershipRow(
        person: PersonID(row.integer(0)), account: AccountID(row.integer(1, as: UInt32.self)),
        accountName: row.text(2), role: Role(rawValue: row.integer(3)) ?? .viewer)
    }
  }

  /// The members of an account, by name.
  public func members(of account: AccountID) throws(StorageError) -> [MemberRow] {
    try database.all(
      """
      SELECT person.id, name, email, role, totp IS NOT NULL FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND disabled = 0 ORDER BY name, person.id
      """, .integer(account.rawValue)
    ) { row in
      MemberRow(
        person: PersonID(row.integer(0)), name: row.text(1), email: row.text(2),
        role: Role(rawValue: row.integer(3)) ?? .viewer, hasTOTP: row.integer(4) != 0)
    }
  }

  /// How many members an account has.
  public func memberCount(of account: AccountID) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM membership JOIN person ON person.id = person_id WHERE account_id = ? AND disabled = 0
      """, .account(account)
    ) { Int($0.integer(0)) } ?? 0
  }

  /// The invitations to an account that hold, newest first. None does any more when whoever made it may not invite.
  public func invitations(to account: AccountID, at now: Timestamp) throws(StorageError) -> [InvitationRow] {
    try database.all(
      """
      SELECT id, account_id, account_name, role, email, expires_at FROM live_invitation
      WHERE account_id = ? AND expires_at > ? ORDER BY id DESC
      """, .integer(account.rawValue), .time(now), map: Self.invitation)
  }

  /// The invitation behind a link, if it holds.
  public func invitation(tokenHash: [UInt8], at now: Timestamp) throws(StorageError) -> InvitationRow? {
    try database.first(
      """
      SELECT id, account_id, account_name, role, email, expires_at FROM live_invitation
      WHERE token_hash = ? AND expires_at > ?
      """, .blob(tokenHash), .time(now), map: Self.invitation)
  }

  /// The session behind a cookie.
  public func consoleSession(tokenHash: [UInt8]) throws(StorageError) -> ConsoleSessionRow? {
    try database.first(
      """
      SELECT id, person_id, created_at, seen_at, address, agent FROM console_session WHERE token_hash = ?
      """, .blob(tokenHash), map: Self.session)
  }

  /// Where a person is logged in, latest first.
  public func consoleSessions(of person: PersonID) throws(StorageError) -> [ConsoleSessionRow] {
    try database.all(
      """
      SELECT id, person_id, created_at, seen_at, address, agent FROM console_session
      WHERE person_id = ? ORDER BY seen_at DESC LIMIT 100
      """, .integer(person.rawValue),
      map: Self.session)
  }

  private static func person(_ row: Statement) -> PersonRow {
    PersonRow(
      id: PersonID(row.integer(0)), email: row.text(1), name: row.text(2), password: row.text(3),
      sealedTOTP: row.optionalBlob(4), totpStep: row.integer(5), language: row.text(6),
      isOperator: row.integer(7) != 0, createdAt: row.time(8), isDisabled: row.integer(9) != 0)
  }

  private static func invitation(_ row: Statement) -> InvitationRow {
    InvitationRow(
      id: row.integer(0), account: AccountID(row.integer(1, as: UInt32.self)), accountName: row.text(2),
      role: Role(rawValue: row.integer(3)) ?? .viewer, email: row.text(4), expiresAt: row.time(5))
  }

  private static func session(_ row: Statement) -> ConsoleSessionRow {
    ConsoleSessionRow(
      id: row.integer(0), person: PersonID(row.integer(1)), createdAt: row.time(2), seenAt: row.time(3),
      address: row.text(4), agent: row.text(5))
  }
}
