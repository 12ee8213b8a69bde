import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

@Suite struct NewAppTests {
  /// `borealis app create`, `borealis app callback set`, and a push within the same second.
  @Test func `The first push of an app of another process has its callbacks`() async throws {
    let world = try await TestWorld()
    let key = AppKey.random()
    try await world.store.change { t throws(StorageError) in _ = try Self.makeApp(key, in: t) }
    let app = try #require(
      try await awaitCallback { done in world.router.apps.find(key) { done($0) } }.get())
    #expect(try await hasCallbacks(app, world))
  }

  /// The same with `borealis import`.
  @Test func `The first push of an app that an import has brought has its callbacks`() async throws {
    let world = try await TestWorld()
    let key = AppKey.random()
    try await world.store.change { t throws(StorageError) in
      let id = try Self.makeApp(key, in: t)
      let device = ImportedRegistration(
        registrationID: RegistrationID(high: 1, low: 7), platform: .android)
      _ = try RegistrationImport(into: id, adoption: .token, at: Timestamp(milliseconds: 5)).add(
        [device], in: t)
    }
    world.router.imports.learn()
    for _ in 0..<2000 where world.router.apps.loaded(key) == nil {
      try await Task.sleep(for: .milliseconds(5))
    }
    let app = try #require(world.router.apps.loaded(key))
    #expect(try await hasCallbacks(app, world))
  }

  /// The first devices of a new app register at the same time, and each has a reader of the database.
  @Test func `Two threads that look for a new app get the same one`() async throws {
    let world = try await TestWorld()
    let key = AppKey.random()
    try await world.store.change { t throws(StorageError) in _ = try Self.makeApp(key, in: t) }
    // When the first has not found it in memory, and makes it.
    world.clock.interruption.prepareBeside { [router = world.router] in
      let found = Semaphore()
      router.apps.find(key) { _ in found.signal() }
      found.wait()
    }
    let app = try await awaitCallback { done in world.router.apps.find(key) { done($0) } }.get()
    #expect(world.clock.interruption.wait())
    #expect(app === world.router.apps.loaded(key))
  }

  /// Adds an app with callbacks to the database.
  private static func makeApp(
    _ key: AppKey, in transaction: WriteTransaction
  ) throws(StorageError) -> AppID {
    let id = try transaction.apps.create(
      NewApp(key: key, name: "n", secretHash: [UInt8](repeating: 1, count: 32), account: .standard),
      at: Timestamp(milliseconds: 0))
    try transaction.callbacks.set(
      CallbackSettingRow(
        app: id, url: "https://example.com/", types: .all, secret: [1], changedAt: Timestamp(milliseconds: 1))
    )
    return id
  }

  /// Whether a push of an app is stored with callbacks.
  private func hasCallbacks(_ app: App, _ world: TestWorld) async throws -> Bool {
    _ = try await world.register(in: app)
    let (id, push) = (app.id, try await world.accept(AcceptRequest.test(), in: app).get().id)
    return try await world.store.look { t throws(StorageError) in
      try t.callbacks.push(of: push, app: id) != nil
    }
  }
}
