import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What becomes an incident, and when it is over.
@Suite struct IncidentTests {
  private static let now = ManualClock().now()
  private static let apns = TroubleIdentity(.unreachable, of: .apns, service: "production")
  private static let sandbox = TroubleIdentity(.unreachable, of: .apns, service: "sandbox")

  private static func trouble(_ identity: TroubleIdentity) -> AppTrouble {
    AppTrouble(identity, Phrase("wrong", "故障"))
  }

  private static func incident(_ identity: TroubleIdentity, endedSecondsAgo: Int64? = nil) -> IncidentRow {
    IncidentRow(
      id: 1, app: AppID(1), identity: identity, phrase: Phrase("wrong", "故障"),
      beganAt: now.adding(seconds: -1000), endedAt: endedSecondsAgo.map { now.adding(seconds: -$0) })
  }

  /// What a look changes, in words.
  private static func changes(
    _ incidents: [IncidentRow], _ troubles: [TroubleIdentity], isObserved: Bool = true
  ) -> String {
    let changes = IncidentChanges(
      of: incidents, troubles.map { trouble($0) }, isObserved: { _ in isObserved }, at: now)
    let all = [
      ("begun", changes.begun.count), ("resumed", changes.resumed.count), ("ended", changes.ended.count),
      ("settled", changes.settled.count),
    ]
    #expect(changes.isEmpty == all.allSatisfy { $0.1 == 0 })
    return all.filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  @Test func `Each look begins, resumes, ends and settles what has changed`() {
    #expect(Self.changes([], []) == "")
    #expect(Self.changes([], [Self.apns]) == "begun 1")
    #expect(Self.changes([], [Self.apns, Self.apns, Self.sandbox]) == "begun 2")
    #expect(Self.changes([Self.incident(Self.apns)], [Self.apns]) == "")
    #expect(Self.changes([Self.incident(Self.apns)], [Self.sandbox]) == "begun 1, ended 1")
    #expect(Self.changes([Self.incident(Self.apns)], []) == "ended 1")
    #expect(Self.changes([Self.incident(Self.apns)], [], isObserved: false) == "")
    #expect(Self.changes([Self.incident(Self.apns, endedSecondsAgo: 299)], []) == "")
    #expect(Self.changes([Self.incident(Self.apns, endedSecondsAgo: 299)], [Self.apns]) == "resumed 1")
    let old = Self.incident(Self.apns, endedSecondsAgo: 300)
    #expect(Self.changes([old], []) == "settled 1")
    #expect(Self.changes([old], [], isObserved: false) == "settled 1")
  }

  // MARK: The watch

  private static func look(_ watch: IncidentWatch, all: Bool = true) async {
    await awaitCallback { done in watch.look(readsDatabase: all) { done(()) } }
  }

  private static func list(_ world: TestWorld) async throws -> [IncidentRow] {
    try await world.router.incidents.list(of: world.app, limit: 100).get().map(\.row)
  }

  /// The subjects of all mail.
  private static func mail(_ world: TestWorld) async throws -> [String] {
    try await world.store.look { transaction throws(StorageError) in
      try transaction.mail.due(at: Timestamp(milliseconds: .max), limit: 100).map {
        "\($0.mail.recipient): \($0.mail.subject)"
      }
    }
  }

  private static func setPlan(_ name: String, _ world: TestWorld) async throws {
    let app = world.app.id
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.plans.set(PlanRow(name: "tiny", registrations: 1))
      return try transaction.apps.setPlan(app: app, name)
    }
    await awaitCallback { done in world.router.learnChanges { done(()) } }
  }

  private static func add(
    _ address: String, _ role: Role, wantsMail: Bool, _ world: TestWorld
  ) async throws {
    let (account, now) = (world.app.account, world.clock.now())
    try await world.store.change { transaction throws(StorageError) in
      let person = try transaction.people.add(
        NewPerson(email: address, name: address, password: "x", language: "zh", isOperator: false), at: now)
      try transaction.members.setRole(of: person, in: account, role)
      try transaction.people.setIncidentMail(of: person, wantsMail)
    }
  }

  /// Nobody has seen it end.
  @Test func `A canary that has stopped is one mail`() async throws {
    let world = try await CanaryWorld(apple: SilentAPNs())
    try await Self.add("owner", .owner, wantsMail: true, world.base)
    let watch = IncidentWatch(
      store: world.base.store, router: world.router, site: "https://push.example.com",
      time: world.base.clock, log: .silent)
    let id = try await world.push(share: 20)
    try await world.answer(id, ("SomethingNew", 20))
    #expect(try await world.look(after: 600) == [.ended(.tooManyFailures)])
    for _ in 0..<2 {
      await Self.look(watch)
      world.base.clock.advance(seconds: 5)
    }
    #expect(try await Self.list(world.base).count == 1)
    let mail = try await Self.mail(world.base)
    #expect(mail.count == 1 && mail.first?.contains("灰度发送") == true, "\(mail)")
    world.base.clock.advance(seconds: 3600)
    await Self.look(watch)
    world.base.clock.advance(seconds: 300)
    for _ in 0..<2 { await Self.look(watch) }
    #expect(try await Self.list(world.base).first?.endedAt != nil)
    #expect(try await Self.mail(world.base) == mail)
  }

  @Test func `An incident has a begin and an end, one row, and a mail for each`() async throws {
    let world = try await TestWorld()
    try await Self.add("owner", .owner, wantsMail: true, world)
    try await Self.add("calm", .admin, wantsMail: false, world)
    try await Self.add("viewer", .viewer, wantsMail: true, world)
    _ = try await world.register()
    let watch = IncidentWatch(
      store: world.store, router: world.router, site: "https://push.example.com", time: world.clock,
      log: .silent)
    try await Self.setPlan("tiny", world)
    let began = world.clock.now()
    await Self.look(watch)
    #expect(try await Self.list(world).isEmpty, "seen once")
    world.clock.advance(seconds: 5)
    await Self.look(watch)
    let first = try #require(try await Self.list(world).first)
    #expect(first.beganAt == began && first.endedAt == nil && first.identity.kind == .registrations)
    #expect(try await Self.mail(world) == ["owner: test：需要处理：设备数已达套餐上限。"])
    await Self.look(watch)
    #expect(try await Self.list(world) == [first])
    // It is over for a moment only.
    try await Self.setPlan("unlimited", world)
    world.clock.advance(seconds: 5)
    await Self.look(watch)
    #expect(try await Self.list(world).first?.endedAt == world.clock.now())
    try await Self.setPlan("tiny", world)
    world.clock.advance(seconds: 5)
    await Self.look(watch)
    #expect(try await Self.list(world) == [first])
    try await Self.setPlan("unlimited", world)
    await Self.look(watch)
    let end = world.clock.now()
    world.clock.advance(seconds: 300)
    await Self.look(watch)
    #expect(try await Self.list(world).map(\.endedAt) == [end])
    #expect(
      try await Self.mail(world) == [
        "owner: test：需要处理：设备数已达套餐上限。", "owner: test：已结束：设备数已达套餐上限。",
      ])
    // What comes now is another one.
    try await Self.setPlan("tiny", world)
    for _ in 0..<2 { await Self.look(watch) }
    #expect(try await Self.list(world).count == 2)
    world.clock.advance(seconds: 91 * 86_400)
    await Self.look(watch)
    #expect(try await Self.list(world).map(\.endedAt) == [nil], "the one that lasts is kept")
  }

  @Test func `Callbacks that wait for ten minutes are an incident`() async throws {
    let world = try await TestWorld()
    let (app, now) = (world.app.id, world.clock.now())
    try await world.store.change { transaction throws(StorageError) in
      try transaction.callbacks.insertBatch(
        app: app, to: nil, events: 1, body: [1], at: now, until: now.adding(seconds: 86_400))
    }
    let watch = IncidentWatch(
      store: world.store, router: world.router, site: nil, time: world.clock, log: .silent)
    world.clock.advance(seconds: 599)
    for _ in 0..<2 { await Self.look(watch) }
    #expect(try await Self.list(world).isEmpty)
    world.clock.advance(seconds: 1)
    for _ in 0..<2 { await Self.look(watch) }
    #expect(try await Self.list(world).map(\.identity) == [TroubleIdentity(.callbacks)])
    #expect(
      try await world.router.incidents.troubles(of: world.app).get().map(\.identity.kind) == [.callbacks])
  }
}
