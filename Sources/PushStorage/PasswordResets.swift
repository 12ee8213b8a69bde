import PushBase

extension ReadTransaction {
  /// Whose password a link may change, if it holds.
  public func passwordReset(tokenHash: [UInt8], at now: Timestamp) throws(StorageError) -> PersonID? {
    try database.first(
      """
      SELECT person_id FROM password_reset JOIN person ON person.id = person_id
      WHERE token_hash = ? AND expires_at > ? AND disabled = 0
      """, .blob(tokenHash), .time(now)
    ) { PersonID($0.integer(0)) }
  }
}

extension WriteTransaction {
  /// Adds a link for a new password, unless the person was given `limit` of them that still hold; tells whether it did.
  public func addPasswordReset(
    tokenHash: [UInt8], of person: PersonID, at now: Timestamp, expiresAt: Timestamp, limit: Int
  ) throws(StorageError) -> Bool {
    try database.run("DELETE FROM password_reset WHERE expires_at <= ?", .time(now))
    try database.run(
      """
      INSERT INTO password_reset (token_hash, person_id, created_at, expires_at)
      SELECT ?1, ?2, ?3, ?4 WHERE (SELECT count(*) FROM password_reset WHERE person_id = ?2) < ?5
      """, .blob(tokenHash), .integer(person.rawValue), .time(now), .time(expiresAt), .integer(limit))
    return database.changes > 0
  }

  /// Takes away all links of a person; false if there were none: somebody was faster.
  public func removePasswordResets(of person: PersonID) throws(StorageError) -> Bool {
    try database.run("DELETE FROM password_reset WHERE person_id = ?", .integer(person.rawValue))
    return database.changes > 0
  }
}
