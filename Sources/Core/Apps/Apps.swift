import BorealisBase
import BorealisCrypto
import Storage
import Synchronization

/// Why an app could not be made or deleted.
package enum AppFailure: Error, Sendable {
  /// The account has as many apps as one may have.
  case tooMany
  /// The account has no such app.
  case unknown
  /// There is no secret key to seal with; the log says why.
  case noSecretKey
  /// The store cannot take changes now; try again later.
  case unavailable
}

extension AccountRow {
  /// Compares a developer's secret in constant time.
  package func accepts(secret: [UInt8]) -> Bool { constantTimeEquals(SHA256.digest(secret), secretHash) }
}

/// The apps: those in memory, and how they are made, changed and deleted.
package final class Apps: Sendable {
  let store: Store
  let scope: HomeScope
  let time: any TimeSource
  private let log: Log
  let table: AppTable
  private let channels: PluggedChannels
  private let gateways: DeviceGateways
  private let callbacks: CallbackApps
  private let purge: AppPurge
  private let clocks: ScheduleClocks
  private let refreshes = Mutex(Refreshes())
  /// How often this process has applied changed rows: what was read before is older than what memory shows.
  private let changes = Mutex(0)

  init(
    store: Store, scope: HomeScope, time: any TimeSource, log: Log, table: AppTable,
    channels: PluggedChannels, gateways: DeviceGateways, callbacks: CallbackApps, purge: AppPurge,
    clocks: ScheduleClocks
  ) {
    self.store = store
    self.scope = scope
    self.time = time
    self.log = log
    self.table = table
    self.channels = channels
    self.gateways = gateways
    self.callbacks = callbacks
    self.purge = purge
    self.clocks = clocks
  }

  // MARK: In memory

  /// The app behind a key, if it is in memory.
  package func loaded(_ key: AppKey) -> App? { table.find(key) }

  /// An app in memory by its number.
  package func loaded(_ id: AppID) -> App? { table.find(id) }

  /// All apps in memory.
  package var all: [App] { table.all }

  /// The app behind a key, nil if there is none. One that is not in memory is looked for in the database, so
  /// that an app made by another process works at once. One that has another home, or none yet, is
  /// unavailable. `found` may be called on this thread or another.
  package func find(_ key: AppKey, found: @escaping @Sendable (Result<App?, DeviceFailure>) -> Void) {
    if let known = table.find(key) {
      found(.success(known))
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.apps.find(key: key)
    } completion: { [self] result in
      switch result {
      case .failure: found(.failure(.unavailable))
      case .success(nil): found(.success(nil))
      case .success(let row?): bring([row]) { found($0.map { $0.first }) }
      }
    }
  }

  /// Those of some apps that are in memory. What another process made since the start is brought there, so
  /// that it need not be used first to be checked or to get receipts; `brought` is called once it is there,
  /// on any thread, never during this call.
  package func loaded(_ ids: Set<AppID>, brought: @escaping @Sendable () -> Void) -> [App] {
    ids.compactMap { id in
      if let app = table.find(id) { return app }
      bring(id, brought)
      return nil
    }
  }

  private func bring(_ id: AppID, _ done: @escaping @Sendable () -> Void) {
    guard scope.contains(id) else { return }
    store.read { transaction throws(StorageError) in
      try transaction.apps.find(id)
    } completion: { [self] result in
      guard case .success(let row?) = result else { return }
      bring([row]) { if case .success = $0 { done() } }
    }
  }

  /// The apps of rows, which are in memory from now on if they were not before: new ones, without
  /// registrations that memory would have to learn, but with what channels need of them, and with what they
  /// have set up for callbacks. Unavailable if one is not this home's.
  func bring(_ rows: [AppRow], found: @escaping @Sendable (Result<[App], DeviceFailure>) -> Void) {
    guard rows.allSatisfy({ scope.contains($0.id) }) else { return found(.failure(.unavailable)) }
    // Each is looked for once: one that another thread brings meanwhile must not be made here as well.
    let looked = rows.map { row in
      let known = table.find(row.key)
      return (app: known ?? table.make(row), isNew: known == nil)
    }
    let (all, new) = (looked.map(\.app), looked.filter(\.isNew).map(\.app))
    guard !new.isEmpty else { return found(.success(all)) }
    learnChanges(of: channels.services[...]) { [self] isKnown in
      guard isKnown else { return found(.failure(.unavailable)) }
      store.read { [callbacks] transaction throws(StorageError) in
        for app in new { try callbacks.load(app, transaction) }
      } completion: { [self] result in
        // Before they can be found: settings that were read before know nothing of them.
        callbacks.noteChange()
        // They may have left meanwhile.
        let apps = all.compactMap { table.adopt($0, in: scope) }
        guard case .success = result, apps.count == all.count else { return found(.failure(.unavailable)) }
        found(.success(apps))
      }
    }
  }

  /// Has channels learn, one after the other, what another process has changed.
  func learnChanges(
    of channels: ArraySlice<Plugged<any ServiceChannel>>,
    _ done: @escaping @Sendable (_ isKnown: Bool) -> Void
  ) {
    guard let first = channels.first else { return done(true) }
    first.channel.learnChanges { [self] result in
      guard case .success = result else { return done(false) }
      learnChanges(of: channels.dropFirst(), done)
    }
  }

  // MARK: Changes

  /// Apps that an account may have.
  package static let appsInAccount = 1000

  /// The result of creating an app.
  package struct CreatedApp: Sendable {
    package let key: AppKey
    /// Its master secret, which is returned only now; nil for an existing app.
    package let masterSecret: String?
  }

  /// The account behind a developer key, nil if there is none.
  package func findAccount(
    _ key: AppKey, found: @escaping @Sendable (Result<AccountRow?, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.accounts.find(key: key)
    } completion: {
      found($0.mapError { _ in .unavailable })
    }
  }

  /// Creates an app of an account, on the account's plan; or finds the one with the same Android package.
  /// `noting` is the audit log entry in the same commit.
  package func create(
    _ name: String, key: AppKey = .random(), androidPackage: String? = nil, group: String? = nil,
    for account: AccountID, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<CreatedApp, AppFailure>) -> Void
  ) {
    let secret = SecretKey24.generate()
    let new = NewApp(
      key: key, name: name, secretHash: SHA256.digest(Array(secret.utf8)), account: account,
      androidPackage: androidPackage, groupName: group)
    let now = time.now()
    store.write { [scope] transaction throws(StorageError) -> Result<CreatedApp, AppFailure> in
      if let androidPackage,
        let known = try transaction.apps.key(account: account, androidPackage: androidPackage)
      {
        return .success(CreatedApp(key: known, masterSecret: nil))
      }
      guard try transaction.apps.count(account: account) < Self.appsInAccount else {
        return .failure(.tooMany)
      }
      let id = try transaction.apps.create(new, at: now)
      if let own = scope.assigned, try transaction.homes.assign(id, to: own) != nil {
        transaction.whenCommitted { own.insert(id) }
      }
      if let entry { try transaction.audit.add(entry) }
      return .success(CreatedApp(key: new.key, masterSecret: secret))
    } completion: { result in
      reply((try? result.get()) ?? .failure(.unavailable))
    }
  }

  // MARK: Deletion

  /// Deletes an app of an account, together with a note of who did it: its calls and devices are refused at
  /// once, its data goes in small steps later.
  package func delete(
    _ key: AppKey, of account: AccountID, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    let now = time.now()
    store.write { [scope] transaction throws(StorageError) -> DeletedApp? in
      guard let row = try transaction.apps.find(key: key), row.account == account else { return nil }
      guard scope.contains(row.id) else {
        throw StorageError(.movedAway, "the app has another home")
      }
      _ = try transaction.apps.delete(row.id, at: now)
      if let entry { try transaction.audit.add(entry) }
      return DeletedApp(id: row.id, key: key)
    } completion: { [self] result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(nil): reply(.failure(.unknown))
      case .success(let deleted?):
        purge.forget(deleted)
        reply(.success(()))
      }
    }
  }

  /// Changes a stored app and applies the change immediately instead of after the next read of the database.
  /// `body` returns whether the app exists.
  func change(
    _ app: App, _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Bool,
    done: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    store.write(of: app.id) { transaction throws(StorageError) -> AppRow? in
      guard try body(transaction) else { return nil }
      return try transaction.apps.find(key: app.key)
    } completion: { [self] result in
      switch result {
      case .failure(let error): done(.failure(failure(error)))
      case .success(nil): done(.failure(.unknown))
      case .success(let row?):
        learn([row])
        done(.success(()))
      }
    }
  }

  /// The same for one setting of the app, which is in the audit log only if its value was another.
  func set<Value: Equatable & Sendable>(
    _ setting: @escaping @Sendable (AppRow) -> Value, to value: Value, of app: App, noting entry: AuditRow,
    _ store: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Bool,
    done: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    change(
      app,
      { transaction throws(StorageError) in
        let before = try transaction.apps.find(app.id).map(setting)
        guard try store(transaction) else { return false }
        if before != value { try transaction.audit.add(entry) }
        return true
      }, done: done)
  }

  private func failure(_ error: StorageError) -> AppFailure {
    guard case .noSecretKey = error.kind else { return .unavailable }
    log.error("contents cannot be sealed", ["reason": .text(error.message)])
    return .noSecretKey
  }

  /// Learns what a change outside of `change(_:_:done:)` has made of some apps, so that it counts at once.
  package func learn(_ rows: [AppRow]) {
    let changed = changes.withLock { count in
      count += 1
      return update(rows)
    }
    notifyDevices(changed)
  }

  /// Updates apps in memory; returns what their devices have to know.
  private func update(_ rows: [AppRow]) -> [(app: App, change: App.Change)] {
    clocks.load(for: rows)
    return rows.compactMap { row in table.find(row.key).map { ($0, $0.update(row)) } }
  }

  private func notifyDevices(_ changed: [(app: App, change: App.Change)]) {
    for (app, change) in changed {
      if change.isTurnedOff { gateways.disconnectAll(app) }
      if let facts = change.facts { gateways.sendToAll(.factsWanted(app.id, facts)) }
    }
  }

  private struct Refreshes {
    var isReading = false
    /// Who waits for a read that begins later than now.
    var waiting: [@Sendable () -> Void] = []
  }

  /// Learns what was changed about apps beside this router, by commands or by other processes: secrets,
  /// plans, networks, whether they are turned off or deleted. `done` is called when all that was committed
  /// before this call counts, or cannot be read.
  func refresh(_ done: (@Sendable () -> Void)? = nil) {
    let begins = refreshes.withLock { state in
      if let done { state.waiting.append(done) }
      defer { state.isReading = true }
      return !state.isReading
    }
    // One at a time: of two readers the later may have the older news.
    if begins { readChanges() }
  }

  private func readChanges() {
    let callers = refreshes.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    let (known, changesOfCallbacks) = (changes.withLock { $0 }, callbacks.changes)
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      (
        rows: try transaction.apps.all(in: rows), deleted: try transaction.deletedApps.all(in: rows),
        callbacks: try transaction.callbacks.settings(in: rows)
      )
    } completion: { [self] result in
      var isOld = false
      if case .success(let found) = result {
        isOld = callbacks.changes != changesOfCallbacks
        callbacks.apply(found.callbacks, readAt: changesOfCallbacks)
        // Rows that were read before a change would undo it until the next look.
        let changed = changes.withLock { count -> [(app: App, change: App.Change)] in
          guard count == known else {
            isOld = true
            return []
          }
          return update(found.rows)
        }
        notifyDevices(changed)
        for deleted in found.deleted { purge.forget(deleted) }
      }
      if !isOld { for done in callers { done() } }
      let goesOn = refreshes.withLock { state in
        if isOld { state.waiting += callers }
        state.isReading = !state.waiting.isEmpty
        return state.isReading
      }
      if goesOn { readChanges() }
    }
  }
}
