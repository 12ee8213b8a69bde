import PushBase
import PushCrypto
import PushStorage
import Synchronization

/// The opened credentials of all apps: which one to use, whether something changed, when certificates expire.
/// `borealis app apns` changes the database from other processes, so it is read every few seconds. All functions may be
/// called from any thread.
public final class CredentialStore: Sendable {
  /// The credential to use for an app in an APNs environment.
  public enum Selection: Sendable {
    /// The newest that can be used; a replaced one only while no other can be used.
    case use(APNsCredential)
    /// The app has none for the environment.
    case missing
    /// None can be used; with the problem of the newest, for people.
    case unusable(String)
  }

  /// Reads the keys that credentials are sealed with; the message of a failure names the file.
  public typealias KeySource = @Sendable () -> Result<SealingKeys, KeyFailure>

  /// Why there are no keys.
  public struct KeyFailure: Error, Sendable {
    /// One line for people.
    public let message: String

    /// Wraps a line.
    public init(_ message: String) { self.message = message }
  }

  /// The callers of a refresh.
  public typealias Completion = @Sendable (Result<Void, StorageError>) -> Void

  private struct State: Sendable {
    var credentials = CredentialTable()
    var isRefreshing = false
    /// Callers during a running refresh, which may have read before their change.
    var waiting: [Completion] = []
    var ticks = 0
  }

  /// The interval between two reads is a second per this many credentials, at most five.
  private static let credentialsInSecond = 250
  private static let sweepSeconds = 3600
  /// How long a replaced credential is kept, in seconds.
  private static let keepReplaced: Int64 = 30 * 86_400

  private let store: Store
  private let keys: KeySource
  private let time: any TimeSource
  private let log: Log
  private let onChange: @Sendable (APNsCredentialChange) -> Void
  private let state = Mutex(State())

  /// Is empty until the first `refresh`. `onChange` is called for each credential that is new, removed or has another
  /// status, on a thread of the store or the caller's; it must be short.
  public init(
    store: Store, keys: @escaping KeySource, time: any TimeSource = SystemTime(), log: Log,
    onChange: @escaping @Sendable (APNsCredentialChange) -> Void = { _ in }
  ) {
    self.store = store
    self.keys = keys
    self.time = time
    self.log = log
    self.onChange = onChange
  }

  /// Call once a second: reads changes every second, with many credentials every five, and every hour removes credentials
  /// replaced more than 30 days ago.
  public func tick() {
    let (tick, pause) = state.withLock { state in
      state.ticks &+= 1
      return (state.ticks, min(state.credentials.count / Self.credentialsInSecond + 1, 5))
    }
    if tick % Self.sweepSeconds == 0 { sweep() }
    if tick % pause == 0 { refresh() }
  }

  /// Reads changes from the database; the completion runs when everything committed before this call is known.
  public func refresh(_ completion: @escaping Completion = { _ in }) {
    let starts = state.withLock { state in
      guard state.isRefreshing else {
        state.isRefreshing = true
        return true
      }
      state.waiting.append(completion)
      return false
    }
    if starts { read(for: [completion]) }
  }

  /// Whether the database was read.
  public var isKnown: Bool { state.withLock { $0.credentials.isKnown } }

  /// What to use for an app.
  public func selection(app: AppID, environment: APNsEnvironment) -> Selection {
    let now = time.now()
    return state.withLock { $0.credentials.selection(app: app, environment: environment, at: now) }
  }

  /// Stops the use of a credential immediately, and permanently once it is stored. The reason, for people, has at most
  /// 500 bytes. Unknown credentials are ignored.
  public func pause(_ id: APNsCredentialID, app: AppID, reason: String) {
    let text = Self.shortened(reason)
    let now = time.now()
    let changes = state.withLock { $0.credentials.pause(id, app: app, reason: text, at: now) }
    guard !changes.isEmpty else { return }
    log.error(
      "APNs credential paused",
      ["app": .number(Int64(app.rawValue)), "credential": .number(id.rawValue), "reason": .text(text)])
    changes.forEach(onChange)
    savePauses()
  }

  /// The certificates of all apps, ordered by expiry.
  public func expiries() -> [APNsCredentialExpiry] {
    let now = time.now()
    return state.withLock { $0.credentials.expiries(at: now) }
  }

  /// Registers the gauges.
  public func register(_ metrics: Metrics) {
    metrics.computed(
      "borealis_apns_credential_expiry_seconds", "Time until the APNs certificate in use ends",
      rows: { self.gauges })
    metrics.computed(
      "borealis_apns_credentials_unusable", "APNs credentials that are paused, expired or unreadable"
    ) {
      let now = self.time.now()
      return Double(self.state.withLock { $0.credentials.unusableCount(at: now) })
    }
  }

  /// One value for each app and environment whose credential is a certificate.
  private var gauges: [(labels: String, value: Double)] {
    let now = time.now()
    return state.withLock { $0.credentials.inUse(at: now) }.compactMap { row in
      guard let end = row.expiresAt else { return nil }
      let labels = #"app="\#(row.appKey.text)",kind="certificate",environment="\#(row.environment.name)""#
      return (labels, Double(end.milliseconds - now.milliseconds) / 1000)
    }
  }

  // MARK: Reading

  private func read(for completions: [Completion]) {
    let (number, opened) = state.withLock { ($0.credentials.beginRead(), $0.credentials.openedIDs) }
    store.read { transaction throws(StorageError) in
      let rows = try transaction.credentials.all()
      var sealed: [APNsCredentialID: [UInt8]] = [:]
      for row in rows where !opened.contains(row.id) {
        sealed[row.id] = try transaction.credentials.sealed(app: row.app, id: row.id)
      }
      return (rows, sealed)
    } completion: { [self] result in
      if case .success(let (rows, sealed)) = result { take(rows, sealed, read: number) }
      savePauses()
      let answer = result.map { _ in () }
      for completion in completions { completion(answer) }
      next()
    }
  }

  private func next() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isRefreshing = !state.waiting.isEmpty
      return state.waiting
    }
    if !waiting.isEmpty { read(for: waiting) }
  }

  private func take(_ rows: [APNsCredentialRow], _ sealed: [APNsCredentialID: [UInt8]], read number: Int) {
    // Opening secrets and reading files is slow, so it happens outside of the lock.
    let keys = sealed.isEmpty ? nil : keys()
    var opened: [APNsCredentialID: OpenedSecret] = [:]
    for row in rows {
      guard let bytes = sealed[row.id], let keys else { continue }
      opened[row.id] = open(row, bytes, keys)
    }
    let now = time.now()
    let changes = state.withLock { $0.credentials.take(rows, opened: opened, read: number, at: now) }
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
    _ row: APNsCredentialRow, _ sealed: [UInt8], _ keys: Result<SealingKeys, KeyFailure>
  ) -> OpenedSecret {
    do {
      let keys = try keys.get()
      switch row.kind {
      case .token:
        let key = try CredentialSecret.key(sealed, app: row.app, with: keys)
        return .token(
          ProviderTokenMint(key: key, keyID: row.keyID ?? "", teamID: row.teamID ?? "", time: time))
      case .certificate: return .certificate(try CredentialSecret.pair(sealed, app: row.app, with: keys))
      }
    } catch let failure as KeyFailure {
      return .unreadable(failure.message)
    } catch {
      return .unreadable("\(error)")
    }
  }

  // MARK: Writing

  /// Stores pauses that the database does not have yet; failures are retried at the next refresh.
  private func savePauses() {
    let pauses = state.withLock { $0.credentials.takeUnsavedPauses() }
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
      state.withLock { $0.credentials.endSaving(pauses, succeeded: succeeded) }
    }
  }

  private func sweep() {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.credentials.sweep(retiringSince: now.adding(seconds: -Self.keepReplaced), at: now)
    } completion: { [log] result in
      guard case .success(let count) = result, count > 0 else { return }
      log.info("replaced APNs credentials removed", ["count": .number(Int64(count))])
    }
  }

  static func shortened(_ reason: String) -> String {
    var text = reason.isEmpty ? "no reason given" : reason
    while text.utf8.count > 500 { text.removeLast() }
    return text
  }
}
