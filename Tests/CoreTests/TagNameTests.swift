import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core
@testable import Storage

/// An app has so many names of tags. Devices cannot take all of them away, and those that nobody uses come
/// back.
@Suite struct TagNameTests {
  private static let keptSeconds = RegistrationLimits.unusedTagSeconds

  private func world(ofApp: Int, byDevices: Int, newPerDay: Int = 1000) async throws -> TestWorld {
    var options = RouterOptions()
    (options.tags.ofApp, options.tags.byDevices, options.tags.newPerDay) = (ofApp, byDevices, newPerDay)
    return try await TestWorld(options: options)
  }

  /// The device itself adds tags.
  private func add(
    _ tags: [String], by device: TestDevice, in world: TestWorld
  ) async -> Result<Void, DeviceFailure> {
    await Self.add(tags, by: device, world.router, world.app)
  }

  private static func add(
    _ tags: [String], by device: TestDevice, _ router: Router, _ app: App
  ) async -> Result<Void, DeviceFailure> {
    await awaitCallback { done in
      router.registrations.changeTags(.edit(add: tags, remove: []), of: device.number, in: app) { done($0) }
    }
  }

  private func names(_ world: TestWorld) async throws -> [String] {
    let app = world.app.id
    return try await world.store.look { t throws(StorageError) in
      try t.tags.all(app: app).map { "\($0.number) \($0.name)" }
    }
  }

  @Test func `However many names an app has had, it gets new ones`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    try await world.run(
      script: "INSERT INTO tag (app_id, number, name) VALUES (\(world.app.id.rawValue), 999999, 'last')")
    try await world.restart(isOrderly: true)
    try await world.change(DeviceChange(tags: .set(["new"])), of: device).get()
    #expect(world.app.directory.firstTags(100) == ["new"])
    try await world.restart(isOrderly: false)
    #expect(world.app.directory.hasTag("new", device.number))
  }

  @Test func `Devices leave names for the app's server, and each makes so many a day`() async throws {
    let world = try await world(ofApp: 8, byDevices: 6, newPerDay: 4)
    let (one, other) = (try await world.register(), try await world.register())
    #expect(isFailed(await add(["a", "b", "c", "d", "e"], by: one, in: world), .newTagsUsedUp))
    #expect(isDone(await add(["a", "b", "c"], by: one, in: world)))
    #expect(isFailed(await add(["d", "e"], by: one, in: world), .newTagsUsedUp))
    #expect(isDone(await add(["d"], by: one, in: world)))
    #expect(isFailed(await add(["e"], by: one, in: world), .newTagsUsedUp))
    // What is there is not new.
    #expect(isDone(await add(["a", "b", "c", "d"], by: other, in: world)))
    #expect(isFailed(await add(["e", "f", "g"], by: other, in: world), .appTagsFull))
    #expect(isDone(await add(["e", "f"], by: other, in: world)))
    #expect(isFailed(await add(["g"], by: other, in: world), .appTagsFull))
    #expect(try await names(world) == ["0 a", "1 b", "2 c", "3 d", "4 e", "5 f"])
    world.clock.advance(seconds: 86_400)
    #expect(isFailed(await add(["g"], by: one, in: world), .appTagsFull))
    try await world.restart(isOrderly: false)
    #expect(isFailed(await add(["g"], by: one, in: world), .appTagsFull))
    // The server has two more.
    let change = DeviceChange(tags: .edit(add: ["g", "h"], remove: []))
    #expect(isDone(await world.change(change, of: one)))
    #expect(isFailed(await world.change(DeviceChange(tags: .set(["i"])), of: one), .appTagsFull))
    #expect(world.app.directory.hasTag("h", one.number))
    #expect(try await names(world).count == 8)
  }

  @Test func `A day later a device may make names again`() async throws {
    let world = try await world(ofApp: 8, byDevices: 6, newPerDay: 2)
    let device = try await world.register()
    #expect(isDone(await add(["a", "b"], by: device, in: world)))
    #expect(isFailed(await add(["c"], by: device, in: world), .newTagsUsedUp))
    world.clock.advance(seconds: 86_400)
    #expect(isDone(await add(["c"], by: device, in: world)))
  }

  /// None of these changes is in memory when the next one is made: they share a commit.
  @Test func `The bounds hold for changes at the same time`() async throws {
    let world = try await world(ofApp: 20, byDevices: 12, newPerDay: 8)
    let devices = try await world.registerMany(2)
    let gate = Gate()
    gate.hold(world.store)
    let results = await withTaskGroup(of: Result<Void, DeviceFailure>.self) { group in
      for number in 0..<20 {
        group.addTask { [router = world.router, app = world.app] in
          await Self.add(["t\(number)"], by: devices[number % 2], router, app)
        }
      }
      while world.store.statistics.waiting < 20 { await Task.yield() }
      gate.open()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.count { isDone($0) } == 12 && world.app.directory.firstTags(100).count == 12)
  }

  @Test func `Names that nobody has go, and their numbers are not given again`() async throws {
    let world = try await world(ofApp: 3, byDevices: 3)
    let device = try await world.register()
    #expect(isDone(await add(["a", "b", "c"], by: device, in: world)))
    try await world.change(DeviceChange(tags: .set(["b"])), of: device).get()
    try await world.tick()
    world.clock.advance(seconds: Self.keptSeconds - 1)
    try await world.tick()
    #expect(try await names(world) == ["0 a", "1 b", "2 c"])
    #expect(isFailed(await add(["d"], by: device, in: world), .appTagsFull))
    world.clock.advance(seconds: 1)
    try await world.tick()
    // The last one tells the next number.
    #expect(try await names(world) == ["1 b", "2 c"])
    #expect(isDone(await add(["a"], by: device, in: world)))
    #expect(try await names(world) == ["1 b", "2 c", "3 a"])
    #expect(world.app.directory.firstTags(100) == ["a", "b"])
    // Later it goes as well.
    try await world.tick()
    world.clock.advance(seconds: Self.keptSeconds)
    try await world.tick()
    #expect(try await names(world) == ["1 b", "3 a"])
    // The device once lost another tag of that name.
    let lost = try await world.store.look { [app = world.app.id] t throws(StorageError) in
      let lost = try t.registrations.history(app: app, number: device.number)?.lostTags.map(\.number) ?? []
      return (numbers: lost, names: try t.tags.names(app: app, numbers: lost))
    }
    #expect(lost.numbers == [0, 2] && lost.names == [])
    #expect(try Store.check(world.folder.store()).problems == [])
  }

  @Test func `Names that a server finds without anybody go too`() async throws {
    let world = try await world(ofApp: 3, byDevices: 3)
    let device = try await world.register()
    #expect(isDone(await add(["a", "b", "c"], by: device, in: world)))
    try await world.change(DeviceChange(tags: .clean), of: device).get()
    try await world.restart(isOrderly: false)
    #expect(isFailed(await add(["d", "e"], by: device, in: world), .appTagsFull))
    try await world.tick()
    world.clock.advance(seconds: Self.keptSeconds)
    try await world.tick()
    #expect(isDone(await add(["d", "e"], by: device, in: world)))
    try await world.restart(isOrderly: false)
    #expect(try await names(world) == ["2 c", "3 d", "4 e"])
    #expect(world.app.directory.firstTags(100) == ["d", "e"])
  }

  @Test func `A tag that comes back in the meantime stays`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let keeps = DeviceChange(tags: .set(["z"]))
    try await world.change(DeviceChange(tags: .set(["a"])), of: device).get()
    try await world.change(keeps, of: device).get()
    try await world.tick()
    world.clock.advance(seconds: Self.keptSeconds / 2)
    try await world.change(DeviceChange(tags: .edit(add: ["a"], remove: [])), of: device).get()
    try await world.change(keeps, of: device).get()
    world.clock.advance(seconds: Self.keptSeconds / 2)
    try await world.tick()
    #expect(try await names(world) == ["0 a", "1 z"], "its time began anew")
    world.clock.advance(seconds: Self.keptSeconds)
    // The deletion and a change wait for the writer at the same time.
    let gate = Gate()
    gate.hold(world.store)
    let (router, app) = (world.router, world.app)
    async let change = Self.add(["a"], by: device, router, app)
    while world.store.statistics.waiting < 1 { await Task.yield() }
    world.router.tick()
    gate.open()
    #expect(isDone(await change))
    try await world.barrier()
    for _ in 0..<2 {
      #expect(world.app.directory.hasTag("a", device.number))
      #expect(try await names(world) == ["0 a", "1 z"])
      try await world.restart(isOrderly: false)
    }
  }

  @Test func `A tag that another process has just given stays`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    try await world.change(DeviceChange(tags: .set(["a", "b"])), of: device).get()
    try await world.change(DeviceChange(tags: .clean), of: device).get()
    try await world.tick()
    world.clock.advance(seconds: Self.keptSeconds)
    let id = RegistrationID(high: 1, low: 7)
    let one = ImportedRegistration(registrationID: id, platform: .android, tags: ["a"])
    let outcomes = try await world.store.change { [app = world.app.id] t throws(StorageError) in
      try RegistrationImport(into: app, adoption: .token, at: Timestamp(milliseconds: 5)).add([one], in: t)
    }
    #expect(outcomes.map(\.outcome) == [.added])
    while world.app.directory.find(id) == nil { try await world.tick() }
    world.clock.advance(seconds: Self.keptSeconds)
    try await world.tick()
    #expect(try await names(world) == ["0 a", "1 b"])
    let number = try #require(world.app.directory.find(id))
    #expect(world.app.directory.hasTag("a", number))
  }

  @Test func `An import makes as many names as an app may have`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    try await world.change(DeviceChange(tags: .set(["a", "b", "z"])), of: device).get()
    try await world.change(DeviceChange(tags: .set(["z"])), of: device).get()
    try await world.tick()
    world.clock.advance(seconds: Self.keptSeconds)
    try await world.tick()
    let tags = [["c", "d", "e"], ["c"], ["c", "d"], ["e"], ["d", "z"]]
    let imported = tags.enumerated().map { index, tags in
      ImportedRegistration(
        registrationID: RegistrationID(high: UInt64(index), low: 1), platform: .android, tags: tags)
    }
    // Names that the app had before do not count.
    let outcomes = try await world.store.change { [app = world.app.id] t throws(StorageError) in
      try RegistrationImport(
        into: app, adoption: .token, at: Timestamp(milliseconds: 5), tagLimit: 3
      ).add(imported, in: t)
    }
    #expect(outcomes.allSatisfy { $0.outcome == .added })
    #expect(outcomes.map(\.losses) == [[.appTagsFull], [], [], [.appTagsFull], []])
    #expect(try await names(world) == ["2 z", "3 c", "4 d"])
  }
}
