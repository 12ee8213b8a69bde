import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Schedules over restarts. The clock stands at 2026-09-21 14:13:20 UTC at first.
@Suite struct ScheduleTests {
  private static let utc = FixedZone(secondsEast: 0)

  static func makeSchedule(_ trigger: ScheduleTrigger, in world: TestWorld) async throws -> Schedule {
    let json = #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#
    let push = try ScheduledPush(stored: Array(json.utf8), rules: PushRules())
    let request = ScheduleRequest(cid: nil, name: "n", trigger: trigger, push: push)
    let (router, app) = (world.router, world.app)
    let result = await awaitCallback { done in
      router.schedules.create(request, named: "uuid-\(SystemRandom.next())", in: app) {
        done($0)
      }
    }
    return try result.get()
  }

  static func due(in world: TestWorld) async throws -> [DueSchedule] {
    let router = world.router
    let result = await awaitCallback { done in
      router.schedules.due(limit: 10) { done($0) }
    }
    return try result.get().due
  }

  private static func fire(_ due: DueSchedule, in world: TestWorld) async -> FiringEnd {
    await fire(due, by: world.router)
  }

  private static func fire(_ due: DueSchedule, by router: Router) async -> FiringEnd {
    await awaitCallback { done in
      router.acceptance.fire(due, .success(AcceptRequest.test().push)) { done($0) }
    }
  }

  /// What is due when the server is killed is due after its start, and what was fired is not.
  @Test func aKillLosesAndRepeatsNothing() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let local = FixedZone.china.local(world.clock.now().adding(seconds: 10))
    _ = try await Self.makeSchedule(.single(local), in: world)
    _ = try await Self.makeSchedule(.single(local), in: world)
    world.clock.advance(seconds: 10)
    let before = try await Self.due(in: world)
    #expect(before.count == 2)
    guard case .fired(let first) = await Self.fire(before[0], in: world) else {
      Issue.record("not fired")
      return
    }
    try await world.restart(isOrderly: false)
    #expect(world.pending(device) == [first])
    let after = try await Self.due(in: world)
    #expect(after.map(\.schedule.id) == [before[1].schedule.id])
    guard case .fired(let second) = await Self.fire(after[0], in: world) else {
      Issue.record("not fired")
      return
    }
    #expect(second > first)
    #expect(world.pending(device) == [first, second])
    try await world.restart(isOrderly: false)
    #expect(try await Self.due(in: world).isEmpty)
  }

  /// Two who fire the same occurrence at the same time make one push.
  @Test func twoFiringsMakeOnePush() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let local = FixedZone.china.local(world.clock.now().adding(seconds: 10))
    _ = try await Self.makeSchedule(.single(local), in: world)
    world.clock.advance(seconds: 10)
    let due = try #require(try await Self.due(in: world).first)
    let router = world.router
    async let one = Self.fire(due, by: router)
    async let other = Self.fire(due, by: router)
    #expect(await [one, other].count { $0 == .stale } == 1)
    #expect(world.pending(device).count == 1)
  }

  /// Eight o'clock stays eight o'clock when the server is told of another zone.
  @Test func anotherZoneMovesTheMoments() async throws {
    let world = try await TestWorld()
    _ = try await world.register()
    let local = FixedZone.china.local(world.clock.now().adding(seconds: 10))
    _ = try await Self.makeSchedule(.single(local), in: world)
    try await world.restart(isOrderly: true, zone: Self.utc)
    world.clock.advance(seconds: 10)
    #expect(try await Self.due(in: world).isEmpty)
    world.clock.advance(seconds: 8 * 3600 - 1)
    #expect(try await Self.due(in: world).isEmpty)
    world.clock.advance(seconds: 1)
    #expect(try await Self.due(in: world).count == 1)
    try await world.restart(isOrderly: true, zone: FixedZone(secondsEast: -3600))
    #expect(try await Self.due(in: world).isEmpty)
  }

  /// IDs of runs without a push are not given again, also if the clock was set back before the start.
  @Test func identifiersGrowAfterARunWithoutAPush() async throws {
    let world = try await TestWorld()
    let local = FixedZone.china.local(world.clock.now().adding(seconds: 10))
    let schedule = try await Self.makeSchedule(.single(local), in: world)
    world.clock.advance(seconds: 10)
    let due = try #require(try await Self.due(in: world).first)
    #expect(await Self.fire(due, in: world) == .failed(.noTarget))
    let router = world.router
    let (id, app) = (schedule.id, world.app)
    let runs = await awaitCallback { done in
      router.schedules.runs(of: id, in: app) { done($0) }
    }
    let run = try #require(try runs.get().first)
    #expect(run.code == 1011 && run.occurrence == local)
    world.clock.advance(seconds: -3600)
    try await world.restart(isOrderly: false)
    _ = try await world.register()
    #expect(try await world.push() > run.id)
  }

  /// What became of schedules goes after a month, and with it those that are over.
  @Test func whatIsOldIsSwept() async throws {
    let world = try await TestWorld()
    let local = FixedZone.china.local(world.clock.now().adding(seconds: 10))
    let schedule = try await Self.makeSchedule(.single(local), in: world)
    world.clock.advance(seconds: 10)
    for due in try await Self.due(in: world) { _ = await Self.fire(due, in: world) }
    func isThere() async -> Bool {
      let (router, app) = (world.router, world.app)
      return await awaitCallback { done in
        router.schedules.find(schedule.id, in: app) { done((try? $0.get()) != nil) }
      }
    }
    for (seconds, expected) in [(31 * 86_400, true), (1, false)] as [(Int64, Bool)] {
      world.clock.advance(seconds: seconds)
      for _ in 0..<60 { world.router.tick() }
      try await world.barrier()
      #expect(await isThere() == expected)
    }
  }

  /// One that cannot be read any more would be due first for ever; it ends, and others fire.
  @Test func `Schedules that cannot be read hold up no others`() async throws {
    let world = try await TestWorld()
    func moment(_ seconds: Int64) -> LocalTime {
      FixedZone.china.local(world.clock.now().adding(seconds: seconds))
    }
    var broken: [Schedule] = []
    for _ in 0..<12 { broken.append(try await Self.makeSchedule(.single(moment(10)), in: world)) }
    try await world.run(script: "UPDATE schedule SET trigger_json = x'00'")
    let good = try await Self.makeSchedule(.single(moment(20)), in: world)
    world.clock.advance(seconds: 20)
    #expect(try await Self.due(in: world).isEmpty)
    #expect(try await Self.due(in: world).map(\.schedule.id) == [good.id])
    for uuid in broken.map(\.id) {
      let app = world.app.id
      let row = try await world.store.look { t throws(StorageError) in
        try t.schedules.find(app: app, uuid: uuid)
      }
      #expect(row?.next == nil && row != nil)
    }
  }

  /// An occurrence that had come when its schedule was changed is told as missed; the new one comes.
  @Test(arguments: [false, true])
  func `A change of a schedule that is due is recorded`(isDisabled: Bool) async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    func local(_ seconds: Int64) -> LocalTime {
      FixedZone.china.local(world.clock.now().adding(seconds: seconds))
    }
    let (first, router, app) = (local(10), world.router, world.app)
    let schedule = try await Self.makeSchedule(.single(first), in: world)
    func change(_ update: ScheduleUpdate) async throws -> Schedule {
      try await awaitCallback { done in
        router.schedules.change(schedule.id, update, in: app) { done($0) }
      }.get()
    }
    func runs() async throws -> [ScheduleRunRow] {
      try await awaitCallback { done in router.schedules.runs(of: schedule.id, in: app) { done($0) } }.get()
    }
    // What is not due yet has no result.
    _ = try await change(ScheduleUpdate(trigger: .single(local(20))))
    _ = try await change(ScheduleUpdate(trigger: .single(first)))
    #expect(try await runs().isEmpty)
    world.clock.advance(seconds: 10)
    let due = try #require(try await Self.due(in: world).first)
    // A new name leaves it alone.
    _ = try await change(ScheduleUpdate(name: "m"))
    #expect(try await runs().isEmpty)
    _ = try await change(
      isDisabled ? ScheduleUpdate(isEnabled: false) : ScheduleUpdate(trigger: .single(local(10))))
    #expect(await Self.fire(due, in: world) == .stale)
    let run = try #require(try await runs().first)
    #expect(run.code == 1030 && run.needsRetry && run.occurrence == first && run.message.hasPrefix("Missed"))
    #expect(try await runs().count == 1)
    world.clock.advance(seconds: 10)
    let next = try await Self.due(in: world)
    #expect(next.count == (isDisabled ? 0 : 1))
    for due in next { _ = await Self.fire(due, in: world) }
    #expect(world.pending(device).count == next.count)
  }
}
