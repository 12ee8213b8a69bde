import BorealisBase
import Model

/// What the column `adoption` holds.
///
/// 0: the registration is its device's. 1 and 2: it was imported, and no device has come for it (`Adoption`).
/// 3 and 4: the same, and a device has been given it but has not logged in: its REGISTER_OK may be lost, so
/// that it comes once more. 5: it is a new one of a device that named a former ID, and that device has not
/// logged in.
enum AdoptionState {
  /// From here on a device has been given the registration and has not logged in.
  static let given: UInt8 = 3
  /// See above.
  static let newcomer: UInt8 = 5
}

extension RegistrationRepository<Writing> {
  /// Gives an imported registration to the device that comes for it: number, ID, alias and tags stay, the
  /// secret is new, and whatever the device says of itself replaces what was imported. It counts as made now,
  /// since no push was for the device before. Nil if none is meant for it.
  func adopt(app: AppID, _ new: NewRegistration, at now: Timestamp) throws(StorageError)
    -> RegistrationNumber?
  {
    guard let number = try adoptable(app, new) else { return nil }
    try database.run(
      """
      UPDATE registration SET secret_hash = ?3, fingerprint = ?4, app_version = ?5, last_seen_at = ?6,
        created_at = CASE WHEN adoption < 3 THEN ?6 ELSE created_at END,
        adoption = CASE WHEN adoption < 3 THEN adoption + 2 ELSE adoption END,
        apns_token = coalesce(?7, apns_token),
        apns_environment = CASE WHEN ?7 IS NULL THEN apns_environment ELSE ?8 END,
        apns_token_at = CASE WHEN ?7 IS NULL THEN apns_token_at ELSE ?6 END,
        token_since = CASE WHEN ?7 IS NULL OR apns_token IS NOT DISTINCT FROM ?7 THEN token_since ELSE ?6 END,
        token_end = CASE WHEN ?7 IS NULL THEN token_end ELSE 0 END
      WHERE app_id = ?1 AND number = ?2
      """, .app(app), .number(number), .blob(new.secretHash), .blob(new.fingerprint), .text(new.appVersion),
      .time(now), new.ownToken.map { .blob($0.bytes) } ?? .null,
      .integer(new.ownToken?.service.rawValue ?? 0))
    return number
  }

  private func adoptable(_ app: AppID, _ new: NewRegistration) throws(StorageError) -> RegistrationNumber? {
    for imported in new.imported {
      let named = try database.first(
        """
        SELECT number FROM registration
        WHERE app_id = ? AND registration_id = ? AND platform = ? AND adoption IN (2, 4)
        """, .app(app), .blob(imported.stored), .integer(new.platform.rawValue)
      ) { $0.number() }
      if let named { return named }
    }
    // SQLite's planner would read all registrations of the app, for every device that registers with a token.
    if let token = new.ownToken {
      let holder = try database.first(
        """
        SELECT number FROM registration {sqlite INDEXED BY registration_apns_token}
        WHERE app_id = ? AND apns_token = ? AND platform = ? AND adoption BETWEEN 1 AND 4
        """, .app(app), .blob(token.bytes), .integer(new.platform.rawValue)
      ) { $0.number() }
      if let holder { return holder }
    }
    // It came before, with a token that it has no more or has not yet. Only the device knows a fingerprint
    // that names no former ID.
    guard new.imported.isEmpty, !new.fingerprint.isEmpty else { return nil }
    return try database.first(
      """
      SELECT number FROM registration {sqlite INDEXED BY registration_fingerprint}
      WHERE app_id = ? AND fingerprint = ? AND fingerprint <> {bytes} AND platform = ? AND adoption IN (3, 4)
      """, .app(app), .blob(new.fingerprint), .integer(new.platform.rawValue)
    ) { $0.number() }
  }

  /// Notes that a device has logged in as a registration that it had been given: nobody else gets it any
  /// more. False if it has another secret by now, or is no more.
  package func confirm(
    app: AppID, number: RegistrationNumber, secretHash: (UInt64, UInt64)
  ) throws(StorageError) -> Bool {
    var secret = ByteWriter(capacity: 16)
    secret.write(secretHash.0)
    secret.write(secretHash.1)
    try database.run(
      """
      UPDATE registration SET adoption = 0
      WHERE app_id = ? AND number = ? AND secret_hash = ? AND adoption > 2
      """, .app(app), .number(number), .blob(secret.bytes))
    return database.changes > 0
  }
}
