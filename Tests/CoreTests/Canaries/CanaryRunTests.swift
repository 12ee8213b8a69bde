import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Pushes with a canary: who gets them, when the rest does, and when it does not.
@Suite(.timeLimit(.minutes(2))) struct CanaryRunTests {
  /// Apple, whose production service has trouble. What is `stopped` gets nothing until somebody acts; the
  /// rest only rests.
  private final class TroubledAPNs: FakeAPNs {
    let stopped: [APNsEnvironment]

    init(stopped: APNsEnvironment...) { self.stopped = stopped }

    func status(of app: App) -> [ChannelStatus] {
      [APNsEnvironment.production, .sandbox].map {
        var status = ChannelStatus(.apns, service: $0.name)
        if $0 == .production || stopped.contains($0) { status.problem = Phrase("trouble", "故障") }
        status.stopped = stopped.contains($0) ? ServiceSet($0.service) : []
        return status
      }
    }
  }

  @Test func `The share gets it first, and the rest once it went well`() async throws {
    let world = try await CanaryWorld()
    let request = try CanaryWorld.request(most: 0)
    let accepted = try await world.base.accept(request).get()
    // The answer counts all whom it is for.
    #expect(accepted.targets == 100)
    let id = accepted.id
    let first = try await world.targets(id)
    #expect(first.count == 10 && world.waiting() == [1: 10, 0: 90])
    let waiting = try await world.status(id)
    #expect(waiting.state == .waiting && waiting.rest == 90 && waiting.figures?.targets == 10)
    #expect(waiting.lookAt == world.base.clock.now().adding(seconds: 600))
    // One device is enough to know a tenth.
    try await world.acknowledge(id, 1)
    #expect(try await world.look(after: 599).isEmpty)
    #expect(try await world.look(after: 1) == [.ended(.sent)])
    let sent = try await world.status(id)
    let rest = try #require(sent.end?.rest)
    #expect(sent.lookAt == nil && sent.figures?.succeeded == 1 && sent.figures?.failed == 0)
    let others = Set(try await world.targets(rest).map(\.number))
    #expect(others.count == 90 && others.isDisjoint(with: first.map(\.number)))
    #expect(world.waiting() == [1: 99, 0: 1])
    // The same canary, asked for by the other ID.
    #expect(try await world.status(rest).id == id)
    #expect(try await world.look(after: 86_400).isEmpty)
  }

  @Test func `Too many refusals of the content stop it`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    let id = try await world.push(share: 20)
    try await world.answer(id, (ChannelEnd.delivered, 18), ("SomethingNew", 2))
    #expect(try await world.look(after: 600) == [.ended(.tooManyFailures)])
    let status = try await world.status(id)
    #expect(status.figures?.succeeded == 18 && status.figures?.failed == 2 && status.end?.rest == nil)
    #expect(try await world.look(after: 3600).isEmpty)
    // Who does not get it learns why.
    let first = Set(try await world.targets(id).map(\.number))
    let out = try #require(world.devices.first { !first.contains($0.number) })
    let step = try await world.why(id, out)
    #expect(step?.cause == .canaryStopped && step?.detail == "too_many_failures" && step?.verdict == .failed)
  }

  @Test func `It goes on with as many failures as are allowed`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    let id = try await world.push(share: 20, most: 10)
    try await world.answer(id, (ChannelEnd.delivered, 18), ("SomethingNew", 2))
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    #expect(try await world.targets(try #require(try await world.status(id).end?.rest)).count == 80)
  }

  @Test func `Tokens that are gone are no failures of the push`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    let id = try await world.push(share: 20, most: 0)
    try await world.answer(id, (ChannelEnd.delivered, 2), ("Unregistered", 18))
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    let status = try await world.status(id)
    #expect(status.figures?.succeeded == 2 && status.figures?.failed == 0 && status.figures?.targets == 20)
  }

  @Test func `Devices whose service is stopped count as failed`() async throws {
    // That the idle service for sandbox tokens is fine changes nothing.
    let world = try await CanaryWorld(apple: TroubledAPNs(stopped: .production))
    let id = try await world.push(share: 20)
    try await world.answer(id, (ChannelEnd.delivered, 10))
    #expect(try await world.look(after: 600) == [.ended(.tooManyFailures)])
    #expect(try await world.status(id).figures == CanaryFigures(targets: 20, succeeded: 10, failed: 10))
  }

  @Test func `A stopped service that has none of the devices changes nothing`() async throws {
    let world = try await CanaryWorld(apple: TroubledAPNs(stopped: .sandbox))
    let id = try await world.push(share: 20)
    try await world.answer(id, (ChannelEnd.delivered, 10))
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    #expect(try await world.status(id).figures?.failed == 0)
  }

  @Test func `A service that rests for a moment is not a failure`() async throws {
    let world = try await CanaryWorld(apple: TroubledAPNs())
    let id = try await world.push(share: 20)
    #expect(try await world.status(id).figures?.failed == 0)
    #expect(try await world.look(after: 600) == [.early])
    try await world.answer(id, (ChannelEnd.delivered, 20))
    #expect(try await world.look(after: 60) == [.ended(.sent)])
  }

  @Test(arguments: [false, true])
  func `Devices of a stopped service fail also once the push has expired`(isSwept: Bool) async throws {
    let world = try await CanaryWorld(apple: TroubledAPNs(stopped: .production))
    let id = try await world.push(share: 20, wait: 60, more: #","time_to_live":60"#)
    if isSwept {
      try await world.answer(id, (ChannelEnd.delivered, 10), (ChannelEnd.expired, 10))
    } else {
      try await world.answer(id, (ChannelEnd.delivered, 10))
    }
    #expect(try await world.look(after: 60) == [.ended(.tooManyFailures)])
    #expect(try await world.status(id).figures == CanaryFigures(targets: 20, succeeded: 10, failed: 10))
  }

  @Test func `While nothing is known it waits as long again, and then stops`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    let id = try await world.push(share: 20)
    #expect(try await world.look(after: 600) == [.early])
    for _ in 0..<9 {
      #expect(try await world.look(after: 59).isEmpty)
      #expect(try await world.look(after: 1) == [.early])
    }
    #expect(try await world.look(after: 60) == [.ended(.tooLittleKnown)])
    #expect(
      try await world.status(id).end?.at == (try await world.status(id)).startedAt.adding(seconds: 1200))
  }

  @Test func `What becomes known during the longer wait decides`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    let id = try await world.push(share: 20)
    #expect(try await world.look(after: 600) == [.early])
    #expect(try await world.look(after: 60) == [.early])
    try await world.answer(id, (ChannelEnd.delivered, 2))
    #expect(try await world.look(after: 60) == [.ended(.sent)])
  }

  @Test(arguments: [true, false]) func `A restart changes nothing`(isOrderly: Bool) async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    let first = Set(try await world.targets(id).map(\.number))
    try await world.base.restart(isOrderly: isOrderly)
    #expect(try await world.status(id).rest == 90 && world.waiting() == [1: 10, 0: 90])
    try await world.acknowledge(id)
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    // What was decided and not sent to anybody yet is in the database.
    try await world.base.restart(isOrderly: isOrderly)
    let rest = try #require(try await world.status(id).end?.rest)
    let others = Set(try await world.targets(rest).map(\.number))
    #expect(others.count == 90 && others.isDisjoint(with: first))
    #expect(world.devices.allSatisfy { others.contains($0.number) == (world.base.pending($0) == [rest]) })
    #expect(try await world.look(after: 3600).isEmpty)
  }

  @Test func `What cannot be stored is tried again, and nothing is sent twice`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    try await world.acknowledge(id)
    world.base.clock.advance(seconds: 600)
    let due = try #require(try await world.due().first)
    try await world.base.setFault(.readOnly, true)
    #expect(await world.look(at: due) == .postponed)
    try await world.base.setFault(.readOnly, false)
    #expect(world.waiting() == [0: 100])
    #expect(try await world.look() == [.ended(.sent)])
    #expect(world.waiting() == [0: 10, 1: 90])
  }

  @Test func `The button and the timer send it once`() async throws {
    for _ in 0..<5 {
      let world = try await CanaryWorld(devices: 100)
      let id = try await world.push()
      try await world.acknowledge(id)
      world.base.clock.advance(seconds: 600)
      let due = try #require(try await world.due().first)
      let (router, app) = (world.router, world.app)
      let rules = app.pushRules(CanaryWorld.rules)
      async let one = awaitCallback {
        router.acceptance.look(at: due, by: rules, router.canaries, done: $0)
      }
      async let two = awaitCallback {
        router.acceptance.release(id, of: app, by: rules, router.canaries, reply: $0)
      }
      async let three = awaitCallback {
        router.acceptance.look(at: due, by: rules, router.canaries, done: $0)
      }
      let (looks, released) = (await [one, three], await two)
      var ends = looks.filter { $0 == .ended(.sent) }.count
      if case .success(.released) = released { ends += 1 }
      #expect(ends == 1, "\(looks) \(released)")
      #expect(world.waiting() == [0: 10, 1: 90])
    }
  }

  @Test func `A person sends it to the rest before anything is known`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    #expect(try await world.release(id).get() == .released)
    #expect(world.waiting() == [1: 100])
    guard case .failure(.over) = await world.release(id), case .failure(.over) = await world.stop(id) else {
      Issue.record("decided twice")
      return
    }
    let rest = try #require(try await world.status(id).end?.rest)
    guard case .failure(.unknown) = await world.release(rest),
      case .failure(.unknown) = await world.stop(rest)
    else {
      Issue.record("the push to the rest was taken for the other")
      return
    }
    guard case .failure(.unknown) = await world.release(MessageID(7)),
      case .failure(.unknown) = await world.stop(MessageID(7))
    else {
      Issue.record("a push without a canary")
      return
    }
    #expect(try await world.look(after: 600).isEmpty)
  }

  @Test func `A stopped push goes to nobody else`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    let due = DueCanary(id: id, app: world.app)
    try await world.stop(id).get()
    #expect(await world.look(at: due) == .stale)
    #expect(try await world.look(after: 600).isEmpty && world.waiting() == [1: 10, 0: 90])
    let status = try await world.status(id)
    #expect(status.state == .stopped && status.figures == nil)
    let first = Set(try await world.targets(id).map(\.number))
    let out = try #require(world.devices.first { !first.contains($0.number) })
    #expect(try await world.why(id, out)?.detail == "stopped")
  }

  @Test func `A recall in the middle ends it, and later it recalls both`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    try await world.acknowledge(id, 5)
    world.base.clock.advance(seconds: 600)
    let due = try #require(try await world.due().first)
    _ = try await world.base.recall(id).get()
    // It was found before the recall.
    #expect(await world.look(at: due) == .stale)
    #expect(try await world.status(id).state == .recalled && world.waiting() == [0: 100])

    let second = try await world.push()
    try await world.acknowledge(second, 5)
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    let rest = try #require(try await world.status(second).end?.rest)
    #expect(world.waiting() == [0: 5, 1: 95])
    #expect(try await world.base.recall(second).get() == 95)
    #expect(world.waiting() == [0: 100])
    #expect(try await world.base.outcome(of: rest)?.withdrawal?.status == .recalled)
    #expect(try await world.status(second).state == .sent)
  }

  @Test func `A recall of several pushes recalls their rests as well`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    try await world.acknowledge(id, 5)
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    let rest = try #require(try await world.status(id).end?.rest)
    let waits = try await world.push()
    let (router, app) = (world.router, world.app)
    let recalled = try await awaitCallback {
      router.deliveries.recall([id, MessageID(1), waits][...], in: app, reply: $0)
    }.get()
    #expect(recalled.known == 2)
    #expect(world.waiting() == [0: 100])
    #expect(try await world.base.outcome(of: rest)?.withdrawal?.status == .recalled)
    #expect(try await world.status(waits).state == .recalled)
  }

  @Test func `The rest goes to those who are still there`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    let first = Set(try await world.targets(id).map(\.number))
    let gone = try #require(world.devices.first { !first.contains($0.number) })
    let removed = await awaitCallback {
      world.router.registrations.delete(gone.number, in: world.app, reply: $0)
    }
    try removed.get()
    let late = try await world.base.register()
    try await world.acknowledge(id)
    #expect(try await world.look(after: 600) == [.ended(.sent)])
    let rest = try #require(try await world.status(id).end?.rest)
    #expect(try await world.base.targets(of: rest)?.all.count == 89 && world.base.pending(late).isEmpty)
  }

  @Test func `What comes too late is not sent`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push(wait: 60, more: #","time_to_live":60"#)
    try await world.acknowledge(id)
    #expect(try await world.look(after: 121) == [.ended(.failed)])
    #expect(try await world.status(id).end?.message?.hasPrefix("Missed") == true)
    let second = try await world.push(wait: 60, more: #","time_to_live":60"#)
    try await world.acknowledge(second)
    #expect(try await world.look(after: 120) == [.ended(.sent)])
  }

  @Test func `Why says where a device belongs to`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    let first = Set(try await world.targets(id).map(\.number))
    let one = try #require(world.devices.first { first.contains($0.number) })
    let other = try #require(world.devices.first { !first.contains($0.number) })
    let waiting = try await world.why(id, other)
    #expect(waiting?.cause == .canaryWaiting && waiting?.verdict == .waiting)
    #expect(waiting?.at == world.base.clock.now().adding(seconds: 600))
    #expect(try await world.why(id, one)?.verdict == .ok)
    _ = try await world.release(id).get()
    let rest = try #require(try await world.status(id).end?.rest)
    #expect(try await world.why(id, other)?.cause == .otherPart)
    #expect(try await world.why(id, other)?.detail == rest.text)
    #expect(try await world.why(rest, one)?.detail == id.text)
    #expect(try await world.why(rest, other)?.verdict == .ok)
    // Who came later was in neither.
    let late = try await world.base.register()
    #expect(try await world.why(id, late)?.cause != .canaryStopped)
  }

  @Test func `What went wrong needs attention for an hour`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    func troubles() async throws -> [AppTrouble] {
      try await world.router.incidents.troubles(of: world.app).get()
    }
    let id = try await world.push(share: 20)
    let stopped = try await world.push(share: 20)
    try await world.stop(stopped).get()
    try await world.answer(id, ("SomethingNew", 20))
    #expect(try await troubles().isEmpty)
    #expect(try await world.look(after: 600) == [.ended(.tooManyFailures)])
    let found = try await troubles()
    #expect(found.map(\.identity) == [TroubleIdentity(.canary, service: id.text)])
    #expect(found.first?.phrase.english.contains("failed for 20 of 20 devices. The other 80") == true)
    world.base.clock.advance(seconds: 3601)
    #expect(try await troubles().isEmpty)
  }

  @Test func `Many that stopped in one app hide none of another`() async throws {
    let world = try await CanaryWorld(devices: 0)
    let made = try await awaitCallback { world.router.apps.create("other", for: .standard, reply: $0) }.get()
    let found = try await awaitCallback { world.router.apps.find(made.key, found: $0) }.get()
    let (app, other) = (world.app, try #require(found))
    let (zone, now) = (world.router.zone, world.base.clock.now())
    let troubles = try await world.base.store.change { transaction throws(StorageError) in
      for number in 1...150 {
        let owner = number <= 149 ? app : other
        let id = MessageID(UInt64(number))
        try transaction.canaries.insert(
          CanaryRow(
            id, app: owner.id, Canary(), rest: CanaryRow.Rest(body: [], members: [], count: 5), sender: .api,
            at: now))
        try transaction.canaries.finish(id, app: owner.id, CanaryRow.End(.tooManyFailures, at: now))
      }
      return try AppTrouble.stored(
        of: [app, other], rows: .all, in: transaction.reading, zone, at: now)
    }
    #expect(troubles[app.id]?.map(\.identity.service) == (140...149).reversed().map { "\($0)" })
    #expect(troubles[other.id]?.map(\.identity.service) == ["150"])
  }

  @Test(arguments: [120, -120]) func `A clock that is set moves the look along`(minutes: Int) async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    #expect(try await world.look(after: 1).isEmpty)
    try await world.acknowledge(id, 1)
    let before = try #require(try await world.status(id).lookAt)
    world.base.clock.setWall(minutes: minutes)
    // One that comes before the next look at the clocks has its moment by the new one.
    let late = try await world.push()
    let ofLate = try #require(try await world.status(late).lookAt)
    #expect(try await world.look(after: 1).isEmpty)
    #expect(try await world.status(id).lookAt == before.adding(seconds: Int64(minutes) * 60))
    #expect(try await world.status(late).lookAt == ofLate)
    #expect(try await world.look(after: 597).isEmpty)
    #expect(try await world.look(after: 1) == [.ended(.sent)])
  }

  @Test func `Without the push to the share nothing is known`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    try await world.acknowledge(id)
    try await world.base.store.change { transaction throws(StorageError) in
      try transaction.pushes.delete([id])
    }
    #expect(try await world.look(after: 600) == [.early])
    for _ in 0..<9 { #expect(try await world.look(after: 60) == [.early]) }
    // It was not recalled: nobody has done that.
    #expect(try await world.look(after: 60) == [.ended(.tooLittleKnown)])
  }

  @Test func `A small audience, an override and a group's server are refused`() async throws {
    let world = try await CanaryWorld(devices: 40)
    func fault(_ request: AcceptRequest) async -> APIError? {
      guard case .failure(let error) = await world.base.accept(request) else { return nil }
      return error
    }
    let small = try #require(await fault(try CanaryWorld.request()))
    #expect(small.code == 1003 && small.message.contains("10 percent of 40 devices are 4"))
    let request = try CanaryWorld.request()
    let checked = await awaitCallback {
      world.router.acceptance.validate(request, for: world.app, reply: $0)
    }
    guard case .failure(let validated) = checked else {
      Issue.record("validated")
      return
    }
    #expect(validated.message == small.message)
    #expect(world.waiting() == [0: 40])
    let id = try await world.push(share: 50)
    let over = try #require(await fault(.test(overrides: id)))
    #expect(over.code == 1003 && over.message.contains("cannot be overridden"))
    var group = try CanaryWorld.request(share: 50)
    group.sender = .group(1)
    #expect(await fault(group)?.message.contains("app groups") == true)
  }

  @Test func `It waits for those who are in their quiet hours`() async throws {
    let world = try await CanaryWorld()
    let (router, app) = (world.router, world.app)
    let hours = QuietHours(from: 22 * 60, until: 8 * 60)
    try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
    let id = try await world.push()
    #expect(world.waiting() == [0: 100])
    // It was 22:13 in China: they wait until 8:00, in 35,200 seconds.
    #expect(try await world.look(after: 600) == [.early])
    let status = try await world.status(id)
    #expect(status.lookAt == status.startedAt.adding(seconds: 35_200 + 600))
    world.base.clock.advance(seconds: 34_600)
    repeat { try await world.base.tick() } while router.deliveries.heldPushes.isBusy
    #expect(world.waiting() == [1: 10, 0: 90])
    try await world.acknowledge(id)
    #expect(try await world.look(after: 600) == [.ended(.sent)])
  }

  @Test func `Limits for a day leave ten devices, or it is refused`() async throws {
    let world = try await CanaryWorld()
    let (router, app) = (world.router, world.app)
    try await awaitCallback {
      router.apps.setCaps(CapsRow(normal: 1), of: app, noting: .test, done: $0)
    }.get()
    func plain(_ devices: ArraySlice<TestDevice>) -> AcceptRequest {
      let text = Array(#"{"alert":"x"}"#.utf8)
      return AcceptRequest(
        to: .devices(devices.map(\.id)),
        PushContent(variants: [ContentVariant(platforms: .all, notification: text)]))
    }
    _ = try await world.base.accept(plain(world.devices.prefix(90))).get()
    for left in [10, 0] {
      guard case .failure(let fault) = await world.base.accept(try CanaryWorld.request()) else {
        Issue.record("a share of fewer than ten")
        return
      }
      #expect(fault.code == 1003 && fault.message.contains("limits for a day"), "\(fault.message)")
      guard left > 0 else { break }
      // What was refused was not counted.
      #expect(try await world.base.accept(plain(world.devices.suffix(10))).get().targets == 10)
    }
    world.base.clock.advance(seconds: 86_400)
    let id = try await world.push()
    // The rest has had its notification of the day by the time that it is sent: they are all there.
    #expect(try await world.base.accept(plain(world.devices[...])).get().targets == 90)
    guard case .failure(.refused(let fault)) = await world.release(id) else {
      Issue.record("released")
      return
    }
    #expect(fault.code == 1011 && fault.message.contains("90 devices would match"))
    try await world.acknowledge(id)
    #expect(try await world.look(after: 600) == [.ended(.failed)])
    #expect(try await world.status(id).end?.message?.contains("90 devices would match") == true)
  }

  @Test func `A disabled app sends nothing to the rest`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    try await world.acknowledge(id)
    let app = world.app.id
    try await world.base.store.change { transaction throws(StorageError) in
      _ = try transaction.apps.setDisabled(app: app, true)
    }
    for _ in 0..<1000 where !world.app.isDisabled { try await world.base.tick() }
    guard case .failure(.refused(let fault)) = await world.release(id) else {
      Issue.record("sent")
      return
    }
    // By hand it is refused, and waits on; by itself that is the end.
    #expect(fault.code == 2003)
    #expect(try await world.status(id).state == .waiting)
    #expect(try await world.look(after: 600) == [.ended(.failed)])
    #expect(try await world.status(id).end?.message == fault.message && world.waiting() == [0: 100])
  }

  @Test func `A push without a canary leaves nothing to look at`() async throws {
    let world = try await CanaryWorld(devices: 20)
    let id = try await world.base.push()
    #expect(try await world.found(id) == nil)
    world.base.clock.advance(seconds: 86_400)
    #expect(try await world.due().isEmpty)
  }

  @Test func `Old ones are swept`() async throws {
    let world = try await CanaryWorld()
    let id = try await world.push()
    try await world.stop(id).get()
    let later = world.base.clock.now().adding(seconds: 1)
    try await world.base.store.change { transaction throws(StorageError) in
      #expect(try transaction.canaries.sweep(before: later, limit: 10, in: .all) == 1)
    }
    #expect(try await world.found(id) == nil)
  }
}
