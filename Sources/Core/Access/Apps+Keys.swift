import BorealisBase
import BorealisCrypto
import Model
import Storage

/// Why an API key could not be created or revoked.
package enum APIKeyFailure: Error, Sendable {
  /// The app has as many keys as one may have.
  case tooMany
  /// The app has no such key.
  case unknown
  /// The store cannot take changes now; try again later.
  case unavailable
}

/// The API keys of apps. Each change is in the audit log, and counts here when it is answered; other
/// processes learn it as they learn other changes of apps.
extension Apps {
  /// The most keys of an app that are not revoked.
  package static let keysInApp = 50
  /// Seconds for which the name of a revoked key is kept: the log of requests may name it.
  static let keptRevokedKeys = RequestLog.lifetime + 86_400
  /// Uses of keys that one job stores.
  private static let usesInStep = 256

  /// A new key.
  package struct CreatedKey: Sendable {
    package let row: APIKeyRow
    /// Its secret, which is returned only now.
    package let secret: String
  }

  /// The keys of an app by number, also those that were revoked lately.
  package func keys(
    of app: App, found: @escaping @Sendable (Result<[APIKeyRow], APIKeyFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.apiKeys.all(app: app.id)
    } completion: {
      found($0.mapError { _ in .unavailable })
    }
  }

  /// Creates a key.
  package func createKey(
    _ grant: APIKeyGrant, of app: App, noting entry: AuditRow,
    done: @escaping @Sendable (Result<CreatedKey, APIKeyFailure>) -> Void
  ) {
    let (secret, now) = (APIKeySecret.generate(), time.now())
    let new = NewAPIKey(grant, secretHash: SHA256.digest(Array(secret.utf8)), secret: secret)
    store.write(of: app.id) { transaction throws(StorageError) -> (app: AppRow, key: APIKeyRow)? in
      guard
        let id = try transaction.apiKeys.add(new, to: app.id, limit: Self.keysInApp, at: now),
        let row = try transaction.apps.find(app.id), let key = row.keys.first(where: { $0.id == id })
      else { return nil }
      try transaction.audit.add(entry)
      return (row, key)
    } completion: { [self] result in
      switch result {
      case .failure: done(.failure(.unavailable))
      case .success(nil): done(.failure(.tooMany))
      case .success(let (row, key)?):
        learn([row])
        done(.success(CreatedKey(row: key, secret: secret)))
      }
    }
  }

  /// Revokes a key: no call that begins later is accepted with it. `entry` makes the note for the audit log
  /// from the key's name.
  package func revokeKey(
    _ id: Int64, of app: App, noting entry: @escaping @Sendable (String) -> AuditRow,
    done: @escaping @Sendable (Result<Void, APIKeyFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) -> AppRow? in
      guard let name = try transaction.apiKeys.revoke(id, of: app.id, at: now) else { return nil }
      try transaction.audit.add(entry(name))
      return try transaction.apps.find(app.id)
    } completion: { [self] result in
      switch result {
      case .failure: done(.failure(.unavailable))
      case .success(nil): done(.failure(.unknown))
      case .success(let row?):
        learn([row])
        done(.success(()))
      }
    }
  }

  /// Stores when keys of some apps were last used, in one job: of all that are not stored, or of about
  /// `usesInStep` of them.
  func storeKeyUses(of apps: [App], isLast: Bool = false) {
    var uses: [(app: AppID, key: APIKey, at: Timestamp)] = []
    for app in apps where isLast || uses.count < Self.usesInStep {
      for key in app.keys { if let moment = key.unstoredUse { uses.append((app.id, key, moment)) } }
    }
    guard !uses.isEmpty else { return }
    store.write(lowPriority: !isLast) { [scope, uses] transaction throws(StorageError) in
      for (app, key, moment) in uses where !scope.hasLeft(app) {
        try transaction.apiKeys.noteUse(of: key.id, app: app, at: moment)
      }
    } completion: { [uses] result in
      guard case .success = result else { return }
      for (_, key, moment) in uses { key.noteStored(moment) }
    }
  }
}
