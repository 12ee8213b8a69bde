import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Pushes of an app whose plan has a speed: what is repeated costs nothing, and what waits is for those who
/// are meant when it goes.
@Suite struct SpeedWaitTests {
  private static func world(speed: Int) async throws -> TestWorld {
    let world = try await TestWorld()
    let (app, id) = (world.app, world.app.id)
    _ = try await world.store.change { t throws(StorageError) in
      try t.plans.set(PlanRow(name: "slow", speed: speed))
      return try t.apps.setPlan(app: id, "slow")
    }
    for _ in 0..<200 where app.plan.name != "slow" { try await world.tick() }
    try #require(app.plan.name == "slow")
    return world
  }

  /// A push that is asked for and not awaited.
  private final class Asked: Sendable {
    private let answer = Mutex<Result<AcceptedPush, APIError>?>(nil)
    var result: Result<AcceptedPush, APIError>? { answer.withLock { $0 } }
    init(_ request: AcceptRequest, _ world: TestWorld) {
      world.router.acceptance.accept(request, for: world.app) { result in self.answer.withLock { $0 = result }
      }
    }
  }

  @Test func `A repeated request is answered at once, and pays nothing`() async throws {
    let world = try await Self.world(speed: 10)
    _ = try await world.registerMany(60)
    let first = try await world.accept(.test(cid: "once")).get()
    #expect(try await world.accept(.test(cid: "once")).get() == first, "while 50 devices are to be paid for")
    #expect(world.router.pushesWaitingForSpeed == 0)
    world.clock.advance(seconds: 6)
    try await world.tick()
    let next = Asked(.test(), world)
    #expect(try await world.accept(.test(cid: "once")).get() == first)
    try await world.barrier()
    #expect(next.result.flatMap { try? $0.get() } != nil, "the level was that of one push, not of three")
  }

  @Test func `What is refused by the writer gives its speed back`() async throws {
    let world = try await Self.world(speed: 10)
    let devices = try await world.registerMany(60)
    let old = try await world.push(to: [devices[0]])
    _ = await world.recall(old)
    // To override what was recalled is refused when it is about to be stored.
    let refused = await world.accept(.test(overrides: MessageID(1)))
    #expect(throws: APIError.self) { try refused.get() }
    #expect(try await world.accept(.test()).get().targets == 60)
  }

  @Test func `A push that waited is for those who are meant when it goes`() async throws {
    let world = try await Self.world(speed: 1)
    let (early, late) = (try await world.register(), try await world.register())
    _ = await world.change(DeviceChange(tags: .set(["red"])), of: early)
    _ = try await world.accept(.test()).get()
    var request = AcceptRequest.test()
    request.push.audience = .filter(AudienceFilter(tags: ["red"]))
    let waits = Asked(request, world)
    #expect(waits.result == nil && world.router.pushesWaitingForSpeed == 1)
    _ = await world.change(DeviceChange(tags: .set(["red"])), of: late)
    _ = await world.change(DeviceChange(tags: .set([])), of: early)
    world.clock.advance(seconds: 3)
    for _ in 0..<200 where waits.result == nil { try await world.tick() }
    #expect(try waits.result?.get().targets == 1)
    #expect(world.pending(late).count == 2 && world.pending(early).count == 1)
  }

  @Test func `A push that waited pays for all whom it reaches`() async throws {
    let world = try await Self.world(speed: 10)
    let devices = try await world.registerMany(60)
    _ = await world.change(DeviceChange(tags: .set(["red"])), of: devices[0])
    _ = try await world.accept(.test()).get()
    var request = AcceptRequest.test()
    request.push.audience = .filter(AudienceFilter(tags: ["red"]))
    let waits = Asked(request, world)
    for device in devices { _ = await world.change(DeviceChange(tags: .set(["red"])), of: device) }
    world.clock.advance(seconds: 6)
    for _ in 0..<200 where waits.result == nil { try await world.tick() }
    #expect(try waits.result?.get().targets == 60)
    let next = Asked(.test(), world)
    try await world.barrier()
    #expect(next.result == nil && world.router.pushesWaitingForSpeed == 1, "60 devices are to be paid for")
  }
}
