import BorealisBase
import BorealisCrypto
import Glibc
import HTTP
import Model
import PushTesting
import Synchronization

@testable import Core
@testable import Storage

/// Callbacks on a real router and database, with an app.
final class CallbackWorld: Sendable {
  let clock = ManualClock()
  let metrics = Metrics()
  let router: Router
  let service: CallbackService
  let app: App
  private let database: TestDatabase
  var store: Store { database.store }

  init(
    networks: [String] = ["127.0.0.1"], authorities: String? = nil, retention: Int64 = 3 * 86_400,
    tracer: Tracer? = nil
  ) async throws {
    database = try TestDatabase()
    var routing = RouterOptions()
    routing.tracer = tracer
    router = Router(store: database.store, scope: .all, options: routing, time: clock, log: .silent)
    try router.load()
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    var options = CallbackService.Options()
    options.networks = networks.compactMap { IPNetwork($0) }
    options.authorities = authorities
    options.retention = retention
    let service = CallbackService(
      router: router, store: database.store, options: options,
      keys: CallbackKeys(read: { .success(keys) }, readOrMake: { _ in .success(keys) }), metrics: metrics,
      time: clock, log: .silent)
    guard let service else { throw StorageError(.other, "no thread") }
    self.service = service
    app = try await router.makeApp(in: database.store)
  }

  deinit {
    service.close()
    router.unplug()
  }

  func addApp() async throws -> App { try await router.makeApp(in: store) }

  // MARK: What an app does

  @discardableResult
  func set(_ url: String?, types: CallbackTypes = .all, of other: App? = nil) async throws -> String? {
    let id = (other ?? app).id
    return try await awaitCallback { done in
      service.set(id, url: url, types: types) { done($0.map { $0.secret }) }
    }.get()
  }

  func rotate() async throws -> String? {
    try await awaitCallback { done in
      service.rotateSecret(of: app.id) { done($0.map { $0.secret }) }
    }.get()
  }

  func test() async throws -> CallbackAnswer {
    try await awaitCallback { done in
      service.test(app.id) { done($0) }
    }.get()
  }

  func register(in other: App? = nil) async throws -> (number: RegistrationNumber, id: RegistrationID) {
    let device = try await router.newDevice(in: other ?? app)
    return (device.number, device.id)
  }

  func push(
    callback: PushCallback? = nil, timeToLive: Int = 60, sendno: Int64 = 7, in other: App? = nil,
    trace: ActiveSpan? = nil
  ) async throws -> MessageID {
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    var request = AcceptRequest(
      PushRequest(
        platforms: .all, audience: .all, content: content,
        options: PushOptions(sendno: sendno, timeToLive: timeToLive), callback: callback))
    request.trace = trace
    return try await router.acceptance.accept(request, for: other ?? app).get().id
  }

  /// Stores a batch with one event.
  func storeEvent(to address: CallbackAddress? = nil, in other: App? = nil) async throws {
    let (id, now) = ((other ?? app).id, clock.now())
    let event = CallbackEvent([], id: Hex.encode(SystemRandom.bytes(8)), at: now)
    try await store.change { transaction throws(StorageError) in
      try transaction.callbacks.insertBatch(
        app: id, to: address, events: 1, body: CallbackEvent.body([event]), at: now,
        until: now.adding(seconds: CallbackEvent.lifetime))
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
    return try await awaitCallback { done in
      service.batches(of: id, state: state, before: .max, limit: 1000) { done($0) }
    }.get()
  }
}
