import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Pushes that a channel takes over if devices do not acknowledge them in time.
@Suite struct FallbackTests {
  private let fallback: FallbackWorld
  private var world: TestWorld { fallback.world }

  init() async throws { fallback = try await FallbackWorld() }

  @Test func `An acknowledgement in time keeps the push from the channel`() async throws {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna])
    #expect(try await fallback.rows(id).map(\.isDone) == [false])
    try await fallback.run(9)
    try await fallback.acknowledge(id, anna)
    try await fallback.run(20)
    #expect(fallback.lines.isEmpty)
    #expect(try await fallback.rows(id).isEmpty)
    let report = try await fallback.report(id)
    #expect(report.status == .delivered && report.targets.legs.isEmpty && report.fallbacks.isEmpty)
    #expect(try await fallback.problems() == [])
  }

  @Test func `Without one the channel takes over, and a later one counts once`() async throws {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna])
    try await fallback.run(9)
    #expect(fallback.lines.isEmpty && world.pending(anna) == [id])
    var report = try await fallback.report(id)
    #expect(report.status == .open && report.fallbacks.map(\.waiting) == [1])
    #expect(report.fallbacks.map(\.at) == [report.createdAt.adding(seconds: 10)])
    #expect(report.targets.pending.count == 1 && report.targets.legs.isEmpty)
    var why = try await fallback.why(id, anna)
    #expect(why.conclusion == .waiting)
    #expect(why.step(.connection)?.cause == .awaitingAcknowledgement)
    #expect(why.step(.connection)?.at == report.createdAt.adding(seconds: 10))
    #expect(why.step(.connection)?.detail == "file")

    try await fallback.run(2)
    #expect(fallback.lines == ["\(id.text) anna"])
    #expect(world.pending(anna).isEmpty, "our connection has nothing left to bring")
    report = try await fallback.report(id)
    #expect(report.status == .delivered && report.fallbacks.map(\.handedOver) == [1])
    #expect(report.targets.on(.passthrough).meant.count == 1 && report.targets.acknowledged.isEmpty)
    #expect(report.targets.on(FallbackWorld.channel).accepted.members() == [anna.number])
    why = try await fallback.why(id, anna)
    #expect(why.conclusion == .handedOver && why.firstFailure == nil)
    #expect(why.step(.connection)?.cause == .notAcknowledgedInTime)

    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    report = try await fallback.report(id)
    #expect(report.targets.acknowledged.members() == [anna.number])
    #expect(report.targets.delivered.count == 1 && report.status == .delivered)
    #expect(try await fallback.why(id, anna).conclusion == .arrived)
    #expect(fallback.lines.count == 1)
    #expect(try await fallback.problems() == [])
  }

  @Test(arguments: ["recall", "override", "end"])
  func `What has ended before goes nowhere`(how: String) async throws {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna], timeToLive: how == "end" ? 10 : 100)
    try await fallback.run(5)
    switch how {
    case "recall": _ = try await world.recall(id).get()
    case "override": _ = try await fallback.push(to: [anna], after: nil, overrides: id)
    default: break
    }
    try await fallback.run(20)
    #expect(fallback.lines.isEmpty)
    #expect(try await fallback.rows(id).isEmpty)
    let targets = try await fallback.targets(id)
    #expect(
      targets.recalled.count == (how == "end" ? 0 : 1) && targets.expired.count == (how == "end" ? 1 : 0))
    #expect(try await fallback.problems() == [])
  }

  @Test func `A recall after that stops what the channel has not sent`() async throws {
    let full = try await FallbackWorld(capacity: 0)
    let anna = try await full.phone("anna")
    let id = try await full.push(to: [anna], .notification, .ownThenVendor)
    try await full.run(12)
    let targets = try await full.targets(id)
    #expect(targets.failed.keys.sorted() == ["FileFull"], "this way does not come back to the connection")
    _ = try await full.world.recall(id).get()
    #expect(try await full.problems() == [])
  }

  @Test func `A restart fires nothing early and nothing twice`() async throws {
    let (anna, bert) = (try await fallback.phone("anna"), try await fallback.phone("bert"))
    let id = try await fallback.push(to: [anna, bert])
    try await fallback.run(3)
    try await fallback.acknowledge(id, bert)
    try await fallback.turn()
    try await fallback.restart()
    try await fallback.run(6)
    #expect(fallback.lines.isEmpty)
    try await fallback.run(2)
    #expect(fallback.lines == ["\(id.text) anna"])
    try await fallback.restart()
    try await fallback.run(20)
    #expect(fallback.lines == ["\(id.text) anna"])
    let targets = try await fallback.targets(id)
    #expect(targets.delivered.count == 2 && targets.acknowledged.members() == [bert.number])
    #expect(try await fallback.problems() == [])
  }

  @Test func `After a start devices have time to come back`() async throws {
    let (anna, bert) = (try await fallback.phone("anna"), try await fallback.phone("bert"))
    let id = try await fallback.push(to: [anna, bert])
    world.clock.advance(seconds: 60)
    try await fallback.restart()
    try await fallback.run(4)
    #expect(fallback.lines.isEmpty)
    try await fallback.acknowledge(id, anna)
    try await fallback.run(3)
    #expect(fallback.lines == ["\(id.text) bert"])
  }

  @Test func `A device that goes away or was replaced meanwhile`() async throws {
    let (anna, bert) = (
      try await fallback.phone("anna"), try await fallback.phone("bert", fingerprint: [7])
    )
    let id = try await fallback.push(to: [anna, bert])
    let place = try #require(world.app.directory.location(of: anna.number))
    world.app.directory.disconnect(anna.number, from: place, at: world.clock.seconds, end: .heartbeatLost)
    _ = try await world.register(fingerprint: [7])
    try await fallback.run(12)
    #expect(fallback.lines == ["\(id.text) anna"])
    let targets = try await fallback.targets(id)
    #expect(targets.delivered.members() == [anna.number])
    #expect(targets.failed.mapValues { $0.members() } == ["Replaced": [bert.number]])
    #expect(try await fallback.problems() == [])
  }

  @Test func `A token that another registration has now leads nobody astray`() async throws {
    let (anna, bert) = (try await fallback.phone("anna"), try await fallback.phone("bert"))
    let id = try await fallback.push(to: [anna])
    try await fallback.setToken("anna", bert)
    try await fallback.run(12)
    #expect(fallback.lines.isEmpty && world.pending(anna) == [id], "it stays with the connection")
    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    #expect(try await fallback.report(id).status == .delivered)
    #expect(try await fallback.problems() == [])
  }

  @Test func `What the service refuses comes back to the connection`() async throws {
    let anna = try await fallback.phone("gone anna")
    let id = try await fallback.push(to: [anna])
    _ = world.channel.drain()
    try await fallback.run(12)
    #expect(world.pending(anna) == [id])
    let place = try #require(world.app.directory.location(of: anna.number))
    #expect(world.channel.drain() == [.single(id, anna.number, place)])
    try await fallback.restart()
    #expect(world.pending(anna) == [id])
    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    let report = try await fallback.report(id)
    #expect(report.status == .delivered && report.targets.acknowledged.count == 1)
    #expect(try await fallback.problems() == [])
  }

  @Test func `The message stays with the connection`() async throws {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna], .all)
    _ = world.channel.drain()
    try await fallback.run(12)
    #expect(fallback.lines == ["\(id.text) anna"] && world.pending(anna) == [id])
    let place = try #require(world.app.directory.location(of: anna.number))
    #expect(world.channel.drain() == [.single(id, anna.number, place)], "what is left comes once more")
    let contents = await awaitCallback { done in
      world.router.deliveries.contents(of: [id]) { done($0) }
    }
    let push = try #require(try contents.get().first).1
    #expect(push.goesElsewhere(for: anna.number) && push.showBefore(anna.number) == nil)
    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    let report = try await fallback.report(id)
    #expect(report.status == .delivered && report.targets.delivered.count == 1)
    #expect(try await fallback.problems() == [])
  }

  @Test func `Those who may not show it for ever are told so, also after a restart`() async throws {
    let (anna, carl) = (try await fallback.phone("anna"), try await world.register())
    _ = world.login(carl)
    let id = try await fallback.push(to: [anna, carl])
    let accepted = world.clock.now()
    func moment(_ phone: TestDevice) async throws -> Timestamp? {
      let contents = await awaitCallback { done in
        world.router.deliveries.contents(of: [id]) { done($0) }
      }
      return try contents.get().first?.1.showBefore(phone.number)
    }
    #expect(try await moment(anna) == accepted.adding(seconds: 8))
    #expect(try await moment(carl) == nil, "no channel would bring it")
    try await fallback.restart()
    #expect(try await moment(anna) == accepted.adding(seconds: 8))
  }

  // MARK: Many

  @Test func `A push to many is one row, and costs the channel each device once`() async throws {
    var phones: [TestDevice] = []
    for number in 0..<150 {
      phones.append(try await fallback.phone("p\(number)", isOnline: number >= 50))
    }
    let id = try await fallback.push()
    try await fallback.turn()
    #expect(fallback.lines.count == 50, "those who are away get it at once")
    #expect(try await fallback.rows(id).count == 1)
    for phone in phones[50..<80] { try await fallback.acknowledge(id, phone) }
    try await fallback.run(12)
    #expect(fallback.lines.count == 120 && Set(fallback.lines).count == 120)
    #expect(!fallback.lines.contains { $0.hasSuffix(" p60") } && fallback.lines.contains("\(id.text) p149"))
    let report = try await fallback.report(id)
    #expect(report.status == .delivered && report.targets.delivered.count == 150)
    #expect(report.targets.acknowledged.count == 30)
    #expect(try await world.storedPending() == [], "nobody is waited for any more")
    try await fallback.restart()
    try await fallback.run(2)
    #expect(fallback.lines.count == 120)
    #expect(try await fallback.problems() == [])
  }

  // MARK: Clocks

  @Test(arguments: [60, -60]) func `A clock that is set fires nothing and loses nothing`(minutes: Int)
    async throws
  {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna], timeToLive: 10_000)
    try await fallback.run(5)
    world.clock.setWall(minutes: minutes)
    try await fallback.run(4)
    #expect(fallback.lines.isEmpty)
    let report = try await fallback.report(id)
    let left = report.fallbacks.first.map { $0.at.milliseconds - world.clock.now().milliseconds } ?? 0
    #expect((0...2000).contains(left), "what is told is by the clock as it is now")
    try await fallback.run(4)
    #expect(fallback.lines == ["\(id.text) anna"])
  }

  @Test func `Time in which nobody could be heard does not count`() async throws {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna], timeToLive: 10_000)
    try await fallback.run(5)
    // The process was stopped: acknowledgements wait in its sockets.
    world.clock.advance(seconds: 600)
    try await fallback.turn()
    #expect(fallback.lines.isEmpty)
    try await fallback.acknowledge(id, anna)
    try await fallback.run(10)
    #expect(fallback.lines.isEmpty)
    #expect(try await fallback.report(id).status == .delivered)
  }

  // MARK: Failures

  @Test func `What cannot be stored is done later`() async throws {
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna])
    try await fallback.run(9)
    try await world.run(script: "ALTER TABLE channel_pending RENAME TO elsewhere")
    try await fallback.run(5)
    #expect(fallback.lines.isEmpty && world.pending(anna) == [id])
    try await world.run(script: "ALTER TABLE elsewhere RENAME TO channel_pending")
    try await fallback.run(2)
    #expect(fallback.lines == ["\(id.text) anna"])
    #expect(try await fallback.problems() == [])
  }

  /// Acknowledgements that come while the handover is being stored: whatever the order, the report adds up.
  @Test func `Acknowledgements meanwhile`() async throws {
    let (anna, bert) = (try await fallback.phone("anna"), try await fallback.phone("bert"))
    let id = try await fallback.push(to: [anna, bert])
    try await fallback.run(9)
    let gate = Gate()
    world.clock.advance(seconds: 1)
    gate.hold(world.store)
    world.router.tick()
    _ = try await world.store.look { transaction throws(StorageError) in try transaction.pushes.lastID() }
    try await fallback.acknowledge(id, anna, bert)
    gate.open()
    try await fallback.turn()
    try await fallback.run(3)
    let report = try await fallback.report(id)
    #expect(report.status == .delivered && report.targets.delivered.count == 2)
    #expect(report.targets.acknowledged.count == 2)
    #expect(try await world.storedPending() == [])
    #expect(try await fallback.problems() == [])
  }
}
