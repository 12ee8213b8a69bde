import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Testing

@testable import Channels
@testable import Core
@testable import Storage

/// Apps that come to this home, from another one or as new ones.
@Suite struct AppArrivalTests {
  /// Channels learn of it before anybody can find it: there must be no moment in which pushes pass a channel
  /// by.
  @Test func `The first push of an app that was just loaded goes over its vendor`() async throws {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    try await scene.device("a")
    // As `Loading` does it for an app that was here before.
    _ = try #require(scene.router.apps.table.unload(scene.app.key))
    scene.channel.forget(scene.app)
    try await awaitCallback { done in scene.channel.learnChanges { done($0) } }.get()
    scene.router.apps.table.add(scene.app)
    _ = try await scene.push()
    #expect(try await scene.requests(1).count == 1)
  }

  /// Adds an app with a credential to the database, as other processes do.
  private static func makeApp(
    _ key: AppKey, _ keys: SealingKeys, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) -> AppID {
    let hash = [UInt8](repeating: 1, count: 32)
    let id = try transaction.apps.create(
      NewApp(key: key, name: "n", secretHash: hash, account: .standard), at: now)
    try transaction.credentials.replace(
      app: id,
      VendorUpload(subject: "s", name: "", secret: [2]).credential(
        for: id, of: ScriptedVendor.channel.id, sealedWith: keys), at: now)
    return id
  }

  /// A group finds its apps in the database, as `Apps.find` does.
  @Test func `An app that a push to a group finds has its vendors at once`() async throws {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    let (keys, now) = (try scene.parts.keys.open().get(), scene.clock.now())
    let (key, groupKey) = (AppKey.random(), AppKey.random())
    try await scene.parts.store.change { t throws(StorageError) in
      _ = try Self.makeApp(key, keys, at: now, in: t)
      let hash = [UInt8](repeating: 1, count: 32)
      let group = try t.appGroups.create(key: groupKey, name: "g", secretHash: hash, at: now)
      _ = try t.appGroups.addApp(key, toGroup: group)
    }
    let group = try await awaitCallback { done in scene.router.groups.find(groupKey) { done($0) } }.get()
    let app = try #require(group?.apps.first)
    #expect(!scene.channel.offers(PushContent(variants: []), .jpush, in: app).isEmpty)
  }

  /// `borealis app create`, `app channel`, `import`, and a push within the same second.
  @Test func `An app that an import has brought has its vendors at once`() async throws {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    let (keys, now) = (try scene.parts.keys.open().get(), scene.clock.now())
    let (key, apps) = (AppKey.random(), scene.router.apps)
    try await scene.parts.store.change { t throws(StorageError) in
      let id = try Self.makeApp(key, keys, at: now, in: t)
      let device = ImportedRegistration(
        registrationID: RegistrationID(high: 1, low: 7), platform: .android)
      _ = try RegistrationImport(into: id, adoption: .token, at: now).add([device], in: t)
    }
    scene.router.imports.learn()
    for _ in 0..<2000 where apps.loaded(key) == nil { try await Task.sleep(for: .milliseconds(5)) }
    let app = try #require(apps.loaded(key))
    #expect(!scene.channel.offers(PushContent(variants: []), .jpush, in: app).isEmpty)
  }

  /// Without its credential, what waits for the vendor would end.
  @Test func `An app whose credentials cannot be read is not found`() async throws {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    let (store, now) = (scene.parts.store, scene.clock.now())
    let key = AppKey.random()
    try await store.change { t throws(StorageError) in
      let hash = [UInt8](repeating: 1, count: 32)
      _ = try t.apps.create(NewApp(key: key, name: "n", secretHash: hash, account: .standard), at: now)
      try t.database.run("ALTER TABLE credential RENAME TO away")
    }
    let apps = scene.router.apps
    func find() async -> Result<App?, DeviceFailure> {
      await awaitCallback { done in apps.find(key) { done($0) } }
    }
    let missing = await find().map { $0?.key }
    #expect(missing == .failure(.unavailable))
    try await store.change { t throws(StorageError) in
      try t.database.run("ALTER TABLE away RENAME TO credential")
    }
    let found = try await find().get()
    #expect(found?.key == key)
  }
}
