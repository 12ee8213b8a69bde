import BorealisBase
import Glibc
import Model
import PushTesting
import Synchronization
import Testing

@testable import Core
@testable import Storage

/// What the operator and developers change about apps.
@Suite struct AppLifeTests {
  private func delete(_ world: TestWorld) async -> Result<Void, AppFailure> {
    await awaitCallback { done in
      world.router.apps.delete(world.app.key, of: .standard) { done($0) }
    }
  }

  /// Waits for work that goes on in steps of its own.
  private func eventually(_ world: TestWorld, _ holds: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<200 {
      if try await holds() { return true }
      try await world.tick()
    }
    return false
  }

  private func isPurged(_ world: TestWorld) async throws -> Bool {
    try await world.store.look { t throws(StorageError) in try t.deletedApps.all(in: .all) }.isEmpty
  }

  /// A deleted app's devices are sent away, nobody finds it, its data goes, and others keep theirs.
  @Test func deletion() async throws {
    let world = try await TestWorld()
    let other = try await world.addApp()
    let device = try await world.register()
    _ = try await world.register(in: other)
    let place = world.login(device)
    let app = world.app
    _ = try await world.accept(AcceptRequest.test()).get()
    _ = try await world.accept(AcceptRequest.test(), in: other).get()
    for owner in [app, other] { #expect(await world.router.upload("f", of: owner, pieces: 9) == nil) }
    _ = world.channel.drain()
    guard case .success = await delete(world) else {
      Issue.record("not deleted")
      return
    }
    #expect(world.channel.drain() == [.disconnect(place, .appDisabled), .forget(app.id)])
    #expect(app.isDisabled && app.isDeleted && world.router.apps.loaded(app.key) == nil)
    let found = await awaitCallback { done in
      world.router.apps.find(app.key) { done($0) }
    }
    #expect(try found.get() == nil)
    #expect(await world.accept(AcceptRequest.test()) == .failure(.authenticationFailed))
    if case .success = await delete(world) { Issue.record("deleted twice") }
    #expect(try await eventually(world) { try await isPurged(world) })
    let counts = try await world.store.look { t throws(StorageError) in
      (try t.registrations.count(app: app.id), try t.registrations.count(app: other.id))
    }
    #expect(counts == (0, 1))
    let pieces = try await world.store.look { t throws(StorageError) in
      try t.database.all("SELECT owner FROM file_piece LEFT JOIN file ON file.id = file_piece.file") {
        $0.optionalText("owner")
      }
    }
    #expect(pieces == Array(repeating: other.key.text, count: 9))
    #expect(await world.router.upload("late", of: app, pieces: 1) == .unavailable)
    let last = try await world.store.look { t throws(StorageError) in try t.pushes.lastID() }
    #expect(
      try await world.store.look { t throws(StorageError) in try t.pushes.find(id: last)?.app } == other.id)
  }

  /// Another process deletes an app: the server learns it and does the work, also if it was stopped in
  /// between.
  @Test func deletionElsewhere() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let place = world.login(device)
    let app = world.app
    _ = try await world.store.change { t throws(StorageError) in
      try t.apps.delete(app.id, at: Timestamp(milliseconds: 1))
    }
    #expect(try await eventually(world) { app.isDeleted })
    #expect(world.channel.drain().contains(.disconnect(place, .appDisabled)))
    #expect(try await eventually(world) { try await isPurged(world) })
  }

  /// A row that was read before the app's deletion does not bring the app back to memory.
  @Test func `What was read before a deletion brings nothing back`() async throws {
    let world = try await TestWorld()
    let id = world.app.id
    let found = try await world.store.look { t throws(StorageError) in try t.apps.find(id) }
    let row = try #require(found)
    let table = AppTable(time: world.clock, limits: PendingLimits())
    let app = table.adopt(row, in: .all)
    #expect(table.adopt(row, in: .all) === app && app?.isDeleted == false)
    #expect(table.remove(row.key) === app)
    #expect(table.adopt(row, in: .all)?.isDeleted == true && table.find(row.key) == nil && table.all.isEmpty)
    let read = table.make(row)
    table.add(read)
    #expect(read.isDeleted && table.find(row.key) == nil && table.all.isEmpty)
  }

  /// Two threads change what an app has set up for callbacks: a call that has just stored it, and a look at
  /// all apps that was there before.
  @Test func `Callback settings that were read before a change do not undo it`() async throws {
    let world = try await TestWorld()
    let id = world.app.id
    let row = try #require(try await world.store.look { t throws(StorageError) in try t.apps.find(id) })
    let table = AppTable(time: world.clock, limits: PendingLimits())
    let app = try #require(table.adopt(row, in: .all))
    let callbacks = CallbackApps(table)
    let setting = CallbackSettingRow(
      app: id, url: "https://example.com/", types: .all, secret: [1], changedAt: Timestamp(milliseconds: 1))
    let round = Atomic<Int>(0)
    let done = Atomic<Int>(0)
    let count = 300
    try SystemThread.start("look") {
      for number in 1...count {
        let changes = callbacks.changes
        round.store(number, ordering: .sequentiallyConsistent)
        callbacks.apply([], readAt: changes)
        done.store(number, ordering: .sequentiallyConsistent)
        while round.load(ordering: .sequentiallyConsistent) == number { sched_yield() }
      }
    }
    var lost = 0
    for number in 1...count {
      while round.load(ordering: .sequentiallyConsistent) != number { sched_yield() }
      callbacks.apply(setting, of: id)
      while done.load(ordering: .sequentiallyConsistent) != number { sched_yield() }
      if app.callback(for: .test()) == nil { lost += 1 }
      round.store(-number, ordering: .sequentiallyConsistent)
    }
    #expect(lost == 0)
  }

  /// Only so many pushes to everybody are accepted in a day by the clocks of China; others are not counted.
  @Test func broadcasts() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    try await put(world, on: PlanRow(name: "small", broadcasts: 2, maxTimeToLive: 100_000))
    let everybody = AcceptRequest.test()
    func code(_ request: AcceptRequest) async -> Int? {
      if case .failure(let error) = await world.accept(request) { error.code } else { nil }
    }
    // 1,790,000,000 is 22:13:20 by the clocks of China.
    for expected in [nil, nil, 2008, 2008] { #expect(await code(everybody) == expected) }
    #expect(await code(AcceptRequest.test(to: [device])) == nil)
    try await world.restart(isOrderly: false)
    #expect(await code(everybody) == 2008)
    world.clock.advance(seconds: 6399)
    #expect(await code(everybody) == 2008)
    world.clock.advance(seconds: 1)
    #expect(await code(everybody) == nil)
    #expect(await code(AcceptRequest.test(timeToLive: 100_001)) == 1003)
    #expect(await code(AcceptRequest.test(to: [device], timeToLive: 100_000)) == nil)
  }

  /// The plan says how long a push lives at most; a day is what a push lives that says nothing.
  @Test func `A push that names no time to live keeps to the plan's`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let audience = Audience.devices([device.id])
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    func life(_ seconds: Int?) async throws -> Int64? {
      let request = AcceptRequest(to: audience, content, timeToLive: seconds)
      guard let id = try? await world.accept(request).get().id else { return nil }
      let row = try await world.store.look { t throws(StorageError) in try t.pushes.find(id: id) }
      return row.map { $0.expiresAt.seconds - $0.createdAt.seconds }
    }
    #expect(try await life(nil) == 86_400)
    try await put(world, on: PlanRow(name: "small", maxTimeToLive: 3600))
    #expect(try await life(nil) == 3600)
    #expect(try await life(60) == 60)
    #expect(try await life(3601) == nil)
    let validated = await awaitCallback { done in
      world.router.acceptance.validate(AcceptRequest(to: audience, content), for: world.app) { done($0) }
    }
    #expect(try validated.get().targets == 1)
    try await put(world, on: PlanRow(name: "long", maxTimeToLive: 100_000))
    #expect(try await life(nil) == 86_400)
  }

  /// What was accepted stays so, whatever is said of another push like it.
  @Test func `A repeated push gets its first answer after the plan has changed`() async throws {
    let world = try await TestWorld()
    _ = try await world.register()
    let first = try await world.accept(.test(cid: "once")).get()
    try await put(world, on: PlanRow(name: "small", maxTimeToLive: 3600))
    #expect(try await world.accept(.test(cid: "once")).get() == first)
    guard case .failure(let error) = await world.accept(.test(cid: "other")) else {
      Issue.record("accepted")
      return
    }
    #expect(error.code == 1003)
  }

  /// An update of a Live Activity goes to those who have its token, whatever else is not said.
  @Test func activitiesAreNoBroadcasts() async throws {
    let world = try await TestWorld()
    let phone = try await world.register(token: [1], platform: .ios)
    let slot = try #require(APNsTokenSlot(.liveActivity, name: "match"))
    let set = await awaitCallback { done in
      world.router.registrations.setTokens(
        [PushToken(slot, .production, [2])], of: phone.number, in: world.app
      ) {
        done($0)
      }
    }
    try set.get()
    try await put(world, on: PlanRow(name: "small", broadcasts: 0))
    var request = AcceptRequest.test()
    request.push.content = try .activity(slot)
    #expect(await world.accept(request) == .failure(.broadcastLimit))
    request.push.audience = .filter(AudienceFilter(liveActivityID: "match"))
    #expect(try await world.accept(request).get().targets == 1)
  }

  /// Of two slots that are told one token in one call the later has it, in memory as in the database.
  @Test func `A token told twice stands once`() async throws {
    let world = try await TestWorld()
    let phone = try await world.register(token: [1], platform: .ios)
    let slots = try ["first", "second"].map { try #require(APNsTokenSlot(.liveActivity, name: $0)) }
    let set = await awaitCallback { done in
      world.router.registrations.setTokens(
        slots.map { PushToken($0, .production, [2]) }, of: phone.number, in: world.app
      ) {
        done($0)
      }
    }
    try set.get()
    var request = AcceptRequest.test()
    request.push.content = try .activity(slots[1])
    request.push.audience = .filter(AudienceFilter(liveActivityID: "second"))
    #expect(try await world.accept(request).get().targets == 1)
    request.push.content = try .activity(slots[0])
    request.push.audience = .filter(AudienceFilter(liveActivityID: "first"))
    #expect(await world.accept(request) == .failure(.noTarget))
  }

  /// When the plan's speed is used up pushes wait for the next second, in order.
  @Test func speed() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    try await put(world, on: PlanRow(name: "slow", speed: 1))
    let first = try await world.accept(.test()).get()
    let second = Mutex<AcceptedPush?>(nil)
    world.router.acceptance.accept(.test(), for: world.app) { result in
      second.withLock { $0 = try? result.get() }
    }
    try await world.tick()
    #expect(second.withLock { $0 } == nil)
    world.clock.advance(seconds: 1)
    #expect(try await eventually(world) { second.withLock { $0 } != nil })
    #expect(second.withLock { $0 }.map { $0.id > first.id } == true)
    #expect(world.pending(device).count == 2)
  }

  private func put(_ world: TestWorld, on plan: PlanRow) async throws {
    let id = world.app.id
    _ = try await world.store.change { t throws(StorageError) in
      try t.plans.set(plan)
      return try t.apps.setPlan(app: id, plan.name)
    }
    let app = world.app
    #expect(try await eventually(world) { app.plan == plan })
  }
}
