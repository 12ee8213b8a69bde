import BorealisBase
import Model
import PushTesting
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
    _ = world.channel.take()
    func delete(_ device: TestDevice) async -> Result<Void, DeviceFailure> {
      await awaitCallback { done in
        world.router.registrations.delete(device.number, in: world.app) { done($0) }
      }
    }
    guard case .success = await delete(device) else { throw StorageError(.other, "not deleted") }
    #expect(world.channel.take() == [.disconnect(place, .loginAgain)])
    #expect(known([device, other], world) == [false, true])
    #expect(world.app.directory.registrations(alias: "zoe") == [] && world.pending(device) == [])
    guard case .failure(.unknownRegistration) = await delete(device) else {
      throw StorageError(.other, "deleted twice")
    }
    try await world.tick()
    #expect(try await world.outcome(of: single)?.status == .replaced)
  }
}
