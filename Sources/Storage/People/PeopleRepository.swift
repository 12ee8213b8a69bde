import BorealisBase

/// People who may log in to the console.
package struct PeopleRepository<Access>: Repository {
  let database: Database
}

extension PeopleRepository {
  private static var selectPerson: StaticString {
    """
    SELECT id, email, name, password, totp, totp_step, language, is_operator, created_at, disabled,
      incident_mail, oidc_issuer FROM person
    """
  }

  /// Whose password a link may change, if it holds.
  package func passwordReset(tokenHash: [UInt8], at now: Timestamp) throws(StorageError) -> PersonID? {
    try database.first(
      """
      SELECT person_id FROM password_reset JOIN person ON person.id = person_id
      WHERE token_hash = ? AND expires_at > ? AND replaced = 0 AND disabled = 0
      """, .blob(tokenHash), .time(now)
    ) { PersonID($0.integer()) }
  }

  /// Whether anybody can log in to the console yet.
  package func isAny() throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM person LIMIT 1") { _ in true } ?? false
  }

  /// Everybody, by address.
  package func all() throws(StorageError) -> [PersonRow] {
    try database.all(
      Self.selectPerson, "ORDER BY {sqlite email COLLATE NOCASE}{postgres lower(email)}", map: Self.person)
  }

  /// Those who run the installation, by address.
  package func operators() throws(StorageError) -> [PersonRow] {
    try all().filter { $0.isOperator && !$0.isDisabled }
  }

  /// The person with an address.
  package func find(email: String) throws(StorageError) -> PersonRow? {
    try database.first(
      Self.selectPerson,
      "WHERE {sqlite email COLLATE NOCASE = ?}{postgres lower(email) = lower(? COLLATE \"C\")}",
      .text(email), map: Self.person)
  }

  /// A person by number.
  package func find(_ id: PersonID) throws(StorageError) -> PersonRow? {
    try database.first(
      Self.selectPerson, "WHERE id = ?", .integer(id.rawValue), map: Self.person)
  }

  /// The person that an identity provider knows as a subject.
  package func find(issuer: String, subject: String) throws(StorageError) -> PersonRow? {
    try database.first(
      Self.selectPerson, "WHERE oidc_issuer = ? AND oidc_subject = ?", .text(issuer), .text(subject),
      map: Self.person)
  }

  /// Recovery codes that a person has left.
  package func recoveryCodes(of person: PersonID) throws(StorageError) -> Int {
    try database.first("SELECT count(*) FROM recovery_code WHERE person_id = ?", .integer(person.rawValue)) {
      $0.count()
    } ?? 0
  }

  private static func person(_ row: Row) -> PersonRow {
    PersonRow(
      id: PersonID(row.integer("id")), email: row.text("email"), name: row.text("name"),
      password: row.text("password"),
      sealedTOTP: row.optionalBlob("totp"), totpStep: row.integer("totp_step"),
      language: row.text("language"),
      isOperator: row.bool("is_operator"), createdAt: row.time("created_at"),
      isDisabled: row.bool("disabled"), wantsIncidentMail: row.bool("incident_mail"),
      issuer: row.optionalText("oidc_issuer"))
  }
}

extension PeopleRepository<Writing> {
  /// Adds a link for a new password, which ends those before it, unless the person was given `limit` of them
  /// that are not over yet; returns whether it did.
  package func addPasswordReset(
    tokenHash: [UInt8], of person: PersonID, at now: Timestamp, expiresAt: Timestamp, limit: Int
  ) throws(StorageError) -> Bool {
    try database.run("DELETE FROM password_reset WHERE expires_at <= ?", .time(now))
    try database.run(
      """
      INSERT INTO password_reset (token_hash, person_id, created_at, expires_at)
      SELECT ?1, ?2, ?3, ?4 WHERE (SELECT count(*) FROM password_reset WHERE person_id = ?2) < ?5
      """, .blob(tokenHash), .integer(person.rawValue), .time(now), .time(expiresAt), .integer(limit))
    guard database.changes > 0 else { return false }
    try database.run(
      "UPDATE password_reset SET replaced = 1 WHERE person_id = ? AND token_hash <> ?",
      .integer(person.rawValue),
      .blob(tokenHash))
    return true
  }

  /// Deletes all links of a person; false if there were none.
  package func removePasswordResets(of person: PersonID) throws(StorageError) -> Bool {
    try database.run("DELETE FROM password_reset WHERE person_id = ?", .integer(person.rawValue))
    return database.changes > 0
  }

  /// Adds a person. `isProven` says whether mail to the address has reached the person. `.constraint` if
  /// another person has the address.
  package func add(
    _ new: NewPerson, isProven: Bool = true, at now: Timestamp
  ) throws(StorageError) -> PersonID {
    let id = try database.insert(
      """
      INSERT INTO person (email, name, password, language, is_operator, created_at, is_proven)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, .text(new.email), .text(new.name), .text(new.password), .text(new.language),
      .integer(new.isOperator ? 1 : 0), .time(now), .integer(isProven ? 1 : 0))
    return PersonID(id)
  }

  /// Records that mail to a person's address has reached the person; false if that was known.
  package func prove(_ person: PersonID) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE person SET is_proven = 1 WHERE id = ? AND is_proven = 0", .integer(person.rawValue))
    return database.changes > 0
  }

  /// Records what an identity provider knows a person as, in place of what was recorded before. `.constraint`
  /// if that is another person.
  package func setIdentity(of person: PersonID, issuer: String, subject: String) throws(StorageError) {
    try database.run(
      "UPDATE person SET oidc_issuer = ?, oidc_subject = ? WHERE id = ?", .text(issuer), .text(subject),
      .integer(person.rawValue))
  }

  /// Forgets what an identity provider knows a person as.
  package func removeIdentity(of person: PersonID) throws(StorageError) {
    try database.run(
      "UPDATE person SET oidc_issuer = NULL, oidc_subject = NULL WHERE id = ?", .integer(person.rawValue))
  }

  /// Changes a person's name and language.
  package func setProfile(of person: PersonID, name: String, language: String) throws(StorageError) {
    try database.run(
      "UPDATE person SET name = ?, language = ? WHERE id = ?", .text(name), .text(language),
      .integer(person.rawValue))
  }

  /// Sets whether a person gets mail about incidents of the apps that the person administers.
  package func setIncidentMail(of person: PersonID, _ isWanted: Bool) throws(StorageError) {
    try database.run(
      "UPDATE person SET incident_mail = ? WHERE id = ?", .integer(isWanted ? 1 : 0),
      .integer(person.rawValue))
  }

  /// Says whether a person runs the installation; false if that was so before.
  package func setOperator(_ person: PersonID, _ isOperator: Bool) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE person SET is_operator = ?1 WHERE id = ?2 AND is_operator <> ?1", .integer(isOperator ? 1 : 0),
      .integer(person.rawValue))
    return database.changes > 0
  }

  /// Changes a person's password, or removes it with an empty text, and ends all sessions but one.
  package func setPassword(of person: PersonID, _ hash: String, keeping session: Int64?) throws(StorageError)
  {
    try database.run("UPDATE person SET password = ? WHERE id = ?", .text(hash), .integer(person.rawValue))
    try database.run(
      "DELETE FROM console_session WHERE person_id = ? AND id IS DISTINCT FROM ?", .integer(person.rawValue),
      .optional(session))
    // Links that were mailed before end with the old password.
    try database.run("DELETE FROM password_reset WHERE person_id = ?", .integer(person.rawValue))
  }

  /// Turns one-time passwords on with a sealed secret, or off with nil.
  package func setTOTP(of person: PersonID, sealed: [UInt8]?, step: Int64) throws(StorageError) {
    try database.run(
      "UPDATE person SET totp = ?, totp_step = ? WHERE id = ?", .optional(sealed), .integer(step),
      .integer(person.rawValue))
    // They belong to one authenticator app.
    try setRecoveryCodes(of: person, [])
  }

  /// Seals the secret of a person's one-time passwords anew: it is the same one, so recovery codes stay good.
  package func resealTOTP(of person: PersonID, sealed: [UInt8]) throws(StorageError) {
    try database.run("UPDATE person SET totp = ? WHERE id = ?", .blob(sealed), .integer(person.rawValue))
  }

  /// Replaces a person's recovery codes, given by their digests.
  package func setRecoveryCodes(of person: PersonID, _ hashes: [[UInt8]]) throws(StorageError) {
    try database.run("DELETE FROM recovery_code WHERE person_id = ?", .integer(person.rawValue))
    for hash in hashes {
      try database.run(
        "INSERT INTO recovery_code (person_id, code_hash) VALUES (?, ?)", .integer(person.rawValue),
        .blob(hash))
    }
  }

  /// Uses a recovery code up, given by its digest; false if the person has no such code: two browsers may try
  /// the same one.
  package func useRecoveryCode(of person: PersonID, _ hash: [UInt8]) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM recovery_code WHERE person_id = ? AND code_hash = ?", .integer(person.rawValue),
      .blob(hash))
    return database.changes > 0
  }

  /// Records that the code of a step was used; false if it, or a later one, was before: two browsers may try
  /// the same one.
  package func useTOTP(of person: PersonID, step: Int64) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE person SET totp_step = ?1 WHERE id = ?2 AND totp_step < ?1", .integer(step),
      .integer(person.rawValue))
    return database.changes > 0
  }
}
