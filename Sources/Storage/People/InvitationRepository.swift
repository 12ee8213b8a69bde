import BorealisBase

/// Invitations to accounts.
package struct InvitationRepository<Access>: Repository {
  let database: Database
}

extension InvitationRepository {
  private static var selectInvitation: StaticString {
    """
    SELECT id, account_id, account_name, role, email, expires_at, mail_state, mail_at, mail_note FROM live_invitation
    WHERE EXISTS (
      SELECT 1 FROM invitation AS made WHERE made.id = live_invitation.id AND (
        EXISTS (
          SELECT 1 FROM membership
          WHERE membership.person_id = made.invited_by AND membership.account_id = made.account_id
            AND membership.role = 4)
        OR NOT EXISTS (
          SELECT 1 FROM membership JOIN person ON person.id = membership.person_id
          WHERE membership.account_id = made.account_id AND person.disabled = 0)))
    """
  }

  /// The invitations to an account that hold, newest first. None does any more when whoever made it may not
  /// invite: an owner may, and an operator only to an account without members.
  package func all(to account: AccountID, at now: Timestamp) throws(StorageError) -> [InvitationRow] {
    try database.all(
      Self.selectInvitation, "AND account_id = ? AND expires_at > ? ORDER BY id DESC",
      .integer(account.rawValue), .time(now), map: Self.invitation)
  }

  /// An invitation by number, if it holds.
  package func find(_ id: Int64, at now: Timestamp) throws(StorageError) -> InvitationRow? {
    try database.first(
      Self.selectInvitation, "AND id = ? AND expires_at > ?", .integer(id), .time(now), map: Self.invitation
    )
  }

  /// The invitation behind a link, if it holds.
  package func find(tokenHash: [UInt8], at now: Timestamp) throws(StorageError) -> InvitationRow? {
    try database.first(
      Self.selectInvitation, "AND token_hash = ? AND expires_at > ?", .blob(tokenHash), .time(now),
      map: Self.invitation)
  }

  private static func invitation(_ row: Row) -> InvitationRow {
    InvitationRow(
      id: row.integer("id"), account: row.account("account_id"), accountName: row.text("account_name"),
      role: Role(rawValue: row.integer("role")) ?? .viewer, email: row.text("email"),
      expiresAt: row.time("expires_at"),
      mail: InvitationMail(
        InvitationMail.State(rawValue: row.integer("mail_state")) ?? .unknown,
        at: row.optionalTime("mail_at"), note: row.optionalText("mail_note")))
  }
}

extension InvitationRepository<Writing> {
  /// Adds an invitation, in place of one to the same address.
  package func add(
    tokenHash: [UInt8], to account: AccountID, as role: Role, email: String, by person: PersonID,
    at now: Timestamp, expiresAt: Timestamp, mail: InvitationMail.State = .notMailed
  ) throws(StorageError) {
    try database.run(
      """
      DELETE FROM invitation WHERE account_id = ?
        AND {sqlite email COLLATE NOCASE = ?}{postgres lower(email) = lower(? COLLATE "C")}
      """, .integer(account.rawValue),
      .text(email))
    try database.run(
      """
      INSERT INTO invitation (token_hash, account_id, role, email, invited_by, created_at, expires_at, mail_state, mail_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?6)
      """, .blob(tokenHash), .integer(account.rawValue), .integer(role.rawValue), .text(email),
      .integer(person.rawValue), .time(now), .time(expiresAt), .integer(mail.rawValue))
  }

  /// Replaces the link of an invitation; false if the invitation no longer exists.
  package func renew(
    _ id: Int64, tokenHash: [UInt8], by person: PersonID, at now: Timestamp, expiresAt: Timestamp,
    mail: InvitationMail.State
  ) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE invitation SET token_hash = ?2, invited_by = ?3, expires_at = ?4, mail_state = ?5, mail_at = ?6, mail_note = NULL
      WHERE id = ?1
      """, .integer(id), .blob(tokenHash), .integer(person.rawValue), .time(expiresAt),
      .integer(mail.rawValue),
      .time(now))
    return database.changes > 0
  }

  /// Records how far the mail with an invitation's link has come; nothing if the link is not the newest any
  /// more.
  package func noteMail(tokenHash: [UInt8], _ mail: InvitationMail) throws(StorageError) {
    try database.run(
      "UPDATE invitation SET mail_state = ?2, mail_at = ?3, mail_note = ?4 WHERE token_hash = ?1",
      .blob(tokenHash),
      .integer(mail.state.rawValue), .optional(mail.at?.milliseconds), .optional(mail.note))
  }

  /// Records that invitations' mail that was queued is lost: it was in the memory of a server that has
  /// stopped.
  package func loseQueuedMail(at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE invitation SET mail_state = ?1, mail_at = ?2 WHERE mail_state = ?3",
      .integer(InvitationMail.State.lost.rawValue), .time(now), .integer(InvitationMail.State.queued.rawValue)
    )
  }

  /// Deletes an invitation to an account that was used or recalled. False if it is gone.
  package func remove(_ id: Int64, to account: AccountID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM invitation WHERE id = ? AND account_id = ?", .integer(id), .integer(account.rawValue))
    return database.changes > 0
  }

  /// Deletes invitations that ended before a moment; at most `limit`.
  package func sweep(endedBefore moment: Timestamp, limit: Int) throws(StorageError) {
    try database.run(
      "DELETE FROM invitation WHERE id IN (SELECT id FROM invitation WHERE expires_at < ? ORDER BY expires_at LIMIT ?)",
      .time(moment), .integer(limit))
  }
}
