import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import API

/// When schedules fire, by a clock that tests move. The clock stands at 22:13:20 in UTC+8 at first.
@Suite(.timeLimit(.minutes(2))) struct ScheduleFiringTests {
  private static let day: Int64 = 86_400

  @Test func aSingleScheduleFiresOnceAndNotBefore() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.single(in: 10))
    world.clock.advance(seconds: 9)
    await world.tick()
    #expect(world.pending(device).isEmpty)
    world.clock.advance(seconds: 1)
    for _ in 0..<3 { await world.tick() }
    let pushes = world.pending(device)
    #expect(pushes.count == 1)
    #expect(await world.runs(of: id) == ["0"])
    let answer = await world.call("GET", "/v3/schedules/\(id)/msg_ids")
    let text = try #require(answer.json?["msgids"]?.array?.first?.string)
    #expect(
      text == """
        {"msg_id":"\(pushes[0].text)","error":{"code":0,"message":""},"needRetry":false,\
        "ts":\(world.clock.now().milliseconds)}
        """)
    #expect(world.metrics.render().contains("borealis_schedules_fired_total 1\n"))
  }

  @Test func aPushToNobodyIsNotedAndNotTriedAgain() async throws {
    let world = try await GatewayWorld()
    let push = #"{"platform":"all","audience":{"alias":["anna"]},"message":{"msg_content":"y"}}"#
    let id = await world.makeSchedule(world.daily(in: 10), push: push)
    world.clock.advance(seconds: 10)
    for _ in 0..<3 { await world.tick() }
    #expect(await world.runs(of: id) == ["1011"])
    #expect(world.metrics.render().contains("borealis_schedules_failed_total 1\n"))
    world.clock.advance(seconds: Self.day)
    await world.tick()
    #expect(await world.runs(of: id) == ["1011", "1011"])
  }

  /// (time to live, seconds late, what comes of it): late by up to six hours, but not longer than the push
  /// lives. A few seconds are no delay: the look for what is due comes once a second.
  @Test(
    arguments: [
      (86_400, 21_600, "0"), (86_400, 21_601, "1030 retry"), (3600, 3600, "0"), (3600, 3601, "1030 retry"),
      (20, 20, "0"), (20, 21, "1030 retry"), (20, 39, "1030 retry"), (0, 5, "0"), (0, 6, "1030 retry"),
      (0, 39, "1030 retry"),
    ] as [(Int, Int64, String)])
  func whatIsTooLateIsNoted(timeToLive: Int, late: Int64, outcome: String) async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    let push =
      GatewayWorld.schedulePush.dropLast() + #","options":{"time_to_live":\#(timeToLive)}}"#
    let id = await world.makeSchedule(world.single(in: 10), push: String(push))
    world.clock.advance(seconds: 10 + late)
    await world.tick()
    #expect(await world.runs(of: id) == [outcome])
    let isMissed = outcome != "0"
    #expect(world.metrics.render().contains("borealis_schedules_missed_total \(isMissed ? 1 : 0)\n"))
    #expect(world.routerLog.all.contains { $0.contains("schedule not fired") } == isMissed)
  }

  @Test func aClockThatJumpsForwardLeavesOutNothingUnsaid() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.daily(in: 10))
    world.clock.advance(seconds: 10 + 3 * Self.day)
    await world.tick()
    #expect(await world.runs(of: id) == ["1030 retry", "1030 retry", "1030 retry", "0"])
    #expect(world.pending(device).count == 1)
  }

  @Test func aClockThatJumpsBackFiresNothingAgain() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.daily(in: 10))
    for seconds in [10, Self.day] {
      world.clock.advance(seconds: seconds)
      await world.tick()
    }
    #expect(await world.runs(of: id) == ["0", "0"])
    world.clock.advance(seconds: -Self.day - 3600)
    for _ in 0..<60 {
      world.clock.advance(seconds: 3600)
      await world.tick()
    }
    // The third day's has come meanwhile.
    #expect(await world.runs(of: id) == ["0", "0", "0"])
    #expect(world.metrics.render().contains("borealis_schedules_fired_total 3\n"))
    #expect(world.pending(device).count == 1, "the others' time to live is over")
  }

  /// Setting the same times once more does not make a schedule fire twice, also when the clock was set back
  /// in between.
  @Test func anUpdateFiresNothingAgain() async throws {
    let world = try await GatewayWorld()
    let id = await world.makeSchedule(world.daily(in: 10))
    _ = try await world.register()
    let other = world.daily(in: 20)
    let same = world.daily(in: 10)
    world.clock.advance(seconds: 10)
    await world.tick()
    world.clock.advance(seconds: -5)
    for trigger in [other, same] {
      #expect(await world.call("PUT", "/v3/schedules/\(id)", #"{"trigger":\#(trigger)}"#).status == 200)
    }
    world.clock.advance(seconds: 5)
    await world.tick()
    #expect(await world.runs(of: id) == ["0"])
    world.clock.advance(seconds: Self.day)
    await world.tick()
    #expect(await world.runs(of: id) == ["0", "0"])
  }

  @Test func manyAtTheSameMomentFireOnceEach() async throws {
    var options = RouterOptions()
    options.schedulesPerApp = 1000
    let world = try await GatewayWorld(routing: options)
    let device = try await world.register()
    var made: [String] = []
    for _ in 0..<200 { made.append(await world.makeSchedule(world.single(in: 10))) }
    world.clock.advance(seconds: 10)
    // A second tick while the first is at work must not fire anything twice.
    world.gateway.tick()
    await world.tick()
    #expect(Set(world.pending(device)).count == 200)
    for id in made { #expect(await world.runs(of: id) == ["0"]) }
  }

  /// The audience is what the file names when the schedule fires; a file that is gone by then reaches nobody.
  @Test func aFileMayNameTheAudience() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(2)
    let uploaded = await world.upload("registration_id", devices[0].text, ttl: "2")
    let file = try #require(uploaded.json?["file_id"]?.string)
    func push(_ file: String) -> String {
      #"{"platform":"all","audience":{"file":{"file_id":"\#(file)"}},"message":{"msg_content":"y"}}"#
    }
    #expect(await world.makeSchedule(world.single(in: 10), push: push("unknown")) == "400 8100")
    let id = await world.makeSchedule(world.daily(in: 10), push: push(file))
    world.clock.advance(seconds: 10)
    await world.tick()
    #expect(devices.map { world.pending($0).count } == [1, 0])
    world.clock.advance(seconds: Self.day)
    await world.tick()
    #expect(await world.runs(of: id) == ["0", "1003"])
  }

  @Test func aDisabledAppPushesNothing() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.daily(in: 10))
    try await world.setDisabled(true)
    world.clock.advance(seconds: 10)
    await world.tick()
    try await world.setDisabled(false)
    await world.tick()
    #expect(await world.runs(of: id) == ["2003"])
    #expect(world.pending(device).isEmpty)
    world.clock.advance(seconds: Self.day)
    await world.tick()
    #expect(await world.runs(of: id) == ["2003", "0"])
  }

  @Test func whatCannotBeStoredIsTriedAgain() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.single(in: 10))
    world.clock.advance(seconds: 10)
    try await world.pragma("query_only = ON")
    for _ in 0..<3 { await world.tick() }
    #expect(await world.runs(of: id).isEmpty && world.pending(device).isEmpty)
    try await world.pragma("query_only = OFF")
    for _ in 0..<3 { await world.tick() }
    #expect(await world.runs(of: id) == ["0"] && world.pending(device).count == 1)
  }

  /// Schedules that cannot be read, and those that cannot be stored, for want of their key keep no other
  /// app's from firing.
  @Test func `An app whose key is missing holds up no other`() async throws {
    let key = Mutex<String?>(SealingKeys.makeLine())
    var options = Store.Options()
    options.secretKeys = SecretKeySource { _ in
      guard let line = key.withLock({ $0 }), let keys = try? SealingKeys(text: line) else {
        return .failure(StorageError(.noSecretKey, "it is missing"))
      }
      return .success(keys)
    }
    let world = try await GatewayWorld(options: options)
    let other = try await world.addApp()
    let device = try await world.register(in: other)
    // A page of schedules and more, older than the other app's.
    for _ in 0..<40 { _ = await world.makeSchedule(world.single(in: 10)) }
    world.clock.advance(seconds: 1)
    let id = await world.makeSchedule(world.single(in: 10), as: other)
    try await world.seal(world.app)
    key.withLock { $0 = nil }
    world.clock.advance(seconds: 10)
    for _ in 0..<3 { await world.tick() }
    #expect(await world.runs(of: id, as: other) == ["0"] && world.pending(device, in: other).count == 1)
  }

  /// A firing that was prepared before the schedule changed does nothing.
  @Test func whatWasChangedMeanwhileDoesNotFire() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let id = await world.makeSchedule(world.daily(in: 10))
    world.clock.advance(seconds: 10)
    let due = await awaitCallback { done in
      world.router.schedules.due(limit: 9) { done((try? $0.get().due) ?? []) }
    }
    let one = try #require(due.first)
    func fire() async -> FiringEnd {
      await awaitCallback { done in
        let push = PushRequest(platforms: .all, audience: .all, content: PushContent(variants: []))
        world.router.acceptance.fire(one, .success(push)) { done($0) }
      }
    }
    for change in [#"{"enabled":false}"#, #"{"enabled":true}"#, #"{"name":"m"}"#] {
      _ = await world.call("PUT", "/v3/schedules/\(id)", change)
      #expect(await fire() == .stale)
    }
    _ = await world.call("DELETE", "/v3/schedules/\(id)")
    #expect(await fire() == .stale)
    #expect(world.pending(device).isEmpty)
  }

  /// A schedule fires at its time whatever the plan's speed; the pushes after it wait until it is paid for.
  @Test func `A schedule counts against the plan's speed`() async throws {
    let world = try await GatewayWorld()
    _ = try await world.registerMany(30)
    try await world.setPlan(PlanRow(name: "slow", speed: 5))
    _ = await world.makeSchedule(world.single(in: 10))
    world.clock.advance(seconds: 10)
    await world.tick()
    #expect(world.metrics.render().contains("borealis_schedules_fired_total 1\n"))
    async let answer = world.push()
    while world.router.pushesWaitingForSpeed == 0 { await Task.yield() }
    world.clock.advance(seconds: 6)
    world.router.tick()
    #expect(await answer.status == 200)
  }
}
