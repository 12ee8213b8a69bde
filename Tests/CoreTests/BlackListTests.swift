import BorealisBase
import Core
import Model
import PushTesting
import Testing

/// Registrations that get no pushes until they are taken off the black list.
@Suite struct BlackListTests {
  private func block(_ isBlocked: Bool, _ devices: [TestDevice], _ world: TestWorld) async throws {
    let result = await awaitCallback { done in
      world.router.registrations.setBlocked(isBlocked, devices.map(\.number), in: world.app) {
        done($0)
      }
    }
    try result.get()
  }

  @Test(arguments: [2, 70])
  func `A push leaves them out, and what waited stays where it is`(count: Int) async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(count)
    let first = try await world.push()
    try await block(true, [devices[0]], world)
    #expect(world.app.directory.isBlocked(devices[0].number))
    #expect(world.pending(devices[0]) == [] && world.app.directory.pendingCount(for: devices[0].number) == 0)
    let second = try await world.push()
    #expect(world.pending(devices[1]) == [first, second])
    await #expect(throws: APIError.noTarget) {
      _ = try await world.accept(.test(to: [devices[0]])).get()
    }
    try await world.restart(isOrderly: true)
    #expect(world.app.directory.isBlocked(devices[0].number) && world.pending(devices[0]) == [])
    try await block(false, [devices[0]], world)
    let third = try await world.push()
    #expect(world.pending(devices[0]) == [first, third])
    try await world.restart(isOrderly: true)
    #expect(!world.app.directory.isBlocked(devices[0].number))
  }

  @Test func `Who asks why is told of the list, for pushes that it kept from the device`() async throws {
    let world = try await TestWorld()
    let (device, _) = (try await world.register(), try await world.register())
    func cause(_ push: MessageID) async throws -> WhyCause? {
      try await world.tick()
      let result = await awaitCallback { done in
        world.router.diagnostics.diagnose(push, .there(device.number), in: world.app) {
          done($0)
        }
      }
      return try result.get()?.steps.first { $0.point == .audience }?.cause
    }
    let before = try await world.push()
    world.clock.advance(seconds: 1)
    try await block(true, [device], world)
    world.clock.advance(seconds: 1)
    let meanwhile = try await world.push()
    #expect(try await cause(before) == nil)
    #expect(try await cause(meanwhile) == .blocked)
  }

  @Test func `A device that registers anew is on no list`() async throws {
    let world = try await TestWorld()
    let old = try await world.register(fingerprint: [1])
    try await block(true, [old], world)
    let new = try await world.register(fingerprint: [1])
    let push = try await world.push(to: [new])
    #expect(world.pending(new) == [push] && !world.app.directory.isBlocked(old.number))
  }
}
