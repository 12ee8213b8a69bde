import PushBase
import PushStorage

/// The stored credentials of apps, for their administrators. Each change is recorded in the audit log in the same commit;
/// it returns false if the app has no such credential. Call `APNsChannel.credentialsChanged` to apply it.
public struct CredentialRecords: Sendable {
  private let store: Store

  /// On an open store.
  public init(store: Store) { self.store = store }

  /// The credentials of an app.
  public func all(of app: AppID) async -> Result<[APNsCredentialRow], StorageError> {
    await store.read { transaction throws(StorageError) in try transaction.credentials.all(app: app) }
  }

  /// The credentials of all apps of some accounts.
  public func all(
    of accounts: [AccountID]
  ) async -> Result<[(app: AppRow, row: APNsCredentialRow)], StorageError> {
    await store.read { transaction throws(StorageError) in
      var known: [(app: AppRow, row: APNsCredentialRow)] = []
      for account in accounts {
        for app in try transaction.apps.all(of: account) {
          for row in try transaction.credentials.all(app: app.id) { known.append((app: app, row: row)) }
        }
      }
      return known
    }
  }

  /// A change of a credential.
  public enum Change: Sendable {
    /// It is removed.
    case remove
    /// It is paused, for a reason of 1 to 500 bytes.
    case pause(reason: String)
    /// It is resumed.
    case resume
  }

  /// Changes a credential of an app.
  public func change(
    _ id: APNsCredentialID, of app: AppID, _ change: Change, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    await store.write { transaction throws(StorageError) in
      let row = try transaction.credentials.all(app: app).first { $0.id == id }
      let isDone =
        switch change {
        case .remove: try transaction.credentials.remove(app: app, id: id, at: entry.at)
        case .pause(let reason):
          try transaction.credentials.pause(app: app, id: id, reason: reason, at: entry.at)
        case .resume: try transaction.credentials.resume(app: app, id: id, at: entry.at)
        }
      guard isDone else { return false }
      var noted = entry
      noted.target = row.map(Self.name) ?? String(id.rawValue)
      try transaction.audit.add(noted)
      return true
    }
  }

  /// The name of a credential in the audit log, which is still meaningful after its removal.
  private static func name(_ row: APNsCredentialRow) -> String {
    "\(row.keyID.map { "key \($0)" } ?? "certificate"), \(row.topic), \(row.environment.name)"
  }
}
