import BorealisBase
import Model
import Storage
import Testing

@testable import Core

/// Open pushes to several: an app has a bounded number of them, in bounded memory, and the oldest make room.
@Suite struct OpenPushLimitTests {
  private static func world(_ change: (inout PendingLimits) -> Void) async throws -> TestWorld {
    var options = RouterOptions()
    change(&options.pending)
    return try await TestWorld(options: options)
  }

  private static let many = DeliveryLedger.listedTargets + 1

  /// The oldest push to many is dropped for those who do not have it; who has it is told apart, also after a
  /// restart.
  @Test(arguments: [false, true]) func oldestPushToManyMakesRoom(isRestarted: Bool) async throws {
    let world = try await Self.world { $0.toMany = 3 }
    let devices = try await world.registerMany(Self.many)
    let (one, two) = (devices[0], devices[1])
    var ids: [MessageID] = []
    for _ in 0..<3 { ids.append(try await world.push()) }
    world.router.deliveries.acknowledge([ids[0]], by: one.number, in: world.app)
    if isRestarted {
      try await world.tick()
      try await world.restart(isOrderly: true)
    }
    for _ in 0..<2 { ids.append(try await world.push()) }
    // What is listed for few, or one, is no push to many.
    let few = try await world.push(to: [one, two])
    let single = try await world.push(to: [two])
    try await world.tick()
    #expect(world.pending(two) == ids.suffix(3) + [few, single])
    #expect(try await world.storedPending() == ids.suffix(3) + [few, single])
    for (id, having) in [(ids[0], [one.number]), (ids[1], [])] {
      #expect(try await world.outcome(of: id)?.status == .dropped)
      let targets = try #require(try await world.targets(of: id))
      #expect(targets.delivered.members() == having && targets.pending.isEmpty)
      #expect(targets.failed.mapValues(\.count) == ["QueueFull": Self.many - having.count])
    }
    // Who had it on the way acknowledges it late, and has it.
    world.router.deliveries.acknowledge([ids[1]], by: two.number, in: world.app)
    try await world.tick()
    #expect(try await world.targets(of: ids[1])?.delivered.members() == [two.number])
    // A push that all have makes room at its end, by itself.
    for device in devices {
      world.router.deliveries.acknowledge([ids[2]], by: device.number, in: world.app)
    }
    try await world.tick()
    ids.append(try await world.push())
    try await world.tick()
    #expect(world.pending(two).filter { ids.contains($0) } == ids.suffix(3))
    #expect(try await world.outcome(of: ids[2])?.status == .delivered)
  }

  /// A push that all acknowledged in the same second, before it ended, ends as delivered when it has to make
  /// room.
  @Test func whatAllHaveIsDelivered() async throws {
    let world = try await Self.world { $0.toMany = 1 }
    let devices = try await world.registerMany(Self.many)
    let first = try await world.push()
    for device in devices {
      world.router.deliveries.acknowledge([first], by: device.number, in: world.app)
    }
    let second = try await world.push()
    try await world.tick()
    #expect(try await world.outcome(of: first)?.status == .delivered)
    #expect(world.pending(devices[0]) == [second])
  }

  /// The bytes of their sets count, of pushes to few as of those to many; pushes to one device and the newest
  /// stay.
  @Test func bytesAreBounded() async throws {
    let world = try await Self.world { limits in
      (limits.bytes, limits.bytesPerRegistration) = (2000, 0)
    }
    let devices = try await world.registerMany(Self.many)
    let single = try await world.push(to: [devices[0]])
    let first = try await world.push()
    var ids: [MessageID] = []
    for _ in 0..<100 { ids.append(try await world.push(to: [devices[0], devices[1]])) }
    try await world.tick()
    #expect(try await world.outcome(of: first)?.status == .dropped)
    #expect(try await world.outcome(of: ids[0])?.status == .dropped)
    let targets = try #require(try await world.targets(of: ids[0]))
    #expect(
      targets.failed.mapValues { $0.members() } == ["QueueFull": [devices[0].number, devices[1].number]])
    let kept = world.pending(devices[0])
    #expect(kept.first == single && kept.dropFirst() == ids.suffix(kept.count - 1))
    #expect((5...15).contains(kept.count - 1))
    // One that is too large for the bound is delivered nevertheless.
    let large = try await world.push(to: Array(devices[..<DeliveryLedger.listedTargets]))
    #expect(world.pending(devices[0]) == [single, large])
  }

  /// An app may have pushes to all of its devices in proportion to these.
  @Test func boundGrowsWithTheApp() async throws {
    let world = try await Self.world { limits in
      (limits.bytes, limits.bytesPerRegistration) = (0, 1000)
    }
    let devices = try await world.registerMany(Self.many)
    var ids: [MessageID] = []
    for _ in 0..<20 { ids.append(try await world.push()) }
    #expect(world.pending(devices[0]) == ids)
  }

  /// A start with more open pushes than there may be drops the oldest, truthfully.
  @Test func restartHoldsTheBound() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(Self.many)
    var ids: [MessageID] = []
    for _ in 0..<5 { ids.append(try await world.push()) }
    try await world.tick()
    try await world.restart(isOrderly: true) { $0.pending.toMany = 2 }
    #expect(world.pending(devices[0]) == ids.suffix(2))
    try await world.tick()
    #expect(try await world.storedPending() == ids.suffix(2))
    let targets = try #require(try await world.targets(of: ids[0]))
    #expect(targets.failed.mapValues(\.count) == ["QueueFull": Self.many])
  }
}
