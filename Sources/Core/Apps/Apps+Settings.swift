import BorealisBase
import Storage

/// Changes of apps by people. Each change writes the audit log in the same commit.
extension Apps {
  /// The limits of an app, and how much of them is used.
  package struct Limits: Sendable {
    /// The app; nil if it was deleted.
    package let app: AppRow?
    /// All plans.
    package let plans: [PlanRow]
    /// Broadcasts on the requested day.
    package let broadcasts: Int
  }

  /// The apps of some accounts as they are stored, those that other processes have made as well.
  package func rows(of accounts: [AccountID]) async -> Result<[AppRow], StorageError> {
    await store.read { transaction throws(StorageError) in
      var rows: [AppRow] = []
      for account in accounts { rows += try transaction.apps.all(of: account) }
      return rows
    }
  }

  /// The limits of an app, and its pushes to everybody on a day since 1970-01-01.
  package func limits(of app: App, on day: Int64) async -> Result<Limits, StorageError> {
    await store.read { transaction throws(StorageError) in
      Limits(
        app: try transaction.apps.find(key: app.key), plans: try transaction.plans.all(),
        broadcasts: try transaction.apps.broadcasts(of: app.id, on: day))
    }
  }

  /// An app's pushes to everybody on a day since 1970-01-01.
  package func broadcasts(of app: App, on day: Int64) async -> Result<Int, StorageError> {
    await store.read { transaction throws(StorageError) in
      try transaction.apps.broadcasts(of: app.id, on: day)
    }
  }

  /// When an app got its present secret beside one that still works; nil if that is not known.
  package func secretRotatedAt(_ app: App) async -> Result<Timestamp?, StorageError> {
    await store.read { transaction throws(StorageError) in
      try transaction.apps.secretRotatedAt(app: app.id, of: app.account)
    }
  }

  /// When an app got its master secret of Getui's API; nil if it has none.
  package func getuiSecretChangedAt(_ app: App) async -> Result<Timestamp?, StorageError> {
    await store.read { transaction throws(StorageError) in
      try transaction.getui.access(app: app.id)?.changedAt
    }
  }

  /// Gives an app another name.
  package func rename(_ app: App, to name: String, noting entry: AuditRow) async -> Result<Void, AppFailure> {
    await change(app, noting: entry) { transaction throws(StorageError) in
      try transaction.apps.rename(app: app.id, name)
    }
  }

  /// Says from where an app's server may call: networks with spaces between them, nil for everywhere.
  package func setAllowedNetworks(
    _ networks: String?, of app: App, noting entry: AuditRow
  ) async -> Result<Void, AppFailure> {
    await change(app, noting: entry) { transaction throws(StorageError) in
      try transaction.apps.setAllowedNetworks(app: app.id, networks)
    }
  }

  /// Puts an app on another plan; `.unknown` also if there is no such plan.
  package func setPlan(
    _ plan: String, of app: App, noting entry: AuditRow
  ) async -> Result<Void, AppFailure> {
    await change(app, noting: entry) { transaction throws(StorageError) in
      guard try transaction.plans.contains(plan) else { return false }
      return try transaction.apps.setPlan(app: app.id, plan)
    }
  }

  /// Gives an app another secret beside the one that it has; `.unknown` also if the rotation does not fit
  /// what it has.
  package func rotateSecret(
    of app: App, hash: [UInt8], _ rotation: SecretRotation, noting entry: AuditRow
  ) async -> Result<Void, AppFailure> {
    await change(app, noting: entry) { transaction throws(StorageError) in
      try transaction.apps.rotateSecret(app: app.id, hash: hash, rotation)
    }
  }

  /// Ends an app's old secret; `.unknown` also if it has none.
  package func retireSecret(of app: App, noting entry: AuditRow) async -> Result<Void, AppFailure> {
    await change(app, noting: entry) { transaction throws(StorageError) in
      try transaction.apps.retireSecret(app: app.id)
    }
  }

  /// Whether what is stored of an app's contents is sealed.
  package struct Sealing: Sendable, Equatable {
    /// From now on.
    package let isOn: Bool
    /// Since when; nil if it was never changed.
    package let changedAt: Timestamp?
  }

  /// Whether what is stored of an app's contents is sealed from now on.
  package func sealing(of app: App, found: @escaping @Sendable (Result<Sealing, AppFailure>) -> Void) {
    store.read { transaction throws(StorageError) in
      try transaction.sealing.setting(app: app.id)
    } completion: { result in
      switch result {
      case .failure: found(.failure(.unavailable))
      case .success(nil): found(.failure(.unknown))
      case .success(let setting?):
        found(.success(Sealing(isOn: setting.isOn, changedAt: setting.changedAt)))
      }
    }
  }

  /// Seals what is stored of an app's contents from now on, or no longer; what is stored stays as it is.
  package func setSealing(
    _ isOn: Bool, of app: App, noting entry: AuditRow,
    done: @escaping @Sendable (Result<Sealing, AppFailure>) -> Void
  ) {
    let now = time.now()
    change(
      app,
      { transaction throws(StorageError) in
        let before = try transaction.sealing.setting(app: app.id)
        guard try transaction.sealing.set(app: app.id, isOn, at: now) else { return false }
        // Asked for again is no change.
        if before?.isOn != isOn { try transaction.audit.add(entry) }
        return true
      },
      done: { [self] result in
        if case .failure(let failure) = result { return done(.failure(failure)) }
        sealing(of: app, found: done)
      })
  }

  /// Changes an app's row and notes it; the body says whether there was something to change.
  func change(
    _ app: App, noting entry: AuditRow,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Bool
  ) async -> Result<Void, AppFailure> {
    await awaitCallback {
      change(
        app,
        { transaction throws(StorageError) in
          guard try body(transaction) else { return false }
          try transaction.audit.add(entry)
          return true
        }, done: $0)
    }
  }
}
