import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Synchronization
import Testing

@testable import Core
@testable import Storage

/// Registrations that nobody uses, and those that are deleted on request.
@Suite struct UnusedRegistrationTests {
  private static let day: Int64 = 86_400

  private func world(newcomers: Int64? = 30, inactive: Int64? = 255) async throws -> TestWorld {
    var options = RouterOptions()
    options.newcomerSeconds = newcomers.map { $0 * Self.day }
    options.inactiveSeconds = inactive.map { $0 * Self.day }
    return try await TestWorld(options: options)
  }

  /// Connects a device and disconnects it.
  private func visit(_ device: TestDevice, _ world: TestWorld) {
    let place = world.login(device)
    world.app.directory.disconnect(device.number, from: place, at: world.clock.seconds, end: .closedByPeer)
  }

  /// Enough for a walk over all and for the contacts that are written before it.
  private func sweep(_ world: TestWorld) async throws {
    for _ in 0..<20 {
      world.clock.advance(seconds: 600)
      try await world.tick()
    }
  }

  private func known(_ devices: [TestDevice], _ world: TestWorld) -> [Bool] {
    devices.map { world.app.directory.find($0.id) != nil }
  }

  @Test func `Newcomers go after a month, others after 255 days, and who is connected stays`() async throws {
    let world = try await world()
    let (never, once, again, connected) = (
      try await world.register(), try await world.register(), try await world.register(),
      try await world.register()
    )
    let devices = [never, once, again, connected]
    visit(once, world)
    world.clock.advance(seconds: Self.day)
    visit(again, world)
    _ = world.login(connected)
    try await sweep(world)
    world.clock.advance(seconds: 28 * Self.day)
    try await sweep(world)
    #expect(known(devices, world) == [true, true, true, true])
    world.clock.advance(seconds: 2 * Self.day)
    try await sweep(world)
    #expect(known(devices, world) == [false, false, true, true])
    world.clock.advance(seconds: 223 * Self.day)
    try await sweep(world)
    #expect(known(devices, world) == [false, false, true, true])
    world.clock.advance(seconds: 3 * Self.day)
    try await sweep(world)
    #expect(known(devices, world) == [false, false, false, true])
    // The same after a start, and nothing is missed that was deleted.
    try await world.restart(isOrderly: true)
    #expect(known(devices, world) == [false, false, false, true])
    let rows = try await world.store.look { [app = world.app.id] transaction throws(StorageError) in
      try transaction.registrations.gone(of: app, from: never.number, through: connected.number)
    }
    // What was deleted long ago is remembered no more.
    #expect(rows.map(\.number) == [again.number] && rows.first?.successor == nil)
  }

  @Test func `Newcomers that their push service reaches have the longer time`() async throws {
    let world = try await world()
    let (apple, other) = (
      try await world.register(token: [1], platform: .ios), try await world.register()
    )
    let none = try await world.register()
    let slot = TokenSlot(ChannelID(rawValue: 77), kind: 1)
    try await awaitCallback { done in
      world.router.registrations.setTokens([PushToken(slot, .only, [2])], of: other.number, in: world.app) {
        done($0)
      }
    }.get()
    for (days, expected) in [(31, [true, true, false]), (225, [false, false, false])] as [(Int64, [Bool])] {
      world.clock.advance(seconds: days * Self.day)
      try await sweep(world)
      #expect(known([apple, other, none], world) == expected)
    }
  }

  /// What a device is answered that logs in now.
  private static func answer(to device: TestDevice, of app: App, _ router: Router) -> LoginResult? {
    let login = DeviceLogin(
      app: app.key, registrationID: device.id, secretHash: SHA256.digest128(device.secret),
      isForeground: true, location: Location(loop: 0, slot: 1, generation: 1),
      askedAt: router.time.sinceBoot())
    var answers: [HomeMessage] = []
    LocalHome(router).handle([.login(login)], answers: &answers)
    guard case .loginResult(_, let result)? = answers.first else { return nil }
    return result
  }

  /// It would have a session without a registration, and register anew without its alias and its tags.
  @Test func `A device that logs in before its deletion is committed is told to come again`() async throws {
    let world = try await world()
    let device = try await world.register()
    world.clock.advance(seconds: 31 * Self.day)
    let times = try #require(UnusedTimes(newcomers: world.clock.now(), others: nil))
    let gate = Gate()
    gate.hold(world.store)
    world.router.registrations.deleteUnused(
      [device.number], in: world.app, seenBefore: times, at: world.clock.now())
    let result = Mutex<LoginResult?>(nil)
    // In the same transaction, unless that takes long.
    let (app, router) = (world.app, world.router)
    world.store.write(of: app.id, lowPriority: true) { _ in
      let answer = Self.answer(to: device, of: app, router)
      result.withLock { $0 = answer }
    } completion: { _ in
    }
    gate.open()
    try await world.barrier()
    guard case .refused(let reason)? = result.withLock({ $0 }) else {
      Issue.record("it was let in")
      return
    }
    #expect([.unavailable, .notRegistered].contains(reason))
    #expect(known([device], world) == [false])
  }

  @Test func `A device whose registration is not deleted in the end logs in`() async throws {
    let world = try await world()
    let device = try await world.register()
    world.clock.advance(seconds: 31 * Self.day)
    let times = try #require(UnusedTimes(newcomers: world.clock.now(), others: nil))
    #expect(world.app.directory.beginDeletion(of: [device.number], unseenSince: times.latest).count == 1)
    guard case .refused(.unavailable)? = Self.answer(to: device, of: world.app, world.router) else {
      Issue.record("it was not told to come again")
      return
    }
    try await world.setFault(.readOnly, true)
    world.router.registrations.deleteUnused(
      [device.number], in: world.app, seenBefore: times, at: world.clock.now())
    _ = try? await world.store.change(lowPriority: true) { _ throws(StorageError) in }
    try await world.setFault(.readOnly, false)
    guard case .accepted? = Self.answer(to: device, of: world.app, world.router) else {
      Issue.record("it is refused for ever")
      return
    }
    #expect(known([device], world) == [true])
  }

  @Test func `Without limits registrations stay`() async throws {
    let world = try await world(newcomers: nil, inactive: nil)
    let device = try await world.register()
    world.clock.advance(seconds: 3650 * Self.day)
    try await sweep(world)
    #expect(known([device], world) == [true])
  }

  @Test func `A walk goes over all in steps, and who came back in between stays`() async throws {
    let world = try await world(inactive: nil)
    let devices = try await world.registerMany(600)
    world.clock.advance(seconds: 31 * Self.day)
    visit(devices[599], world)
    try await world.tick()
    #expect(known(devices, world).filter { !$0 }.count == 256, "one step a second")
    try await sweep(world)
    #expect(known(devices, world) == Array(repeating: false, count: 599) + [true])
  }

  @Test func `An app that is full takes devices that come back, and others once there is a place`()
    async throws
  {
    var options = RouterOptions()
    options.registrationsPerApp = 2
    let world = try await TestWorld(options: options)
    let (one, two) = (try await world.register(fingerprint: [1]), try await world.register(fingerprint: [2]))
    await #expect(throws: (any Error).self) { try await world.register(fingerprint: [3]) }
    let again = try await world.register(fingerprint: [2])
    #expect(known([one, two, again], world) == [true, false, true])
    let isDeleted = await awaitCallback { done in
      world.router.registrations.delete(one.number, in: world.app) { done((try? $0.get()) != nil) }
    }
    #expect(isDeleted)
    _ = try await world.register(fingerprint: [3])
    #expect(world.app.directory.registrationCount == 2)
  }

  /// Memory knows of none of them before the commit.
  @Test func `Devices that register at once do not exceed what an app may have`() async throws {
    var options = RouterOptions()
    options.registrationsPerApp = 3
    let world = try await TestWorld(options: options)
    let gate = Gate()
    gate.hold(world.store)
    let accepted = Mutex(0)
    for number: UInt8 in 1...8 {
      world.router.registrations.register(
        in: world.app, platform: .android, fingerprint: [number], tokens: [], appVersion: "1"
      ) { result in
        if case .success = result { accepted.withLock { $0 += 1 } }
      }
    }
    gate.open()
    try await world.barrier()
    #expect(accepted.withLock { $0 } == 3 && world.app.directory.registrationCount == 3)
  }

  @Test func `A plan bounds the registrations of its apps`() async throws {
    let world = try await TestWorld()
    _ = try await world.registerMany(2)
    let (app, plan) = (world.app.id, PlanRow(name: "small", registrations: 2))
    try await world.store.change { transaction throws(StorageError) in
      try transaction.plans.set(plan)
      _ = try transaction.apps.setPlan(app: app, "small")
    }
    for _ in 0..<6 { try await world.tick() }
    #expect(world.app.plan == plan)
    await #expect(throws: (any Error).self) { try await world.register() }
    try await world.store.change { transaction throws(StorageError) in
      try transaction.plans.set(PlanRow(name: "small", registrations: 3))
    }
    for _ in 0..<6 { try await world.tick() }
    _ = try await world.register()
  }

  @Test func `A deleted device loses what waits for it and is to log in again`() async throws {
    let world = try await world()
    let (device, other) = (try await world.register(), try await world.register())
    let alias = DeviceChange(tags: .set(["red"]), alias: .set("zoe"))
    guard case .success = await world.change(alias, of: device) else {
      throw StorageError(.other, "no alias")
    }
    let single = try await world.push(to: [device])
    let place = world.login(device)
    _ = world.channel.drain()
    func delete(_ device: TestDevice) async -> Result<Void, DeviceFailure> {
      await awaitCallback { done in
        world.router.registrations.delete(device.number, in: world.app) { done($0) }
      }
    }
    guard case .success = await delete(device) else { throw StorageError(.other, "not deleted") }
    #expect(world.channel.drain() == [.disconnect(place, .loginAgain)])
    #expect(known([device, other], world) == [false, true])
    #expect(world.app.directory.registrations(alias: "zoe") == [] && world.pending(device) == [])
    guard case .failure(.unknownRegistration) = await delete(device) else {
      throw StorageError(.other, "deleted twice")
    }
    try await world.tick()
    #expect(try await world.outcome(of: single)?.status == .replaced)
  }
}
