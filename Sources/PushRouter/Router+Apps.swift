import PushBase
import PushCrypto
import PushStorage
import Synchronization

/// Why an app could not be made or deleted.
public enum AppFailure: Error, Sendable {
  /// The account has as many apps as one may have.
  case tooMany
  /// The account has no such app.
  case unknown
  /// The store cannot take changes now; try again later.
  case unavailable
}

extension AccountRow {
  /// Compares a developer's secret in constant time.
  public func accepts(secret: [UInt8]) -> Bool { constantTimeEquals(SHA256.digest(secret), secretHash) }
}

extension Router {
  /// Apps that an account may have.
  public static let appsInAccount = 1000

  /// What whoever asked for an app learns of it.
  public struct CreatedApp: Sendable {
    /// Its key.
    public let key: AppKey
    /// Its master secret, which is told only now; nil for an app that was there before.
    public let masterSecret: String?
  }

  /// The account behind a developer key, nil if there is none.
  public func findAccount(
    _ key: AppKey, found: @escaping @Sendable (Result<AccountRow?, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.account(key: key)
    } completion: {
      found($0.mapError { _ in .unavailable })
    }
  }

  /// Makes an app of an account, on the plan that the account gives; or finds the one with the same Android package.
  /// `noting` tells who made it, in the same commit.
  public func createApp(
    _ name: String, key: AppKey = .random(), androidPackage: String? = nil, group: String? = nil,
    for account: AccountID, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<CreatedApp, AppFailure>) -> Void
  ) {
    let secret = SecretKey24.generate()
    let new = NewApp(
      key: key, name: name, secretHash: SHA256.digest(Array(secret.utf8)), account: account,
      androidPackage: androidPackage, groupName: group)
    let now = time.now()
    store.write { transaction throws(StorageError) -> Result<CreatedApp, AppFailure> in
      if let androidPackage,
        let known = try transaction.reading.appKey(account: account, androidPackage: androidPackage)
      {
        return .success(CreatedApp(key: known, masterSecret: nil))
      }
      guard try transaction.reading.appCount(account: account) < Self.appsInAccount else {
        return .failure(.tooMany)
      }
      _ = try transaction.createApp(new, at: now)
      if let entry { try transaction.audit(entry) }
      return .success(CreatedApp(key: new.key, masterSecret: secret))
    } completion: { result in
      reply((try? result.get()) ?? .failure(.unavailable))
    }
  }

  // MARK: Deletion

  /// Deletes an app of an account, together with a note of who did it: its calls and devices are refused at once, its data goes in small steps later.
  public func deleteApp(
    _ key: AppKey, of account: AccountID, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) -> DeletedApp? in
      guard let row = try transaction.reading.app(key: key), row.account == account else { return nil }
      _ = try transaction.deleteApp(row.id, at: now)
      if let entry { try transaction.audit(entry) }
      return DeletedApp(id: row.id, key: key)
    } completion: { [self] result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(nil): reply(.failure(.unknown))
      case .success(let deleted?):
        forget(deleted)
        reply(.success(()))
      }
    }
  }

  /// Changes what is stored of an app, and has it hold at once instead of after the next look at the database. `body` tells
  /// whether there is such an app.
  public func change(
    _ app: App, _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Bool,
    done: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    store.write { transaction throws(StorageError) -> AppRow? in
      guard try body(transaction) else { return nil }
      return try transaction.reading.app(key: app.key)
    } completion: { [self] result in
      switch result {
      case .failure: done(.failure(.unavailable))
      case .success(nil): done(.failure(.unknown))
      case .success(let row?):
        if app.update(row) { disconnectAll(app) }
        done(.success(()))
      }
    }
  }

  /// Learns what was changed about apps by other processes: secrets, plans, networks, whether they are turned off or
  /// deleted.
  func refreshApps() {
    // One at a time: of two readers the later may have the older news.
    guard housekeeping.beginRefresh() else { return }
    let changes = telling.changes.load(ordering: .sequentiallyConsistent)
    store.read { transaction throws(StorageError) in
      (
        rows: try transaction.apps(), deleted: try transaction.deletedApps(),
        callbacks: try transaction.callbackSettings()
      )
    } completion: { [self] result in
      defer { housekeeping.endRefresh() }
      guard case .success(let found) = result else { return }
      takeOver(found.callbacks, readAt: changes)
      for row in found.rows {
        guard let app = app(row.key), app.update(row) else { continue }
        disconnectAll(app)
      }
      for deleted in found.deleted { forget(deleted) }
    }
  }

  /// A deleted app leaves memory, and its data the disk.
  private func forget(_ deleted: DeletedApp) {
    if let app = remove(deleted.key) {
      app.markDeleted()
      disconnectAll(app)
      for channel in channels { channel.forget(app.id) }
      apns?.forget(app)
    }
    guard housekeeping.purging.withLock({ $0.insert(deleted.id).inserted }) else { return }
    purgeRows(of: deleted.id, from: PurgePosition())
  }

  /// One step, and the next behind the work that waits meanwhile, as when pushes are swept.
  private func purgeRows(of app: AppID, from position: PurgePosition) {
    let rows = options.sweepRows
    store.write { transaction throws(StorageError) in
      try transaction.purgeRows(of: app, limit: rows, from: position)
    } completion: { [self] result in
      switch result {
      case .failure: giveUpPurging(app)
      case .success(let next?): purgeRows(of: app, from: next)
      case .success(nil): purgePushes(of: app, after: MessageID(0))
      }
    }
  }

  private func purgePushes(of app: AppID, after start: MessageID) {
    let rows = options.sweepRows
    store.read { transaction throws(StorageError) in
      try transaction.pushes(of: app, after: start, limit: rows)
    } completion: { [self] result in
      guard case .success(let ids) = result else { return giveUpPurging(app) }
      guard let last = ids.last else { return finishPurging(app) }
      store.write { transaction throws(StorageError) in
        try transaction.deletePushes(ids)
      } completion: { [self] result in
        if case .success = result {
          purgePushes(of: app, after: last)
        } else {
          giveUpPurging(app)
        }
      }
    }
  }

  private func finishPurging(_ app: AppID) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.markPurged(app, at: now)
    } completion: { [self] result in
      giveUpPurging(app)
      if case .success = result {
        log.info("a deleted app's data is gone", ["app": .number(Int64(app.rawValue))])
      }
    }
  }

  /// The next look at the apps finds it again, unless all is done.
  private func giveUpPurging(_ app: AppID) { housekeeping.purging.withLock { _ = $0.remove(app) } }

  private func disconnectAll(_ app: App) {
    let online = app.directory.online
    var next = RegistrationNumber(0)
    while true {
      let numbers = online.members(from: next, limit: 1000)
      for location in app.directory.locations(of: numbers) { disconnect(location, .appDisabled) }
      guard numbers.count == 1000, let last = numbers.last, last.rawValue < .max else { return }
      next = RegistrationNumber(last.rawValue + 1)
    }
  }
}
