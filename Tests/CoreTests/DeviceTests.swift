import BorealisBase
import Model
import PushTesting
import Synchronization
import Testing

@testable import Core
@testable import Storage

@Suite struct DeviceTests {
  /// A device that comes back as new, by its mark or by Apple's token, takes its old registration's place:
  /// alias, tags and token are free, the old connection ends, and what waited for it is handed to nobody.
  @Test(arguments: [true, false])
  func reinstall(byToken: Bool) async throws {
    let world = try await TestWorld()
    let (mark, token): ([UInt8], [UInt8]) = byToken ? ([], [1, 2, 3]) : ([9], [])
    let old = try await world.register(fingerprint: mark, token: token)
    let other = try await world.register()
    let named = DeviceChange(tags: .set(["red", "blue"]), alias: .set("zoe"))
    #expect(isDone(await world.change(named, of: old)))
    #expect(isDone(await world.change(DeviceChange(tags: .set(["red"])), of: other)))
    let single = try await world.push(to: [old])
    let shared = try await world.push()
    let place = world.login(old)
    _ = world.channel.drain()
    let new = try await world.register(fingerprint: mark, token: token)
    #expect(world.channel.drain() == [.disconnect(place, .registrationReplaced)])
    #expect(new.id != old.id && old.number < new.number)
    #expect(world.pending(new) == [] && world.pending(old) == [] && world.pending(other) == [shared])
    #expect(world.app.directory.find(old.id) == nil && world.app.directory.onlineCount == 0)
    #expect(world.app.directory.registrations(alias: "zoe") == [])
    #expect(world.app.directory.firstTags(100) == ["red"])
    #expect(!world.app.directory.hasTag("red", old.number))
    #expect(isFailed(await world.change(named, of: old), .unknownRegistration))
    world.router.deliveries.acknowledge([single, shared], by: old.number, in: world.app)
    try await world.tick()
    #expect(try await world.outcome(of: single)?.status == .replaced)
    #expect(try await world.storedPending() == [shared])
    for _ in 0..<2 {
      let terms = AudienceFilter(tags: ["red", "blue"])
      #expect(world.app.directory.resolve(terms, platforms: .all).numbers.members() == [other.number])
      try await world.restart(isOrderly: false)
    }
  }

  /// While a device takes the place of its old registration, whoever looks finds one of the two.
  @Test func `A device that registers again is in every audience meanwhile`() async throws {
    let world = try await TestWorld()
    _ = try await world.register(fingerprint: [1])
    let isOver = Atomic<Bool>(false)
    let least = Mutex(Int.max)
    let watcher = Semaphore()
    try SystemThread.start("watcher") { [directory = world.app.directory] in
      while !isOver.load(ordering: .relaxed) {
        let count = directory.resolve(.all, platforms: .all)?.count ?? 0
        least.withLock { $0 = min($0, count) }
      }
      watcher.signal()
    }
    for _ in 0..<200 { _ = try await world.register(fingerprint: [1]) }
    isOver.store(true, ordering: .relaxed)
    watcher.wait()
    #expect(least.withLock { $0 } == 1)
  }

  /// A push whose only registration is replaced while it is being stored, or whose end a crash took away, is
  /// settled.
  @Test func orphans() async throws {
    let world = try await TestWorld()
    let old = try await world.register(fingerprint: [1])
    let waiting = try await world.push(to: [old])
    // Both stand in the writer's queue at the same time: the audience is fixed before the replacement.
    let racing = Mutex<Result<AcceptedPush, APIError>?>(nil)
    let replaced = await awaitCallback { done in
      // Holds the writer until both are there.
      let gate = Gate()
      gate.hold(world.store)
      world.router.registrations.register(
        in: world.app, platform: .ios, fingerprint: [1], tokens: [], appVersion: ""
      ) { done($0) }
      world.router.acceptance.accept(.test(to: [old]), for: world.app) { answer in
        racing.withLock { $0 = answer }
      }
      gate.open()
    }
    try await world.barrier()
    let new = try #require(world.app.directory.find(try replaced.get().id))
    #expect(world.app.directory.pendingCount(for: new) == 0)
    let accepted = try #require(try racing.withLock { $0 }?.get())
    // Not one tick, so the end of the waiting push is lost here.
    try await world.restart(isOrderly: false)
    try await world.tick()
    #expect(try await world.storedPending() == [])
    #expect(try await world.outcome(of: waiting)?.status == .replaced)
    #expect(try await world.outcome(of: accepted.id)?.status == .replaced)
  }

  /// Fifty registrations race for the ten places of an alias: exactly ten get it, in memory and in the
  /// database.
  @Test func aliasRace() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(50)
    let results = await withTaskGroup(of: Result<Void, DeviceFailure>.self) { group in
      for device in devices {
        group.addTask { [router = world.router, app = world.app] in
          await awaitCallback { done in
            router.registrations.setAlias("zoe", of: device.number, in: app) { done($0) }
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.count { isDone($0) } == 10)
    #expect(results.count { isFailed($0, .aliasFull) } == 40)
    let holders = world.app.directory.registrations(alias: "zoe")
    #expect(holders.count == 10)
    try await world.restart(isOrderly: false)
    #expect(world.app.directory.registrations(alias: "zoe") == holders)
    // A place that becomes free is given again.
    let holder = try #require(devices.first { $0.number == holders[3] })
    let loser = try #require(devices.first { !holders.contains($0.number) })
    #expect(isDone(await world.change(DeviceChange(alias: .set("zoe")), of: holder)), "its own again")
    #expect(isDone(await world.change(DeviceChange(alias: .clear), of: holder)))
    #expect(isDone(await world.change(DeviceChange(alias: .set("zoe")), of: loser)))
    #expect(isFailed(await world.change(DeviceChange(alias: .set("zoe")), of: holder), .aliasFull))
  }

  /// A change is made as a whole or not at all.
  @Test func changesAreWhole() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(11)
    for device in devices.prefix(10) {
      #expect(isDone(await world.change(DeviceChange(alias: .set("full")), of: device)))
    }
    let last = devices[10]
    let before = DeviceChange(tags: .set(["a"]), alias: .set("own"), mobile: .set("123"))
    #expect(isDone(await world.change(before, of: last)))
    let tooMany = (0...1000).map { "t\($0)" }
    let refused: [(DeviceChange, DeviceFailure)] = [
      (DeviceChange(tags: .set(["b"]), alias: .set("full"), mobile: .clear), .aliasFull),
      (DeviceChange(tags: .edit(add: tooMany, remove: []), alias: .set("new")), .tooManyTags),
      (DeviceChange(tags: .set(tooMany), alias: .clear, mobile: .set("9")), .tooManyTags),
    ]
    for (change, failure) in refused { #expect(isFailed(await world.change(change, of: last), failure)) }
    let details = await awaitCallback { done in
      world.router.registrations.details(of: last.number, in: world.app) { done($0) }
    }
    #expect(try details.get() == Registrations.Details(alias: "own", tags: ["a"], mobile: "123"))
    #expect(world.app.directory.registrations(alias: "own") == [last.number])
    #expect(world.app.directory.registrations(alias: "new") == [])
    #expect(world.app.directory.hasTag("a", last.number) && !world.app.directory.hasTag("b", last.number))
    #expect(isDone(await world.change(DeviceChange(tags: .edit(add: ["b"], remove: ["a"])), of: last)))
    #expect(world.app.directory.firstTags(100) == ["b"])
  }

  /// Receipts count only for pushes that were for the device; the first of each kind stands.
  @Test func receipts() async throws {
    let world = try await TestWorld()
    let other = try await world.addApp()
    let outsider = try await world.register(in: other)
    let (one, two) = (try await world.register(), try await world.register())
    let single = try await world.push(to: [one])
    let shared = try await world.push()
    let both: [(id: MessageID, isTap: Bool)] = [(single, false), (shared, true), (MessageID(5), false)]
    world.router.deliveries.note(both, by: outsider.number, in: other)
    world.router.deliveries.note(both, by: two.number, in: world.app)
    try await world.tick()
    #expect(try await world.outcome(of: single) == nil)
    #expect(try await world.outcome(of: MessageID(5)) == nil)
    func sharedTaps() async throws -> [RegistrationNumber]? {
      try await world.targets(of: shared)?.tapped.members()
    }
    #expect(try await sharedTaps() == [two.number])
    #expect(try await world.outcome(of: shared) == nil)
    world.clock.advance(seconds: 9)
    let shown = world.clock.now()
    world.router.deliveries.note([(single, false), (shared, true)], by: one.number, in: world.app)
    world.router.deliveries.acknowledge([single], by: one.number, in: world.app)
    try await world.tick()
    #expect(
      try await world.outcome(of: single)
        == OutcomeRow(status: .delivered, at: shown, shownAt: shown, tappedAt: nil))
    #expect(try await sharedTaps() == [one.number, two.number])
    world.router.deliveries.note([(single, false), (shared, true)], by: one.number, in: world.app)
    try await world.tick()
    #expect(try await sharedTaps()?.count == 2, "a repeat counts once")
    world.clock.advance(seconds: 5 * 86_400)
    world.router.deliveries.note([(shared, false)], by: one.number, in: world.app)
    try await world.tick()
    #expect(try await world.targets(of: shared)?.shown.count == 2, "too late: those who tapped alone")
  }

  /// The last contact is written late and coarsely.
  @Test func lastContact() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    func stored() async throws -> Int64? {
      let (app, number) = (world.app.id, device.number)
      return try await world.store.look { transaction throws(StorageError) in
        try transaction.registrations.find(app: app, number: number)?.lastSeenAt.seconds
      }
    }
    let start = world.clock.now().seconds
    world.clock.advance(seconds: 599)
    let place = world.login(device)
    try await world.tick()
    #expect(try await stored() == start, "not worth a write yet")
    world.clock.advance(seconds: 1)
    try await world.tick()
    #expect(try await stored() == start + 600, "it was kept until it was")
    world.clock.advance(seconds: 2999)
    world.app.directory.disconnect(device.number, from: place, at: world.clock.seconds)
    world.clock.advance(seconds: 5)
    try await world.tick()
    #expect(try await stored() == start + 3599)
    _ = world.login(device)
    world.clock.advance(seconds: 599)
    try await world.tick()
    #expect(try await stored() == start + 3599)
    world.clock.advance(seconds: 3401)
    try await world.tick()
    #expect(try await stored() == start + 7604, "a connected device was seen now")
    world.clock.advance(seconds: 3600)
    try await world.tick()
    #expect(try await stored() == start + 11_204, "and once more if it stays")
    try await world.restart(isOrderly: false)
    #expect(world.app.directory.presence(device.number)?.lastSeen == UInt32(start + 11_204))
  }

  /// Of devices that stay connected nothing has to be stored, of all others the last contact, however recent.
  @Test func `Sessions go on under another directory, where nobody has been away`() async throws {
    let world = try await TestWorld()
    let (one, other) = (try await world.register(), try await world.register())
    func stored(_ number: RegistrationNumber) async throws -> Int64? {
      let app = world.app.id
      return try await world.store.look { transaction throws(StorageError) in
        try transaction.registrations.find(app: app, number: number)?.lastSeenAt.seconds
      }
    }
    let start = world.clock.now().seconds
    let place = world.login(one)
    let left = world.login(other)
    world.clock.advance(seconds: 100)
    world.app.directory.disconnect(other.number, from: left, at: world.clock.seconds)
    world.clock.advance(seconds: 20)
    world.router.finish(keepingSessions: true)
    #expect(try await stored(one.number) == start)
    #expect(try await stored(other.number) == start + 100)
    try await world.restart(isOrderly: false)
    let home = LocalHome(world.router)
    func resumed(_ device: RegistrationNumber, _ app: AppID) -> ResumedSession {
      ResumedSession(bound: BoundSession(app: app, number: device, location: place), isForeground: true)
    }
    #expect(home.resume([resumed(one.number, world.app.id)]) == [])
    #expect(world.app.directory.location(of: one.number) == place)
    // It was there all the time.
    let status = try #require(world.app.directory.status(one.number))
    #expect(status.isOnline && status.awaySince == world.clock.now() && status.cameAt == status.awaySince)
    // Nobody knows the app, or the registration; somebody else has it.
    #expect(home.resume([resumed(one.number, AppID(99))]) == [place])
    #expect(home.resume([resumed(RegistrationNumber(99), world.app.id)]) == [place])
    #expect(home.resume([resumed(one.number, world.app.id)]) == [place])
  }

  /// What the operator changes in another process takes effect: a disabled app's devices are sent away, a new
  /// secret holds.
  @Test func operatorsChanges() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(3)
    let places = [world.login(devices[0]), world.login(devices[2])]
    let id = world.app.id
    try await world.store.change { transaction throws(StorageError) in
      _ = try transaction.apps.setDisabled(app: id, true)
      _ = try transaction.apps.setSecret(app: id, hash: [UInt8](repeating: 1, count: 32))
    }
    #expect(!world.app.isDisabled && world.app.accepts(masterSecret: Array("secret".utf8)))
    for _ in 0..<5 { try await world.tick() }
    _ = try await world.store.look { _ throws(StorageError) in 0 }
    while !world.app.isDisabled { try await world.tick() }
    #expect(!world.app.accepts(masterSecret: Array("secret".utf8)))
    var events: [RecordingChannel.Event] = []
    while events.count < 2 { events += world.channel.drain() }
    #expect(events == places.map { .disconnect($0, .appDisabled) })
    try await world.restart(isOrderly: false)
    #expect(world.app.isDisabled)
  }

  /// An app that another process made is found; an unknown key is not.
  @Test func findApp() async throws {
    let world = try await TestWorld()
    let other = try await world.addApp()
    #expect(world.router.apps.loaded(other.key) === other && world.router.apps.all.count == 2)
    let unknown = await awaitCallback { done in
      world.router.apps.find(AppKey(high: 1, low: 2)) { done($0) }
    }
    #expect(try unknown.get() == nil)
  }
}

func isDone(_ result: Result<Void, DeviceFailure>) -> Bool {
  if case .success = result { true } else { false }
}

func isFailed(_ result: Result<Void, DeviceFailure>, _ failure: DeviceFailure) -> Bool {
  if case .failure(failure) = result { true } else { false }
}
