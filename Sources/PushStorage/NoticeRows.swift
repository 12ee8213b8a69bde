import PushBase

/// A credential that ends, with what is told of it.
public struct EndingCredential: Sendable, Equatable {
  /// The credential.
  public var id: APNsCredentialID
  /// Its app, with the public key and the name.
  public var app: AppID
  /// The public key of the app.
  public var appKey: AppKey
  /// The app's name.
  public var appName: String
  /// Whose app it is.
  public var account: AccountID
  /// Which of Apple's services it is for.
  public var environment: APNsEnvironment
  /// The app's bundle ID.
  public var topic: String
  /// When it ends.
  public var expiresAt: Timestamp
  /// The least number of days before the end for which a reminder was given; nil if none was.
  public var toldDays: Int?
}

/// Somebody who gets mail about an account.
public struct MailRecipient: Sendable, Equatable {
  /// The address.
  public var email: String
  /// The person's name.
  public var name: String
  /// `en` or `zh`.
  public var language: String
}

extension ReadTransaction {
  /// Credentials in use that end between two moments, the first in front: of apps and accounts that are on, and not
  /// replaced by newer ones.
  public func endingCredentials(
    after start: Timestamp, before end: Timestamp
  ) throws(StorageError) -> [EndingCredential] {
    try database.all(
      """
      SELECT apns_credential.id, app_id, app_key, app.name, account_id, environment, topic, expires_at,
        (SELECT min(days) FROM credential_notice WHERE credential_id = apns_credential.id)
      FROM apns_credential JOIN app ON app.id = app_id JOIN account ON account.id = account_id
      WHERE expires_at > ? AND expires_at <= ? AND replaced_by IS NULL AND deleted_at IS NULL
        AND app.disabled = 0 AND account.disabled = 0
      ORDER BY expires_at, apns_credential.id
      """, .time(start), .time(end)
    ) { row in
      EndingCredential(
        id: APNsCredentialID(row.integer(0)), app: row.app(1),
        appKey: AppKey(row.text(2)) ?? AppKey(high: 0, low: 0), appName: row.text(3),
        account: AccountID(row.integer(4, as: UInt32.self)),
        environment: APNsEnvironment(rawValue: row.integer(5, as: UInt8.self)) ?? .none, topic: row.text(6),
        expiresAt: row.time(7), toldDays: row.optionalInteger(8).map { Int(clamping: $0) })
    }
  }

  /// Who gets mail about an account: its members from a role upwards, by number.
  public func recipients(of account: AccountID, from role: Role) throws(StorageError) -> [MailRecipient] {
    try database.all(
      """
      SELECT email, name, language FROM membership JOIN person ON person.id = person_id
      WHERE account_id = ? AND role >= ? AND disabled = 0 ORDER BY person.id
      """, .account(account), .integer(role.rawValue)
    ) { MailRecipient(email: $0.text(0), name: $0.text(1), language: $0.text(2)) }
  }
}

extension WriteTransaction {
  /// Notes that a reminder was given; false if it was before.
  public func noteReminder(
    of id: APNsCredentialID, days: Int, at now: Timestamp
  ) throws(StorageError) -> Bool {
    try database.run(
      "INSERT OR IGNORE INTO credential_notice (credential_id, days, at) VALUES (?, ?, ?)",
      .integer(id.rawValue), .integer(days), .time(now))
    return database.changes > 0
  }
}
