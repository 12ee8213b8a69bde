import PushBase

extension WriteTransaction {
  /// Adds a person. `.constraint` if somebody has the address.
  public func addPerson(_ new: NewPerson, at now: Timestamp) throws(StorageError) -> PersonID {
    try database.run(
      "INSERT INTO person (email, name, password, language, is_operator, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      .text(new.email), .text(new.name), .text(new.password), .text(new.language),
      .integer(new.isOperator ? 1 : 0), .time(now))
    return PersonID(database.lastInsertedRow)
  }

  /// Changes a person's name and language.
  public func setProfile(of person: PersonID, name: String, language: String) throws(StorageError) {
    try database.run(
      "UPDATE person SET name = ?, language = ? WHERE id = ?", .text(name), .text(language),
      .integer(person.rawValue))
  }

  /// Says whether a person runs the installation; false if that was so before.
  public func setOperator(_ person: PersonID, _ isOperator: Bool) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE person SET is_operator = ?1 WHERE id = ?2 AND is_operator <> ?1", .integer(isOperator ? 1 : 0),
      .integer(person.rawValue))
    return database.changes > 0
  }

  /// Changes a person's password and ends all sessions but one.
  public func setPassword(of person: PersonID, _ hash: String, keeping session: Int64?) throws(StorageError) {
    try database.run("UPDATE person SET password = ? WHERE id = ?", .text(hash), .integer(person.rawValue))
    try database.run(
      "DELETE FROM console_session WHERE person_id = ? AND id IS NOT ?", .integer(person.rawValue),
      .optional(session))
    // Links that were mailed before end with the old password.
    try database.run("DELETE FROM password_reset WHERE person_id = ?", .integer(person.rawValue))
  }

  /// Turns one-time passwords on with a sealed secret, or off with nil.
  public func setTOTP(of person: PersonID, sealed: [UInt8]?, step: Int64) throws(StorageError) {
    try database.run(
      "UPDATE person SET totp = ?, totp_step = ? WHERE id = ?", .optional(sealed), .integer(step),
      .integer(person.rawValue))
  }

  /// Notes that the code of a step was used; false if it, or a later one, was before: two browsers may try the same one.
  public func useTOTP(of person: PersonID, step: Int64) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE person SET totp_step = ?1 WHERE id = ?2 AND totp_step < ?1", .integer(step),
      .integer(person.rawValue))
    return database.changes > 0
  }

  /// Makes somebody a member, or gives a member another role.
  public func setRole(of person: PersonID, in account: AccountID, _ role: Role) throws(StorageError) {
    try database.run(
      """
      INSERT INTO membership (person_id, account_id, role) VALUES (?, ?, ?)
      ON CONFLICT (person_id, account_id) DO UPDATE SET role = excluded.role
      """, .integer(person.rawValue), .integer(account.rawValue), .integer(role.rawValue))
  }

  /// Makes somebody a member, or gives a member the role if it is more than the present one: an invitation takes nothing.
  public func join(_ person: PersonID, to account: AccountID, as role: Role) throws(StorageError) {
    try database.run(
      """
      INSERT INTO membership (person_id, account_id, role) VALUES (?, ?, ?)
      ON CONFLICT (person_id, account_id) DO UPDATE SET role = max(role, excluded.role)
      """, .integer(person.rawValue), .integer(account.rawValue), .integer(role.rawValue))
  }

  /// Ends a membership; false if there was none.
  public func removeMember(_ person: PersonID, from account: AccountID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM membership WHERE person_id = ? AND account_id = ?", .integer(person.rawValue),
      .integer(account.rawValue))
    return database.changes > 0
  }

  /// Owners that an account has besides somebody: the last one cannot leave.
  public func owners(of account: AccountID, besides person: PersonID) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND role = 4 AND person_id <> ? AND disabled = 0
      """, .integer(account.rawValue), .integer(person.rawValue)
    ) { Int($0.integer(0)) } ?? 0
  }

  /// Adds an invitation, in place of one to the same address.
  public func invite(
    tokenHash: [UInt8], to account: AccountID, as role: Role, email: String, by person: PersonID,
    at now: Timestamp, expiresAt: Timestamp
  ) throws(StorageError) {
    try database.run(
      "DELETE FROM invitation WHERE account_id = ? AND email = ?", .integer(account.rawValue), .text(email))
    try database.run(
      """
      INSERT INTO invitation (token_hash, account_id, role, email, invited_by, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, .blob(tokenHash), .integer(account.rawValue), .integer(role.rawValue), .text(email),
      .integer(person.rawValue), .time(now), .time(expiresAt))
  }

  /// Takes an invitation to an account away: it was used or is taken back. False if it is gone.
  public func removeInvitation(_ id: Int64, to account: AccountID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM invitation WHERE id = ? AND account_id = ?", .integer(id), .integer(account.rawValue))
    return database.changes > 0
  }

  /// Logs a browser in.
  public func addConsoleSession(
    tokenHash: [UInt8], of person: PersonID, address: String, agent: String, at now: Timestamp
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO console_session (token_hash, person_id, created_at, seen_at, address, agent)
      VALUES (?1, ?2, ?3, ?3, ?4, ?5)
      """, .blob(tokenHash), .integer(person.rawValue), .time(now), .text(address), .text(agent))
  }

  /// Notes that a session is in use.
  public func touchConsoleSession(_ id: Int64, at now: Timestamp) throws(StorageError) {
    try database.run("UPDATE console_session SET seen_at = ? WHERE id = ?", .time(now), .integer(id))
  }

  /// Logs a browser of a person out; false if it was already.
  public func endConsoleSession(_ id: Int64, of person: PersonID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM console_session WHERE id = ? AND person_id = ?", .integer(id), .integer(person.rawValue))
    return database.changes > 0
  }

  /// Deletes sessions that were not used since one moment or began before another, invitations that ended, and what was
  /// done before a third; at most `limit` of each.
  public func sweepPeople(
    unusedSince: Timestamp, begunBefore: Timestamp, doneBefore: Timestamp, at now: Timestamp, limit: Int
  ) throws(StorageError) {
    try database.run(
      """
      DELETE FROM console_session WHERE id IN (
        SELECT id FROM console_session WHERE seen_at < ? OR created_at < ? LIMIT ?)
      """, .time(unusedSince), .time(begunBefore), .integer(limit))
    try database.run(
      "DELETE FROM invitation WHERE id IN (SELECT id FROM invitation WHERE expires_at < ? LIMIT ?)",
      .time(now),
      .integer(limit))
    try database.run(
      "DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id LIMIT ?2) AND at < ?1",
      .time(doneBefore),
      .integer(limit))
  }
}
