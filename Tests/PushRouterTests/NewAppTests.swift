import PushBase
import PushDomain
import PushStorage
import PushTesting
import Testing

@testable import PushRouter

@Suite struct NewAppTests {
  /// `borealis app create`, `borealis app callback set`, and a push within the same second.
  @Test func `The first push of an app of another process has its callbacks`() async throws {
    let world = try await TestWorld()
    let key = AppKey.random()
    let id = try await world.store.change { t throws(StorageError) in
      let id = try t.apps.create(
        NewApp(key: key, name: "n", secretHash: [UInt8](repeating: 1, count: 32), account: .standard),
        at: Timestamp(milliseconds: 0))
      try t.callbacks.set(
        CallbackSettingRow(
          app: id, url: "https://example.com/", types: .all, secret: [1],
          changedAt: Timestamp(milliseconds: 1)))
      return id
    }
    let app = try #require(
      try await awaitCallback { done in world.router.apps.find(key) { done($0) } }.get())
    _ = try await world.register(in: app)
    let push = try await world.accept(AcceptRequest.test(), in: app).get().id
    let row = try await world.store.look { t throws(StorageError) in try t.callbacks.push(of: push, app: id) }
    #expect(row != nil)
  }
}
