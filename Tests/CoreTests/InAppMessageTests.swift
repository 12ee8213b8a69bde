import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// In-app messages: together with the notification over our connection, and counted apart from it.
@Suite struct InAppMessageTests {
  private let world: FallbackWorld
  private static let content = #"{"notification":{"alert":"x"},"inapp_message":true}"#

  init() async throws { world = try await FallbackWorld() }

  private func push(
    to phones: [TestDevice], after seconds: Int? = nil, timeToLive: Int = 100, _ strategy: Strategy = .jpush
  ) async throws -> MessageID {
    var request = AcceptRequest.test(to: phones, timeToLive: timeToLive)
    request.push.content = try .inApp()
    request.push.options.strategy = strategy
    request.push.options.fallbackAfter = seconds
    return try await world.world.accept(request).get().id
  }

  /// What waits for a device over our connection, as the device gets it.
  private func waiting(_ id: MessageID, _ phone: TestDevice) async throws -> String? {
    guard world.world.pending(phone).contains(id) else { return nil }
    let contents = await awaitCallback { done in
      world.world.router.deliveries.contents(of: [id]) { done($0) }
    }
    let push = try #require(try contents.get().first).1
    let json = push.deviceJSON(.android, viaVendor: push.goesElsewhere(for: phone.number))
    return String(decoding: json, as: UTF8.self)
  }

  private func note(_ id: MessageID, _ kind: PushReceipt, _ phones: TestDevice...) {
    for phone in phones {
      world.world.router.deliveries.note([(id, kind)], by: phone.number, in: world.world.app)
    }
  }

  /// Lets a device report a fact.
  private func report(_ fact: DeviceFact, _ value: String, _ phone: TestDevice) async throws {
    let (router, app) = (world.world.router, world.world.app)
    let facts: DeviceFactSet = [DeviceFactSet(.notificationPermission), DeviceFactSet(.optedOut)]
    try await awaitCallback { router.apps.setFacts(facts, of: app, noting: .test, done: $0) }.get()
    try await awaitCallback { router.facts.set([fact: value], of: phone.number, in: app, reply: $0) }.get()
  }

  /// Lets devices report that the system shows no notifications of the app.
  private func turnOff(_ phones: TestDevice...) async throws {
    for phone in phones { try await report(.notificationPermission, "off", phone) }
  }

  // MARK: Ways

  @Test func `Whose notification a channel brings has nothing over our connection`() async throws {
    let here = try await world.phone("here")
    let away = try await world.phone("away", isOnline: false)
    let plain = try await world.world.register()
    let id = try await push(to: [here, away, plain])
    try await world.turn()
    #expect(world.lines == ["\(id.text) away"])
    for isAfterRestart in [false, true] {
      if isAfterRestart { try await world.restart() }
      #expect(try await waiting(id, here) == Self.content)
      #expect(try await waiting(id, away) == nil)
      #expect(try await waiting(id, plain) == Self.content)
    }
    try await world.acknowledge(id, here)
    note(id, .inAppShown, here, away)
    try await world.turn()
    let report = try await world.report(id)
    #expect(report.inApp.target.members() == [here.number, plain.number].sorted())
    #expect(report.inApp.received.members() == [here.number])
    #expect(report.inApp.shown.members() == [here.number] && report.targets.shown.isEmpty)
    #expect(try await world.problems() == [])
  }

  /// To a few as to all, and after a restart.
  @Test(arguments: [0, 70])
  func `Who shows no notifications gets it over our connection alone`(others: Int) async throws {
    let away = try await world.phone("away", isOnline: false)
    let off = try await world.phone("off", isOnline: false)
    let offHere = try await world.phone("here")
    try await turnOff(off, offHere)
    let more = try await world.world.registerMany(others)
    let plain = try await world.push(to: [off])
    let id = try await push(to: [away, off, offHere] + more, after: 10)
    try await world.turn()
    #expect(world.lines == ["\(id.text) away", "\(plain.text) off"].sorted())
    for isAfterRestart in [false, true] {
      if isAfterRestart { try await world.restart() }
      #expect(try await waiting(id, off) == Self.content)
      #expect(try await waiting(id, offHere) == Self.content)
    }
    // Nothing takes it over from there.
    try await world.run(12)
    #expect(world.lines.count == 2)
    try await world.acknowledge(id, off)
    note(id, .inAppShown, off)
    try await world.turn()
    #expect(try await waiting(id, off) == nil)
    #expect(try await world.report(id).inApp.shown.members() == [off.number])
    #expect(try await world.problems() == [])
  }

  /// These devices may show notifications. To a few as to all.
  @Test(arguments: [0, 70])
  func `Whose users have opted out, or were not asked, get it as others do`(others: Int) async throws {
    let optedOut = try await world.phone("out", isOnline: false)
    let notAsked = try await world.phone("new", isOnline: false)
    try await report(.optedOut, "yes", optedOut)
    try await report(.notificationPermission, "not_asked", notAsked)
    let more = try await world.world.registerMany(others)
    let id = try await push(to: [optedOut, notAsked] + more)
    try await world.turn()
    #expect(world.lines == ["\(id.text) new", "\(id.text) out"])
    for phone in [optedOut, notAsked] { #expect(try await waiting(id, phone) == nil) }
  }

  @Test func `Where only the channel may bring it, it does`() async throws {
    let off = try await world.phone("off", isOnline: false)
    try await turnOff(off)
    let id = try await push(to: [off], .vendorOnly)
    try await world.turn()
    #expect(world.lines == ["\(id.text) off"])
    #expect(try await world.report(id).inApp.target.isEmpty)
  }

  @Test func `It is kept for as long as the push`() async throws {
    let (soon, late) = (try await world.world.register(), try await world.world.register())
    let id = try await push(to: [soon, late], timeToLive: 5)
    world.world.clock.advance(seconds: 4)
    #expect(try await waiting(id, soon) == Self.content)
    try await world.acknowledge(id, soon)
    try await world.run(2)
    #expect(try await waiting(id, late) == nil)
    let report = try await world.report(id)
    #expect(report.targets.expired.members() == [late.number])
    #expect(report.inApp.target.count == 2 && report.inApp.received.members() == [soon.number])
  }

  @Test func `A recall removes it`() async throws {
    let phone = try await world.phone("off", isOnline: false)
    try await turnOff(phone)
    let id = try await push(to: [phone])
    _ = try await world.world.recall(id).get()
    world.connect(phone)
    #expect(try await waiting(id, phone) == nil)
    #expect(try await world.report(id).inApp.received.isEmpty)
  }

  // MARK: What a channel does not bring

  /// The channel knows no such device.
  @Test func `What a channel refuses comes whole`() async throws {
    let gone = try await world.phone("gone", isOnline: false)
    let away = try await world.phone("away", isOnline: false)
    let id = try await push(to: [gone, away])
    try await world.turn()
    #expect(world.lines == ["\(id.text) away"])
    for isAfterRestart in [false, true] {
      if isAfterRestart { try await world.restart() }
      #expect(try await waiting(id, gone) == Self.content)
      #expect(try await waiting(id, away) == nil)
    }
    try await world.acknowledge(id, gone)
    note(id, .shown, gone)
    note(id, .inAppShown, gone)
    try await world.turn()
    let report = try await world.report(id)
    #expect(report.ownOthers(.notification).shown.members() == [gone.number])
    #expect(report.inApp.shown.members() == [gone.number] && report.inApp.target.count == 1)
    #expect(report.targets.delivered.count == 2)
    #expect(try await world.problems() == [])
  }

  /// The channel's service cannot be asked, and the device comes before it refuses anything: there is nothing
  /// that the device could acknowledge in place of the notification.
  @Test func `Who comes while a channel waits gets the notification`() async throws {
    let phone = try await world.phone("away", isOnline: false)
    world.pauseChannel()
    let id = try await push(to: [phone])
    try await world.turn()
    world.connect(phone)
    #expect(try await waiting(id, phone) == nil)
    try await world.run(6)
    #expect(try await world.report(id).targets.delivered.isEmpty)
    world.connect(phone)
    try await world.turn()
    #expect(try await waiting(id, phone) == Self.content)
    try await world.acknowledge(id, phone)
    try await world.turn()
    #expect(world.lines == [])
    let report = try await world.report(id)
    #expect(report.targets.delivered.members() == [phone.number])
    #expect(report.inApp.received.members() == [phone.number])
    #expect(try await world.problems() == [])
  }

  @Test func `What was not acknowledged in time goes on without it`() async throws {
    let phone = try await world.phone("slow")
    let id = try await push(to: [phone], after: 10)
    #expect(try await waiting(id, phone) == Self.content)
    try await world.run(12)
    #expect(world.lines == ["\(id.text) slow"])
    #expect(try await waiting(id, phone) == nil)
    #expect(try await world.problems() == [])
  }

  // MARK: Receipts

  /// Random receipts of every kind, repeated and from devices that are no targets, to one and to several.
  @Test(arguments: [1, 5]) func `Each kind of receipt counts for itself`(targets: Int) async throws {
    var random = SeededRandom(seed: UInt64(targets))
    let world = world.world
    let devices = try await world.registerMany(7)
    let id = try await push(to: Array(devices.prefix(targets)))
    var said: [PushReceipt: Set<RegistrationNumber>] = [:]
    var acknowledged: Set<RegistrationNumber> = []
    for _ in 0..<60 {
      let device = devices[Int.random(in: 0..<7, using: &random)]
      let isTarget = devices.prefix(targets).contains { $0.number == device.number }
      let kinds: [PushReceipt?] = [.shown, .tapped, .inAppShown, .inAppTapped, nil]
      if let kind = kinds.randomElement(using: &random) ?? nil {
        world.router.deliveries.note([(id, kind)], by: device.number, in: world.app)
        if isTarget { said[kind, default: []].insert(device.number) }
      } else {
        world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
        if isTarget { acknowledged.insert(device.number) }
      }
      guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
      try await world.tick()
      let report = try await self.world.report(id)
      func members(_ kinds: PushReceipt...) -> [RegistrationNumber] {
        kinds.reduce(into: Set()) { $0.formUnion(said[$1] ?? []) }.sorted()
      }
      #expect(report.targets.shown.members() == members(.shown, .tapped))
      #expect(report.targets.tapped.members() == members(.tapped))
      let inApp = report.inApp
      #expect(inApp.target.count == targets)
      #expect(inApp.shown.members() == members(.inAppShown, .inAppTapped))
      #expect(inApp.tapped.members() == members(.inAppTapped))
      let have = acknowledged.union(members(.shown, .tapped))
      #expect(inApp.received.members() == have.sorted())
      #expect(report.targets.delivered.members() == have.sorted())
    }
    #expect(try await self.world.problems() == [])
  }

  @Test(arguments: [1, 5]) func `Of another push nobody can say it`(targets: Int) async throws {
    let devices = try await world.world.registerMany(targets)
    let id = try await world.push(to: devices)
    try await world.acknowledge(id, devices[0])
    note(id, .inAppShown, devices[0])
    note(id, .inAppTapped, devices[0])
    try await world.turn()
    let report = try await world.report(id)
    #expect(report.targets.inAppShown.isEmpty && report.inApp.isEmpty && !report.isInApp)
    #expect(try await world.problems() == [])
  }

  /// However often it is said, nothing is read of such a push that grows with its audience.
  @Test(arguments: [1, 5]) func `What nobody can say costs little`(targets: Int) async throws {
    let devices = try await world.world.registerMany(targets)
    let plain = try await world.push(to: devices)
    let marked = try await push(to: devices)
    // The full report of a push cannot be read without it.
    try await world.world.run(script: "DROP TABLE dropped")
    func say(_ id: MessageID) async throws -> Bool? {
      let (store, now) = (world.world.store, world.world.clock.now())
      let key = DeviceReports.Key(id: id, app: world.world.app.id)
      let words = DeviceReports(.inAppShown, devices[0].number, at: now)
      return try await store.change { transaction throws(StorageError) in
        var cost = 0
        return try words.store(key, in: transaction, cost: &cost)?.isEmpty
      }
    }
    #expect(try await say(plain) == true)
    await #expect(throws: StorageError.self) { _ = try await say(marked) }
  }
}

extension PushContent {
  /// A notification that is an in-app message as well.
  static func inApp() throws -> PushContent {
    let push =
      #"{"platform":"all","audience":"all","notification":{"alert":"x"},"#
      + #""inapp_message":{"inapp_message":true}}"#
    return try PushRequest.parse(try parseJSON(Array(push.utf8))).content
  }
}
