import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Runs of A/B tests: who gets what, and when the winner goes.
@Suite(.timeLimit(.minutes(2))) struct ABTestRunTests {
  @Test func `Each content goes to its share, and the winner to the rest once`() async throws {
    let world = try await ABTestWorld(devices: 50)
    let test = try await world.add(try ABTestWorld.design(["a", "b", "c"], share: 24))
    let accepted = try await world.start(test)
    #expect(accepted.targets == 50)
    #expect(try await world.said() == ["a": 4, "b": 4, "c": 4, "": 38])
    let run = try await world.run(test)
    #expect(run.pushes.map(\.place) == [1, 2, 3] && run.pushes[0].id == accepted.id && run.rest == 38)
    #expect(run.end == nil && run.lookAt == world.base.clock.now().adding(seconds: 600))
    for push in run.pushes {
      #expect(try await world.base.targets(of: push.id)?.all.count == 4)
    }
    try await world.tap(run.pushes[0].id, 1)
    try await world.tap(run.pushes[1].id, 1, delivered: 2)
    world.base.clock.advance(seconds: 599)
    #expect(try await world.look().isEmpty)
    world.base.clock.advance(seconds: 1)
    #expect(try await world.look() == [.ended(.sent)])
    let ended = try await world.run(test)
    let winner = try #require(ended.winnerPush)
    #expect(ended.end?.winner == 2 && ended.end?.state == .sent && ended.lookAt == nil)
    #expect(ended.pushes.map(\.delivered) == [4, 2, 0] && ended.pushes.map(\.tapped) == [1, 1, 0])
    // Who had a content has no second one; what was acknowledged waits no more.
    #expect(try await world.said() == ["b": 40, "c": 4, "": 6])
    #expect(try await world.targets(winner).count == 38)
    world.base.clock.advance(seconds: 3600)
    #expect(try await world.look().isEmpty)
    // It can be sent again.
    _ = try await world.start(test)
    #expect(try await world.runs(test).count == 2)
  }

  @Test func `A restart between start and winner changes nothing`() async throws {
    for isOrderly in [true, false] {
      let world = try await ABTestWorld(devices: 20)
      let test = try await world.add(try ABTestWorld.design(share: 50))
      _ = try await world.start(test)
      let before = try await world.run(test)
      try await world.base.restart(isOrderly: isOrderly)
      #expect(world.router.abTests.find(test.id, of: world.app) == test)
      #expect(try await world.run(test).pushes == before.pushes)
      #expect(try await world.said() == ["a": 5, "b": 5, "": 10])
      try await world.tap(before.pushes[1].id, 2)
      world.base.clock.advance(seconds: 600)
      #expect(try await world.look() == [.ended(.sent)])
      try await world.base.restart(isOrderly: isOrderly)
      #expect(try await world.look().isEmpty)
      let winner = try #require(try await world.run(test).winnerPush)
      let rest = Set(try await world.targets(winner).map(\.number))
      var parts: Set<RegistrationNumber> = []
      for push in before.pushes { parts.formUnion(try await world.targets(push.id).map(\.number)) }
      #expect(rest.count == 10 && parts.count == 10 && rest.isDisjoint(with: parts))
    }
  }

  @Test func `Two looks at the same time send one winner`() async throws {
    let world = try await ABTestWorld(devices: 10)
    let test = try await world.add(try ABTestWorld.design())
    _ = try await world.start(test)
    world.base.clock.advance(seconds: 600)
    let page = try await awaitCallback { world.router.abTestRuns.due(limit: 10, found: $0) }.get()
    let due = try #require(page.runs.first)
    let router = world.router
    let rules = world.app.pushRules(PushRules())
    async let one = awaitCallback {
      router.acceptance.look(at: due, by: rules, router.abTestRuns, done: $0)
    }
    async let two = awaitCallback {
      router.acceptance.look(at: due, by: rules, router.abTestRuns, done: $0)
    }
    let looks = await [one, two]
    #expect(looks.contains(.ended(.sent)) && looks.contains(.stale), "\(looks)")
    // Nobody tapped anything: the first content.
    #expect(try await world.said() == ["a": 9, "b": 1])
  }

  @Test func `A clear winner goes early, after a tenth of the time`() async throws {
    let world = try await ABTestWorld(devices: 60)
    let test = try await world.add(try ABTestWorld.design(share: 100, confidence: 95))
    let early = try await world.add(
      try ABTestWorld.design(share: 90, after: 1000, confidence: 95), name: "m")
    _ = try await world.start(early)
    let run = try await world.run(early)
    #expect(run.lookAt == world.base.clock.now().adding(seconds: 100))
    world.base.clock.advance(seconds: 100)
    #expect(try await world.look() == [.early])
    #expect(try await world.run(early).lookAt == run.startedAt.adding(seconds: 200))
    // Looks that were missed are not made up for.
    try await world.tap(run.pushes[0].id, 3)
    try await world.tap(run.pushes[1].id, 20)
    world.base.clock.advance(seconds: 350)
    #expect(try await world.look() == [.ended(.sent)])
    #expect(try await world.run(early).end?.winner == 2)
    // Without anybody who could get it, there is a winner all the same.
    _ = try await world.start(test)
    world.base.clock.advance(seconds: 60)
    #expect(try await world.look() == [.early])
    world.base.clock.advance(seconds: 540)
    #expect(try await world.look() == [.ended(.nobodyLeft)])
    let all = try await world.run(test)
    #expect(all.end?.winner == 1 && all.rest == 0 && all.winnerPush == nil)
  }

  @Test func `What was recalled does not win`() async throws {
    let world = try await ABTestWorld(devices: 20)
    let test = try await world.add(try ABTestWorld.design())
    _ = try await world.start(test)
    let run = try await world.run(test)
    try await world.tap(run.pushes[1].id, 2)
    _ = try await world.base.recall(run.pushes[1].id).get()
    world.base.clock.advance(seconds: 600)
    #expect(try await world.look() == [.ended(.sent)])
    #expect(try await world.run(test).end?.winner == 1)
    _ = try await world.start(test)
    for push in try await world.run(test).pushes { _ = try await world.base.recall(push.id).get() }
    world.base.clock.advance(seconds: 600)
    #expect(try await world.look() == [.ended(.noWinner)])
    let last = try await world.run(test)
    #expect(last.end?.winner == nil && last.winnerPush == nil && last.figures.allSatisfy(\.isOut))
  }

  @Test func `A stopped run sends no winner, and deletion waits for the end`() async throws {
    let world = try await ABTestWorld(devices: 20)
    let test = try await world.add(try ABTestWorld.design())
    _ = try await world.start(test)
    func delete() async -> String {
      let result = await awaitCallback { world.router.abTests.delete(test.id, of: world.app, reply: $0) }
      if case .failure(let error) = result { return error.apiError.message }
      return ""
    }
    #expect(await delete() == "The A/B test is in use by its run")
    let stopped = await awaitCallback { world.router.abTestRuns.stop(test.id, of: world.app, reply: $0) }
    try stopped.get()
    world.base.clock.advance(seconds: 600)
    #expect(try await world.look().isEmpty)
    #expect(try await world.run(test).end?.state == .stopped)
    #expect(try await world.said() == ["a": 2, "b": 2, "": 16])
    guard
      case .failure(.notRunning) = await awaitCallback({
        world.router.abTestRuns.stop(test.id, of: world.app, reply: $0)
      })
    else {
      Issue.record("stopped twice")
      return
    }
    #expect(await delete().isEmpty && world.router.abTests.find(test.id, of: world.app) == nil)
    #expect(try await world.runs(test).isEmpty)
    // The pushes of its contents are as they were.
    #expect(try await world.said() == ["a": 2, "b": 2, "": 16])
  }

  @Test func `A push to a test that runs, is gone or has too few devices is refused`() async throws {
    let world = try await ABTestWorld(devices: 3)
    let test = try await world.add(try ABTestWorld.design(share: 1))
    let request = try world.request(test)
    _ = try await world.start(test)
    let again = await world.base.accept(request)
    guard case .failure(let running) = again else {
      Issue.record("two runs")
      return
    }
    #expect(running.code == 1003 && running.message.contains("runs"), "\(running.message)")
    let small = try await world.add(try ABTestWorld.design(["a", "b", "c", "d"]), name: "four")
    let few = await world.base.accept(try world.request(small))
    guard case .failure(let tooFew) = few else {
      Issue.record("a content for nobody")
      return
    }
    #expect(tooFew.code == 1011 && tooFew.message.contains("fewer devices: 3"), "\(tooFew.message)")
    let gone = try world.request(small)
    try await awaitCallback { world.router.abTests.delete(small.id, of: world.app, reply: $0) }.get()
    guard case .failure(let missing) = await world.base.accept(gone) else {
      Issue.record("a run of nothing")
      return
    }
    #expect(missing.code == 1003 && missing.message.contains("no such A/B test"))
    #expect(try await world.said() == ["a": 1, "b": 1, "": 1])
  }

  @Test func `The winner goes to those of the rest who are still there`() async throws {
    let world = try await ABTestWorld(devices: 10)
    let test = try await world.add(try ABTestWorld.design())
    _ = try await world.start(test)
    var waiting: [TestDevice] = []
    for device in world.devices {
      if try await world.texts(device).isEmpty { waiting.append(device) }
    }
    let gone = try #require(waiting.first)
    let removed = await awaitCallback {
      world.router.registrations.delete(gone.number, in: world.app, reply: $0)
    }
    try removed.get()
    // Who comes later was not in the audience.
    let late = try await world.base.register()
    world.base.clock.advance(seconds: 600)
    #expect(try await world.look() == [.ended(.sent)])
    let winner = try #require(try await world.run(test).winnerPush)
    #expect(try await world.base.targets(of: winner)?.all.count == 7)
    #expect(try await world.texts(late).isEmpty)
  }

  @Test func `A winner that comes too late is not sent`() async throws {
    let world = try await ABTestWorld(devices: 10)
    let test = try await world.add(try ABTestWorld.design())
    _ = try await world.start(test, #","options":{"time_to_live":60}"#)
    world.base.clock.advance(seconds: 661)
    #expect(try await world.look() == [.ended(.failed)])
    #expect(try await world.run(test).end?.message?.hasPrefix("Missed") == true)
    _ = try await world.start(test, #","options":{"time_to_live":60}"#)
    world.base.clock.advance(seconds: 659)
    #expect(try await world.look() == [.ended(.sent)])
  }

  @Test func `An erased person is in no audience of a test any more`() async throws {
    let world = try await ABTestWorld(devices: 10)
    let design = try ABTestWorld.design(audience: #"{"alias":["anna","ben"]}"#)
    let test = try await world.add(design)
    let only = try await world.add(
      try ABTestWorld.design(audience: #"{"alias":["anna"]}"#), name: "only")
    for device in world.devices {
      let alias = device.number.rawValue % 2 == 0 ? "anna" : "ben"
      try await world.base.change(DeviceChange(alias: .set(alias)), of: device).get()
    }
    _ = try await world.start(test)
    let entry = AuditRow(
      at: world.base.clock.now(), account: world.app.account, app: world.app.id, person: nil, who: "somebody",
      action: "device.erase", target: "", address: "")
    _ = try await awaitCallback {
      world.router.erasures.erase(.alias("anna"), in: world.app, noting: entry, reply: $0)
    }.get()
    for _ in 0..<1000 where world.router.abTests.find(only.id, of: world.app) != nil {
      try await world.base.tick()
    }
    #expect(world.router.abTests.find(test.id, of: world.app)?.design.audience.filter?.aliases == ["ben"])
    #expect(world.router.abTests.find(only.id, of: world.app) == nil)
    world.base.clock.advance(seconds: 600)
    #expect(try await world.look() == [.ended(.sent)])
  }
}
