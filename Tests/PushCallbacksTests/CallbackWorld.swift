import Glibc
import PushBase
import PushCrypto
import PushDomain
import PushRouter
import PushTesting
import Synchronization

@testable import PushCallbacks
@testable import PushStorage

/// Callbacks on a real router and database, with an app.
final class CallbackWorld: Sendable {
  let clock = ManualClock()
  let metrics = Metrics()
  let router: Router
  let service: CallbackService
  let app: App
  let store: Store
  private let folder = TemporaryFolder()

  init(networks: [String] = ["127.0.0.1"], authorities: String? = nil) async throws {
    store = try Store.open(path: folder.database, readers: 2, log: .silent)
    router = Router(store: store, time: clock, log: .silent)
    try router.load()
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    var options = CallbackService.Options()
    options.networks = networks.compactMap { IPNetwork($0) }
    options.authorities = authorities
    let service = CallbackService(
      router: router, options: options,
      keys: CallbackKeys(read: { .success(keys) }, readOrMake: { _ in .success(keys) }), metrics: metrics,
      time: clock, log: .silent)
    guard let service else { throw StorageError(.other, "no thread") }
    self.service = service
    app = try await Self.makeApp(store, router)
  }

  deinit {
    service.close()
    store.close()
  }

  static func makeApp(_ store: Store, _ router: Router) async throws -> App {
    let key = AppKey(high: SystemRandom.next(), low: 1)
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.createApp(
        key: key, name: "test", secretHash: [UInt8](repeating: 0, count: 32), at: Timestamp(milliseconds: 0))
    }
    let found = await withCheckedContinuation { done in router.findApp(key) { done.resume(returning: $0) } }
    guard let app = try found.get() else { throw StorageError(.other, "no app") }
    return app
  }

  // MARK: What an app does

  @discardableResult
  func set(_ url: String?, types: CallbackTypes = .all, of other: App? = nil) async throws -> String? {
    let id = (other ?? app).id
    return try await withCheckedThrowingContinuation { done in
      service.set(id, url: url, types: types) { done.resume(with: $0.map { $0.secret }) }
    }
  }

  func rotate() async throws -> String? {
    try await withCheckedThrowingContinuation { done in
      service.rotateSecret(of: app.id) { done.resume(with: $0.map { $0.secret }) }
    }
  }

  func test() async throws -> CallbackAnswer {
    try await withCheckedThrowingContinuation { done in
      service.test(app.id) { done.resume(with: $0) }
    }
  }

  func register(in other: App? = nil) async throws -> (number: RegistrationNumber, id: RegistrationID) {
    let app = other ?? app
    let result = await withCheckedContinuation { done in
      router.register(
        in: app, platform: .android, fingerprint: [], environment: .none, token: [], appVersion: ""
      ) { done.resume(returning: $0) }
    }
    let id = try result.get().id
    guard let number = app.directory.find(id) else { throw StorageError(.other, "no registration") }
    return (number, id)
  }

  func push(
    callback: PushCallback? = nil, timeToLive: Int = 60, sendno: Int32 = 7, in other: App? = nil
  ) async throws -> MessageID {
    let app = other ?? app
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    let request = AcceptRequest(
      content: content, sendno: sendno, timeToLive: timeToLive, callback: callback)
    return try await withCheckedThrowingContinuation { done in
      router.accept(request, for: app) { done.resume(with: $0.map(\.id)) }
    }
  }

  /// Stores a batch with one event.
  func tell(to address: CallbackAddress? = nil, in other: App? = nil) async throws {
    let (id, now) = ((other ?? app).id, clock.now())
    let event = CallbackEvent([], id: Hex.encode(SystemRandom.bytes(8)), at: now)
    try await store.change { transaction throws(StorageError) in
      try transaction.insertCallbackBatch(
        app: id, to: address, events: 1, body: CallbackEvent.body([event]), at: now)
    }
  }

  // MARK: Work

  /// Writes what is late, and then does the work of once a second.
  func tick() async {
    router.tick()
    _ = try? await store.change { _ throws(StorageError) in 0 }
    service.tick()
  }

  /// Does the work of once a second, each time a second later, until something holds.
  func tick(until condition: @Sendable () async throws -> Bool) async throws {
    while try await !condition() {
      await tick()
      clock.advance(seconds: 1)
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  func batches(_ state: CallbackState? = nil, of other: App? = nil) async throws -> [CallbackBatchRow] {
    let id = (other ?? app).id
    return try await withCheckedThrowingContinuation { done in
      service.batches(of: id, state: state, before: .max, limit: 1000) { done.resume(with: $0) }
    }
  }
}
