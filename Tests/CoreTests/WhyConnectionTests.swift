import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core

/// What is known of a device's connections, also after a restart, and what a push that did not arrive is said
/// to have met.
@Suite struct WhyConnectionTests {
  private static func cause(
    _ id: MessageID, _ device: TestDevice, in world: TestWorld
  ) async throws -> WhyCause? {
    try await world.tick()
    let result = await awaitCallback { done in
      world.router.diagnostics.diagnose(id, .there(device.number), in: world.app) {
        done($0)
      }
    }
    return try result.get()?.step(.connection)?.cause
  }

  private static func leave(
    _ device: TestDevice, _ place: Location, _ end: ConnectionEnd = .closedByPeer, in world: TestWorld
  ) {
    world.app.directory.disconnect(device.number, from: place, at: world.clock.seconds, end: end)
  }

  // MARK: While the server runs

  @Test(arguments: [false, true])
  func `A device that was away and came back too late did so, whether it stayed or not`(
    stays: Bool
  ) async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let id = try await world.push(to: [device], timeToLive: 5)
    world.clock.advance(seconds: 8)
    let place = world.login(device)
    world.clock.advance(seconds: 1)
    if !stays { Self.leave(device, place, in: world) }
    #expect(try await Self.cause(id, device, in: world) == .cameBackLate)
    world.clock.advance(seconds: 60)
    let next = world.login(device)
    #expect(try await Self.cause(id, device, in: world) == .connectionUnknown, "that was two visits ago")
    Self.leave(device, next, in: world)
    #expect(try await Self.cause(id, device, in: world) == .connectionUnknown)
  }

  @Test func `A device that was there, and connected anew since, did not come back late`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let place = world.login(device)
    let id = try await world.push(to: [device], timeToLive: 60)
    world.clock.advance(seconds: 3600)
    #expect(try await Self.cause(id, device, in: world) == .notAcknowledged)
    Self.leave(device, place, in: world)
    world.clock.advance(seconds: 1)
    #expect(try await Self.cause(id, device, in: world) == .notAcknowledged, "it was there to the end")
    _ = world.login(device)
    #expect(try await Self.cause(id, device, in: world) == .connectionUnknown)
  }

  @Test func `So it is when the new connection takes the place of the old one`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    _ = world.login(device)
    let id = try await world.push(to: [device], timeToLive: 60)
    world.clock.advance(seconds: 3600)
    _ = world.login(device)
    #expect(try await Self.cause(id, device, in: world) == .connectionUnknown)
  }

  // MARK: After a restart

  @Test(arguments: [0, 60, 700])
  func `How a connection ended outlives an orderly stop, however short it was`(seconds: Int64) async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let place = world.login(device)
    try await world.tick()
    world.clock.advance(seconds: seconds)
    Self.leave(device, place, .loggedOut, in: world)
    try await world.tick()
    let id = try await world.push(to: [device])
    try await world.restart(isOrderly: true)
    world.clock.advance(seconds: 3)
    #expect(try await Self.cause(id, device, in: world) == .offlineLoggedOut)
  }

  @Test func `An end soon after the login was noted is noted in its turn`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    world.clock.advance(seconds: 700)
    let place = world.login(device)
    try await world.tick()
    world.clock.advance(seconds: 300)
    Self.leave(device, place, .heartbeatLost, in: world)
    try await world.tick()
    world.clock.advance(seconds: 300)
    try await world.tick()
    let id = try await world.push(to: [device])
    try await world.restart(isOrderly: false)
    world.clock.advance(seconds: 86_400)
    #expect(try await Self.cause(id, device, in: world) == .offlineHeartbeatLost)
  }

  @Test func `What was connected when the server was killed is said to be so`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    world.clock.advance(seconds: 700)
    _ = world.login(device)
    try await world.tick()
    world.clock.advance(seconds: 20 * 86_400)
    let before = try await world.push(to: [device], timeToLive: 60)
    world.clock.advance(seconds: 1200)
    try await world.tick()
    let lately = try await world.push(to: [device], timeToLive: 60)
    world.clock.advance(seconds: 120)
    try await world.restart(isOrderly: false)
    let after = try await world.push(to: [device], timeToLive: 60)
    world.clock.advance(seconds: 120)
    #expect(try await Self.cause(before, device, in: world) == .connectionUnknown)
    #expect(try await Self.cause(lately, device, in: world) == .connectionUnknown, "when it went nobody saw")
    #expect(try await Self.cause(after, device, in: world) == .offlineServer)
    _ = world.login(device)
    #expect(try await Self.cause(lately, device, in: world) == .connectionUnknown)
    #expect(try await Self.cause(after, device, in: world) == .cameBackLate)
  }

  @Test func `Who has to wait for his turn to be noted holds up nobody behind`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(6)
    world.clock.advance(seconds: 700)
    let last = devices[5]
    let directory = world.app.directory
    for device in devices { _ = world.login(device) }
    let now = world.clock.seconds
    let first = directory.popSeen(limit: 5, looks: 5, coarse: 600, at: now)
    #expect(first.late.map(\.number) == devices.prefix(5).map(\.number) && !first.isComplete)
    for device in devices.prefix(5) { _ = world.login(device) }
    let rest = directory.popSeen(limit: 5, looks: 5, coarse: 600, at: now)
    #expect(rest.late.map(\.number) == [last.number] && rest.isComplete)
    // Those five wait; a device behind them does not wait for them.
    _ = directory.popSeen(limit: 5, looks: 5, coarse: 600, at: now)
    #expect(directory.popSeen(limit: 5, looks: 5, coarse: 600, at: now).late.isEmpty)
    let later = directory.popSeen(limit: 2, looks: 5, coarse: 600, at: now + 600)
    #expect(later.late.map(\.number) == devices.prefix(2).map(\.number) && !later.isComplete)
    let others = directory.popSeen(limit: 5, looks: 5, coarse: 600, at: now + 600)
    #expect(others.late.map(\.number) == devices[2..<5].map(\.number) && others.isComplete)
  }

  @Test func `A record is no larger than it was without the moments`() {
    #expect(MemoryLayout<RegistrationTable.Record>.stride == 88)
  }
}
