import BorealisBase
import BorealisCrypto
import Model
import Storage
import Synchronization

/// The opened credentials of all apps: which one to use, whether something changed, when certificates expire.
/// `borealis app channel` changes the database from other processes, so it is read every few seconds. All
/// functions may be called from any thread.
package final class CredentialStore: Sendable {
  /// The credential to use for an app in an APNs environment.
  package enum Selection: Sendable {
    /// The newest that can be used; a replaced one only while no other can be used.
    case use(APNsCredential)
    /// The app has none for the environment.
    case missing
    /// None can be used; with the problem of the newest, for people.
    case unusable(String)
  }

  private static let sweepSeconds = 3600
  /// How long a replaced credential is kept, in seconds.
  private static let keepReplaced: Int64 = 30 * 86_400

  private let store: Store
  private let scope: HomeScope
  private let keys: CredentialKeys
  private let time: any TimeSource
  private let log: Log
  private let onChange: @Sendable (APNsCredentialChange) -> Void
  private let reads = CredentialReads()
  private let table = Mutex(CredentialTable())

  /// Is empty until the first `refresh`. `onChange` is called for each credential that is new, removed or has
  /// another status, on a thread of the store or the caller's; it must be short.
  package init(
    store: Store, scope: HomeScope, keys: CredentialKeys, time: any TimeSource = SystemTime(), log: Log,
    onChange: @escaping @Sendable (APNsCredentialChange) -> Void = { _ in }
  ) {
    self.store = store
    self.scope = scope
    self.keys = keys
    self.time = time
    self.log = log
    self.onChange = onChange
  }

  /// Call once a second: reads changes every second, with many credentials every five, and every hour removes
  /// credentials replaced more than 30 days ago.
  package func tick() {
    let (isDue, seconds) = reads.tick(table.withLock { $0.count })
    if seconds % Self.sweepSeconds == 0 { sweep() }
    if isDue { refresh() }
  }

  /// Reads changes from the database; the completion runs when everything committed before this call is
  /// known.
  package func refresh(_ done: CredentialReads.Done? = nil) {
    reads.run(done) { [self] number, ended in
      let (opened, own) = (table.withLock { $0.openedIDs }, scope.rows)
      store.read { transaction throws(StorageError) in
        try transaction.credentials.sealed(of: .apns, except: opened, in: own)
      } completion: { [self] result in
        if case .success(let (rows, sealed)) = result { apply(rows, sealed, read: number) }
        savePauses()
        ended(result.map { _ in () })
      }
    }
  }

  /// Whether the database was read.
  package var isKnown: Bool { table.withLock { $0.isKnown } }

  /// What to use for an app.
  package func selection(app: AppID, environment: APNsEnvironment) -> Selection {
    let now = time.now()
    return table.withLock { $0.selection(app: app, environment: environment, at: now) }
  }

  /// Stops the use of a credential immediately, and permanently once it is stored. The reason, for people,
  /// has at most 500 bytes. Unknown credentials are ignored.
  package func pause(_ id: APNsCredentialID, app: AppID, reason: String) {
    let text = String(pauseReason: reason)
    let now = time.now()
    let changes = table.withLock { $0.pause(id, app: app, reason: text, at: now) }
    guard !changes.isEmpty else { return }
    log.error(
      "APNs credential paused",
      ["app": .number(Int64(app.rawValue)), "credential": .number(id.rawValue), "reason": .text(text)])
    changes.forEach(onChange)
    savePauses()
  }

  /// The certificates of all apps, ordered by expiry.
  package func expiries() -> [APNsCredentialExpiry] {
    let now = time.now()
    return table.withLock { $0.expiries(at: now) }
  }

  /// Registers the gauges.
  package func register(_ metrics: Metrics) {
    metrics.computed("borealis_apns_credential_expiry_seconds", rows: { self.gauges })
    metrics.computed("borealis_apns_credentials_unusable") {
      let now = self.time.now()
      return Double(self.table.withLock { $0.unusableCount(at: now) })
    }
  }

  /// One value for each app and environment whose credential is a certificate.
  private var gauges: [(labels: String, value: Double)] {
    let now = time.now()
    return table.withLock { $0.inUse(at: now) }.compactMap { row in
      guard let end = row.expiresAt else { return nil }
      let labels = #"app="\#(row.appKey.text)",kind="certificate",environment="\#(row.environment.name)""#
      return (labels, Double(end.milliseconds - now.milliseconds) / 1000)
    }
  }

  // MARK: Reading

  private func apply(_ rows: [APNsCredentialRow], _ sealed: [APNsCredentialID: [UInt8]], read number: Int) {
    // Opening secrets and reading files is slow, so it happens outside of the lock.
    let keys = sealed.isEmpty ? nil : keys.open()
    var opened: [APNsCredentialID: OpenedSecret] = [:]
    for row in rows {
      guard let bytes = sealed[row.id], let keys else { continue }
      opened[row.id] = open(row, bytes, keys)
    }
    let now = time.now()
    let changes = table.withLock { $0.apply(rows, opened: opened, read: number, at: now) }
    for change in changes {
      if case .unreadable(let reason)? = change.status {
        log.error(
          "APNs credential cannot be opened",
          [
            "app": .number(Int64(change.app.rawValue)), "credential": .number(change.id.rawValue),
            "reason": .text(reason),
          ])
      }
      onChange(change)
    }
  }

  private func open(
    _ row: APNsCredentialRow, _ sealed: [UInt8], _ keys: Result<SealingKeys, CredentialKeys.Failure>
  ) -> OpenedSecret {
    do {
      let keys = try keys.get()
      switch row.kind {
      case .token:
        let key = try CredentialSecret.key(sealed, of: row, with: keys)
        return .token(
          ProviderTokenMint(key: key, keyID: row.name, teamID: row.teamID ?? "", time: time))
      case .certificate: return .certificate(try CredentialSecret.pair(sealed, of: row, with: keys))
      }
    } catch {
      return .unreadable("\(error)")
    }
  }

  // MARK: Writing

  /// Stores pauses that the database does not have yet; failures are retried at the next refresh.
  private func savePauses() {
    let pauses = table.withLock { $0.pauses.beginSaving() }
    guard !pauses.isEmpty else { return }
    let now = time.now()
    store.write { transaction throws(StorageError) in
      for pause in pauses {
        try transaction.storePause(of: pause.id, app: pause.app, reason: pause.reason, at: now)
      }
    } completion: { [self] result in
      var succeeded = true
      if case .failure(let error) = result {
        succeeded = false
        log.error("cannot store that APNs credentials are paused", ["reason": .text("\(error)")])
      }
      let begun = reads.begun
      table.withLock { [succeeded] in $0.pauses.endSaving(pauses, succeeded: succeeded, reads: begun) }
    }
  }

  private func sweep() {
    let now = time.now()
    store.write { [rows = scope.rows] transaction throws(StorageError) in
      try transaction.credentials.sweep(
        retiringSince: now.adding(seconds: -Self.keepReplaced), at: now, in: rows)
    } completion: { [log] result in
      guard case .success(let count) = result, count > 0 else { return }
      log.info("replaced APNs credentials removed", ["count": .number(Int64(count))])
    }
  }
}
