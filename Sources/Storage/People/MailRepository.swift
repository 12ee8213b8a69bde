import BorealisBase

/// Mail that is to be sent.
package struct MailRepository<Access>: Repository {
  let database: Database
}

extension MailRepository {
  /// Mail that is due and not moot, the oldest first.
  package func due(at now: Timestamp, limit: Int) throws(StorageError) -> [MailRow] {
    try database.all(
      """
      SELECT id, credential_id, recipient, subject, body, created_at, attempts FROM mail
      WHERE state = 0 AND next_at <= ?1 AND (credential_id IS NULL OR credential_id IN (
        SELECT credential.id FROM credential JOIN app ON app.id = app_id
        WHERE replaced_by IS NULL AND deleted_at IS NULL))
      ORDER BY next_at, id LIMIT ?2
      """, .time(now), .integer(limit)
    ) { row in
      MailRow(
        id: row.integer("id"),
        mail: NewMail(
          recipient: row.text("recipient"), subject: row.text("subject"), body: row.text("body"),
          credential: row.optionalInteger("credential_id").map { CredentialID($0) }),
        createdAt: row.time("created_at"),
        attempts: row.count("attempts"))
    }
  }

  /// How much mail waits.
  package func waiting() throws(StorageError) -> Int {
    let sql: StaticString = "SELECT count(*) FROM mail {sqlite INDEXED BY mail_due} WHERE state = 0"
    return try database.first(sql) { $0.count() } ?? 0
  }
}

extension MailRepository<Writing> {
  /// Adds mail to be sent at once.
  package func add(_ new: NewMail, at now: Timestamp) throws(StorageError) {
    try database.run(
      """
      INSERT INTO mail (credential_id, recipient, subject, body, created_at, next_at) VALUES (?, ?, ?, ?, ?5, ?5)
      """, .optional(new.credential?.rawValue), .text(new.recipient), .text(new.subject), .text(new.body),
      .time(now))
  }

  /// Records the result of an attempt to send mail.
  package func note(_ id: Int64, _ end: MailEnd, at now: Timestamp) throws(StorageError) {
    switch end {
    case .sent:
      try database.run(
        "UPDATE mail SET state = 1, attempts = attempts + 1, error = NULL, done_at = ? WHERE id = ?",
        .time(now), .integer(id))
    case .again(let next, let reason):
      try database.run(
        "UPDATE mail SET attempts = attempts + 1, next_at = ?, error = ? WHERE id = ? AND state = 0",
        .time(next), .text(reason), .integer(id))
    case .failed(let reason):
      try database.run(
        "UPDATE mail SET state = 2, attempts = attempts + 1, error = ?, done_at = ? WHERE id = ?",
        .text(reason), .time(now), .integer(id))
    }
  }

  /// Deletes mail that is moot or ended before a moment, and notices of credentials that are gone; at most
  /// `limit` of each.
  package func sweep(endedBefore moment: Timestamp, limit: Int) throws(StorageError) {
    try database.run(
      "DELETE FROM mail WHERE id IN (SELECT id FROM mail WHERE done_at < ? ORDER BY done_at LIMIT ?)",
      .time(moment), .integer(limit))
    try database.run(
      """
      DELETE FROM mail WHERE id IN (
        SELECT id FROM mail {sqlite INDEXED BY mail_due} WHERE state = 0 AND credential_id IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM credential WHERE credential.id = mail.credential_id AND replaced_by IS NULL)
        LIMIT ?)
      """, .integer(limit))
    try database.run(
      """
      DELETE FROM credential_notice WHERE (credential_id, days) IN (
        SELECT credential_id, days FROM credential_notice
        WHERE NOT EXISTS (SELECT 1 FROM credential WHERE id = credential_notice.credential_id) LIMIT ?)
      """, .integer(limit))
  }
}
