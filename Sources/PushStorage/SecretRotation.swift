import PushBase

/// How a secret is replaced while the one before it stays good for a time.
public enum SecretRotation: Sendable, Equatable {
  /// The present secret becomes the one before. Refused while there is one before: whoever has not got the present one yet
  /// would be shut out.
  case begin
  /// Another secret takes the place of the present one, which nobody has got; the one before stays. Refused without one
  /// before.
  case again
  /// The present secret becomes the one before, whether there was one or not.
  case shift
}

extension WriteTransaction {
  /// Gives an app another secret beside the one that its servers have; false for an unknown app, or where `rotation` does
  /// not go with what there is.
  public func rotateSecret(
    app: AppID, hash: [UInt8], _ rotation: SecretRotation
  ) throws(StorageError) -> Bool {
    switch rotation {
    case .begin:
      try database.run(
        """
        UPDATE app SET old_secret_hash = secret_hash, secret_hash = ?
        WHERE id = ? AND deleted_at IS NULL AND old_secret_hash IS NULL
        """, .blob(hash), .app(app))
    case .again:
      try database.run(
        "UPDATE app SET secret_hash = ? WHERE id = ? AND deleted_at IS NULL AND old_secret_hash IS NOT NULL",
        .blob(hash), .app(app))
    case .shift:
      try database.run(
        "UPDATE app SET old_secret_hash = secret_hash, secret_hash = ? WHERE id = ? AND deleted_at IS NULL",
        .blob(hash), .app(app))
    }
    return database.changes > 0
  }

  /// Refuses the secret before the present one from now on; false for an unknown app, and if there is none.
  public func retireSecret(app: AppID) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE app SET old_secret_hash = NULL WHERE id = ? AND deleted_at IS NULL AND old_secret_hash IS NOT NULL
      """, .app(app))
    return database.changes > 0
  }
}

extension ReadTransaction {
  /// When an app's secret was last replaced by one beside it, as far as that was noted.
  public func secretRotatedAt(app: AppID, of account: AccountID) throws(StorageError) -> Timestamp? {
    try database.first(
      """
      SELECT at FROM audit WHERE account_id = ? AND subject_app = ? AND action = 'app.rotate'
      ORDER BY id DESC LIMIT 1
      """, .integer(account.rawValue), .app(app)
    ) { $0.time(0) }
  }
}
