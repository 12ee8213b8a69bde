import BorealisBase
import BorealisCrypto
import Core
import Storage
import Synchronization

/// Issues and checks the tokens of Getui's API. A token consists of the time when it expires, ten random
/// bytes and an authentication code (HMAC-SHA-256 with a key derived from the app's master secret). The
/// server therefore stores no tokens; they survive a restart and become invalid with their secret. It stores
/// only tokens that were revoked, until they expire: at most as many as `POST /auth` issues in a day.
final class Tokens: Sendable {
  /// The lifetime of a token, in seconds.
  static let lifetime: Int64 = 86_400
  /// The most by which the clocks of client and server may differ, in milliseconds.
  static let tolerance: Int64 = 600_000

  /// The cached access of an app.
  private struct Access: Sendable {
    /// The stored, sealed secret. While it is unchanged, it need not be opened again.
    let sealed: [UInt8]
    let secret: [UInt8]
    let key: [UInt8]
    /// Keys for the digests of requests, derived from the server's secret keys; that of the current one
    /// first.
    let digestKeys: [[UInt8]]
    /// When the database was read, on the monotonic clock.
    var readAt: UInt64
    /// Whether the database was changed since.
    var isOld = false
    var revoked: Set<[UInt8]>
  }

  /// The server reads the database again after this time, in nanoseconds, since another process may have
  /// changed the secret.
  private static let freshness: UInt64 = 2_000_000_000
  private static let idSize = 16
  private static let size = 32

  private let store: Store
  private let keys: GetuiKeys
  private let time: any TimeSource
  private let log: Log
  private let apps = Mutex<[AppID: Access]>([:])
  /// How often the database was changed as `learnChanges` tells.
  private let changes = Atomic<UInt64>(0)

  init(store: Store, keys: GetuiKeys, time: any TimeSource, log: Log) {
    (self.store, self.keys, self.time, self.log) = (store, keys, time, log)
  }

  // MARK: Checking

  /// Whether a token is valid; nil if the database must be read first.
  func checkAtOnce(_ token: String, of app: App) -> Bool? {
    let now = time.monotonic()
    guard let access = apps.withLock({ $0[app.id] }), !access.isOld,
      now &- access.readAt < Self.freshness
    else {
      return nil
    }
    return isValid(token, access)
  }

  /// Whether a token is valid; reads the database.
  func check(
    _ token: String, of app: App, _ done: @escaping @Sendable (Result<Bool, GetuiError>) -> Void
  ) {
    load(app) { [self] result in done(result.map { $0.map { isValid(token, $0) } ?? false }) }
  }

  private func isValid(_ token: String, _ access: Access) -> Bool {
    guard let bytes = Hex.decode(token), bytes.count == Self.size else { return false }
    let id = Array(bytes[..<Self.idSize])
    guard constantTimeEquals(Array(bytes[Self.idSize...]), Self.code(id, access.key)) else { return false }
    return Self.end(id) > time.now() && !access.revoked.contains(id)
  }

  // MARK: Digests

  /// The first byte of a digest with a key. Earlier versions stored the 32 bytes of a SHA-256 alone.
  private static let keyed: UInt8 = 1

  /// Computes the digest of a request: the HMAC-SHA-256 of its SHA-256, so that nobody can confirm a guessed
  /// request without the server's secret key. Nil if the app's access is not loaded; checking a token loads
  /// it.
  func digest(of request: [UInt8], for app: App) -> RequestDigest? {
    guard let keys = apps.withLock({ $0[app.id]?.digestKeys }) else { return nil }
    let plain = SHA256.digest(request)
    let digests = keys.map { [Self.keyed] + HMAC.sha256(key: $0, plain) }
    guard let first = digests.first else { return nil }
    return RequestDigest(first, older: digests.dropFirst() + [plain])
  }

  // MARK: Issuing

  /// The result of a request for a token.
  enum Issue: Sendable {
    case token(String, expiresAt: Timestamp)
    /// The signature does not match the app's secret, or the app has no secret.
    case refused
  }

  /// Issues a token if `sign` is the digest of `appkey + timestamp + mastersecret`.
  func issue(
    sign: String, timestamp: String, app: App,
    _ done: @escaping @Sendable (Result<Issue, GetuiError>) -> Void
  ) {
    load(app) { [self] result in
      done(
        result.map { access in
          guard let access, let given = Hex.decode(sign) else { return .refused }
          let signed = Array(app.key.text.utf8) + Array(timestamp.utf8) + access.secret
          guard constantTimeEquals(given, SHA256.digest(signed)) else { return .refused }
          let end = time.now().adding(seconds: Self.lifetime)
          var writer = ByteWriter(capacity: Self.size)
          writer.write(UInt64(bitPattern: end.milliseconds))
          // Six bytes of milliseconds last for some 8,900 years.
          let id = Array(writer.bytes[2...]) + SystemRandom.bytes(Self.idSize - 6)
          return .token(Hex.encode(id + Self.code(id, access.key)), expiresAt: end)
        })
    }
  }

  /// Revokes a valid token. Fails with 10001 for others.
  func revoke(_ token: String, of app: App, _ done: @escaping @Sendable (Result<Void, GetuiError>) -> Void) {
    check(token, of: app) { [self] result in
      guard case .success(true) = result, let bytes = Hex.decode(token) else {
        return done(result.flatMap { _ in .failure(.tokenInvalid) })
      }
      let id = Array(bytes[..<Self.idSize])
      store.write(of: app.id) { transaction throws(StorageError) in
        try transaction.getui.revokeToken(id, app: app.id, expiresAt: Self.end(id))
      } completion: { [self] result in
        guard case .success = result else { return done(.failure(.busy)) }
        _ = apps.withLock { $0[app.id]?.revoked.insert(id) }
        done(.success(()))
      }
    }
  }

  // MARK: Access

  /// From now on nothing counts that was read from the database before.
  func learnChanges() {
    changes.add(1, ordering: .sequentiallyConsistent)
    apps.withLock {
      $0 = $0.mapValues { access in
        var access = access
        access.isOld = true
        return access
      }
    }
  }

  /// Reads an app's access; nil if the app does not use this API.
  private func load(_ app: App, _ done: @escaping @Sendable (Result<Access?, GetuiError>) -> Void) {
    let (known, now, clock) = (apps.withLock { $0[app.id] }, time.now(), time.monotonic())
    let change = changes.load(ordering: .sequentiallyConsistent)
    store.read { transaction throws(StorageError) -> (GetuiAccessRow, [[UInt8]])? in
      guard let row = try transaction.getui.access(app: app.id) else { return nil }
      return (row, try transaction.getui.revokedTokens(app: app.id, at: now))
    } completion: { [self] result in
      switch result {
      case .failure: done(.failure(.busy))
      case .success(nil):
        apps.withLock { $0[app.id] = nil }
        done(.success(nil))
      case .success(let (row, revoked)?):
        guard var access = access(row, revoked, known, of: app, at: clock) else {
          return done(.failure(.busy))
        }
        // Tokens that were revoked in the meantime stay revoked.
        apps.withLock { apps in
          let before = apps[app.id]?.revoked ?? []
          access.isOld = changes.load(ordering: .sequentiallyConsistent) != change
          apps[app.id] = access
          apps[app.id]?.revoked.formUnion(before.filter { Self.end($0) > now })
        }
        done(.success(access))
      }
    }
  }

  private func access(
    _ row: GetuiAccessRow, _ revoked: [[UInt8]], _ known: Access?, of app: App, at clock: UInt64
  ) -> Access? {
    if var access = known, access.sealed == row.secret {
      access.readAt = clock
      access.revoked = Set(revoked)
      return access
    }
    guard let keys = keys.read(), let secret = try? GetuiSecret.open(row.secret, app: app.id, with: keys)
    else {
      log.error("cannot decrypt Getui's master secret", ["app": .text(app.key.text)])
      return nil
    }
    let key = HMAC.sha256(key: secret, Array("getui token \(app.key.text)".utf8))
    let digestKeys = keys.macKeys(for: SealingKeys.Context(app: app.id, purpose: "getui request"))
    return Access(
      sealed: row.secret, secret: secret, key: key, digestKeys: digestKeys, readAt: clock,
      revoked: Set(revoked))
  }

  // MARK: Form

  private static func code(_ id: [UInt8], _ key: [UInt8]) -> [UInt8] {
    Array(HMAC.sha256(key: key, id).prefix(size - idSize))
  }

  private static func end(_ id: [UInt8]) -> Timestamp {
    Timestamp(milliseconds: id.prefix(6).reduce(0) { $0 << 8 | Int64($1) })
  }
}
