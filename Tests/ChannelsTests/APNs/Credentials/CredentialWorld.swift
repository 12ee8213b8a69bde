import BorealisBase
import BorealisCrypto
import Channels
import Glibc
import PushTesting
import Storage
import Synchronization

/// A database in a folder of its own, a sealing key, and a store of credentials that reads both.
final class CredentialWorld: Sendable {
  struct Missing: Error {}

  let clock = ManualClock()
  private let database: TestDatabase
  var store: Store { database.store }
  let keys: Mutex<SealingKeys?>
  let changes = Mutex<[APNsCredentialChange]>([])

  init() throws {
    database = try TestDatabase(readers: 1)
    keys = Mutex(try SealingKeys(text: SealingKeys.makeLine()))
  }

  func makeCredentials() -> CredentialStore {
    CredentialStore(
      store: store, scope: .all,
      keys: .init(open: { [self] in
        keys.withLock { $0 }.map { .success($0) } ?? .failure(.init("the secret key file is missing"))
      }), time: clock, log: .silent, onChange: { [self] change in changes.withLock { $0.append(change) } })
  }

  /// Changes since the last call.
  func drainChanges() -> [APNsCredentialChange] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }

  /// Waits for all changes that were begun.
  func written() async throws {
    try await store.change(lowPriority: true) { _ throws(StorageError) in }
    try await store.change { _ throws(StorageError) in }
  }

  func rows() async throws -> [APNsCredentialRow] {
    try await awaitCallback { done in
      store.read { transaction throws(StorageError) in
        try transaction.credentials.all(in: .all)
      } completion: {
        done($0)
      }
    }.get()
  }

  func makeApp() async throws -> AppID {
    let now = clock.now()
    return try await store.change { transaction throws(StorageError) in
      try transaction.apps.create(
        key: AppKey(high: SystemRandom.next(), low: 7), name: "test",
        secretHash: Array(repeating: 1, count: 32), at: now)
    }
  }

  /// Stores what was uploaded, as the command does.
  func add(_ upload: CredentialUpload, to app: AppID) async throws -> [APNsCredentialID] {
    let rows = upload.rows(for: app, sealedWith: try keys.withLock { try requireKeys($0) })
    let now = clock.now()
    return try await store.change { transaction throws(StorageError) in
      var ids: [APNsCredentialID] = []
      for row in rows { ids.append(try transaction.credentials.add(app: app, row, at: now)) }
      return ids
    }
  }

  private func requireKeys(_ keys: SealingKeys?) throws -> SealingKeys {
    guard let keys else { throw SealError.noKey }
    return keys
  }

  static func upload(
    _ key: ES256Key, environments: [APNsEnvironment] = [.production], topic: String = "com.example.app"
  ) throws -> CredentialUpload {
    try CredentialUpload(
      p8: Array(key.pem.utf8), fileName: "AuthKey_K7Q2M9X4TB.p8", keyID: nil, teamID: "T5Z8W1R6PD",
      topic: topic,
      environments: environments)
  }
}

extension CredentialStore {
  /// Reads the database and waits.
  func refreshed() async throws {
    try await awaitCallback { done in refresh { done($0) } }.get()
  }

  /// The number of the credential in use, nil if there is none.
  func inUse(_ app: AppID, _ environment: APNsEnvironment = .production) -> APNsCredentialID? {
    if case .use(let credential) = selection(app: app, environment: environment) {
      credential.id
    } else {
      nil
    }
  }

  /// Why there is none.
  func problem(_ app: AppID, _ environment: APNsEnvironment = .production) -> String? {
    if case .unusable(let reason) = selection(app: app, environment: environment) { reason } else { nil }
  }
}
