import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

@Suite struct HousekeepingTests {
  /// Dead pushes leave the memory and the database, with their outcome; those that live on stay.
  @Test(arguments: [1, 5, 100])
  func expiry(count: Int) async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(count)
    let short = try await world.push(timeToLive: 10)
    let long = try await world.push(timeToLive: 100)
    world.clock.advance(seconds: 9)
    try await world.tick()
    #expect(world.pending(devices[0]) == [short, long])
    world.clock.advance(seconds: 1)
    #expect(world.pending(devices[0]) == [long], "dead at once, whenever the sweep comes")
    try await world.tick()
    #expect(try await world.storedPending() == [long])
    #expect(try await world.outcome(of: short)?.status == .expired)
    #expect(await world.recall(short) == .success(0), "nothing is left of it in memory")
    world.clock.advance(seconds: 90)
    try await world.restart(isOrderly: false)
    try await world.tick()
    #expect(try await world.storedPending() == [])
    #expect(try await world.outcome(of: long)?.status == .expired)
  }

  /// A pool of many pushes is swept a part at a time and comes around.
  @Test func expiryInSteps() throws {
    let directory = AppDirectory(app: AppID(1))
    for number in 0..<100 as Range<UInt32> {
      directory.insert(
        RegistrationEntry(
          number: RegistrationNumber(number), id: RegistrationID(high: UInt64(number), low: 1),
          platform: .ios, secretHash: (0, 0)))
    }
    for value in 1...10_000 as ClosedRange<UInt64> {
      let owner = RegistrationNumber(UInt32(value % 100))
      _ = directory.open(MessageID(value), .few([owner], expires: value.isMultiple(of: 2) ? 10 : 20))
    }
    var ended: [UInt64] = []
    var steps = 0
    var isComplete = false
    while !isComplete {
      let step = directory.expireListed(places: 1000, at: 10)
      isComplete = step.isComplete
      steps += 1
      ended += step.ended.map(\.id.rawValue)
    }
    #expect(steps == 10)
    #expect(ended.sorted() == (1...10_000).filter { $0.isMultiple(of: 2) })
    #expect(directory.pendingCount(for: RegistrationNumber(0)) == 0)
    #expect(directory.pendingCount(for: RegistrationNumber(1)) == 100)
    // Places that became free are used again.
    for value in 20_001...25_000 as ClosedRange<UInt64> {
      _ = directory.open(MessageID(value), .few([RegistrationNumber(2)], expires: 30))
    }
    #expect(directory.pendingCount(for: RegistrationNumber(2)) == 5000)
    let all = directory.pending(
      for: RegistrationNumber(2), after: MessageID(0), at: 20, limit: 10_000
    ).ids
    #expect(all.map(\.rawValue) == Array(20_001...25_000))
  }

  /// Old pushes, outcomes and request names go, a few rows in each transaction; what is undelivered stays.
  @Test func retention() async throws {
    var options = RouterOptions()
    options.sweepRows = 4
    let world = try await TestWorld(options: options)
    let device = try await world.register()
    var ids: [MessageID] = []
    for number in 0..<20 {
      ids.append(try await world.push(timeToLive: 40 * 86_400, cid: "c\(number)"))
    }
    world.router.deliveries.acknowledge(Array(ids.prefix(15)), by: device.number, in: world.app)
    try await world.tick()
    func kept() async throws -> (pushes: Int, outcomes: Int) {
      try await world.store.look { [ids] transaction throws(StorageError) in
        let contents = try transaction.pushes.contents(of: ids)
        var outcomes = 0
        for id in ids where try transaction.deliveries.outcome(of: id) != nil { outcomes += 1 }
        return (contents.count { $0 != nil }, outcomes)
      }
    }
    #expect(try await kept() == (20, 15))
    let again = try await world.push(cid: "c3")
    #expect(again == ids[3])
    world.clock.advance(seconds: 86_401)
    // A sweep starts once a minute.
    for _ in 0..<60 { try await world.tick() }
    #expect(try await kept() == (20, 15))
    #expect(try await world.push(cid: "c3") > ids[19], "the name is forgotten after a day")
    world.clock.advance(seconds: 31 * 86_400)
    let before = world.store.statistics
    for _ in 0..<60 { try await world.tick() }
    for _ in 0..<20 { try await world.barrier() }
    #expect(try await kept() == (5, 0))
    #expect(world.store.statistics.jobs - before.jobs > 60 * 3 + 4, "in steps of four rows")
    #expect(world.pending(device).prefix(5) == ids.suffix(5))
  }

  /// A sweep ends after many steps that found pushes pending, and the next one goes on behind them.
  @Test func `What is pending is not looked at again in each step`() async throws {
    var options = RouterOptions()
    options.sweepRows = 2
    let world = try await TestWorld(options: options)
    let device = try await world.register()
    var ids: [MessageID] = []
    for _ in 0..<700 { ids.append(try await world.push(timeToLive: 40 * 86_400)) }
    let ended = ids[600...]
    world.router.deliveries.acknowledge(Array(ended), by: device.number, in: world.app)
    try await world.tick()
    world.clock.advance(seconds: 32 * 86_400)
    func sweep() async throws -> Int {
      for _ in 0..<60 { try await world.tick() }
      for _ in 0..<400 { try await world.barrier() }
      return try await world.store.look { [ids] transaction throws(StorageError) in
        try transaction.pushes.contents(of: ids).count { $0 != nil }
      }
    }
    #expect(try await sweep() == 700, "256 steps of two pushes each")
    #expect(try await sweep() == 600)
    // It starts over.
    world.router.deliveries.acknowledge(Array(ids.prefix(10)), by: device.number, in: world.app)
    try await world.tick()
    #expect(try await sweep() == 590)
  }

  /// Counts of hours go as fast as they come, however many apps have some.
  @Test func oldCounts() async throws {
    var options = RouterOptions()
    options.sweepRows = 4
    let world = try await TestWorld(options: options)
    let app = world.app.id
    try await world.store.change { transaction throws(StorageError) in
      for hour in 1...30 as ClosedRange<Int64> {
        try transaction.statistics.add(app: app, hour: hour, StatisticsRow())
        try transaction.statistics.countNewcomer(app: app, .ios, hour: hour)
        try transaction.activity.save(
          app: app, .hour, hour, ActivityKind(.ios, isActive: false), targets: [1])
      }
    }
    // The sweep of one minute.
    try await world.tick()
    for _ in 0..<20 { try await world.barrier() }
    let left = try await world.store.look { transaction throws(StorageError) in
      [
        try transaction.statistics.find(app: app, hours: 0..<99).count,
        try transaction.statistics.newcomers(app: app, hours: 0..<99).count,
        try transaction.activity.find(app: app, .hour, 0..<99).count,
      ]
    }
    #expect(left == [0, 0, 0])
  }

  /// What was done in the last minute of an hour belongs to it, not to the next one.
  @Test func `Who used an app is counted for the hour in which that was`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    try await world.tick()
    // 22:59:30 by the clocks of China.
    world.clock.advance(seconds: 3600 - 800 - 30)
    let place = world.login(device)
    try await world.tick()
    world.app.directory.disconnect(device.number, from: place, at: world.clock.seconds)
    world.clock.advance(seconds: 29)
    try await world.tick()
    for _ in 0..<70 {
      world.clock.advance(seconds: 1)
      try await world.tick()
    }
    let hour = FixedZone.china.hour(of: world.clock.now())
    let (router, app) = (world.router, world.app)
    let users = try await awaitCallback { done in
      router.activity.users(of: app, hours: hour - 1..<hour + 1) { done($0) }
    }.get()
    #expect(users.map(\.online) == [[.android: 1], [:]])
  }

  /// The cache holds what came last, within its bound, also of pushes that came again with other content.
  @Test func cacheIsBounded() {
    let cache = ContentCache(byteLimit: 10_000)
    func push(_ number: Int) -> StoredPush {
      let message = Array("{\"msg_content\":\"\(number)\"}".utf8)
      return StoredPush(
        content: PushContent(variants: [ContentVariant(platforms: .all, message: message)]),
        elsewhere: number % 3 == 0 ? NumberSet([RegistrationNumber(UInt32(number))]) : nil)
    }
    func message(_ id: UInt64) -> [UInt8]? { cache.find(MessageID(id))?.content.variants.first?.message }
    for number in 1...1000 {
      cache.replace(MessageID(UInt64(number)), push(number))
      cache.replace(MessageID(UInt64(number)), push(number + 5000))
      #expect(cache.size <= 10_000)
      #expect(message(UInt64(number)) == push(number + 5000).content.variants.first?.message)
      #expect(
        cache.find(MessageID(UInt64(number)))?.elsewhere?.members().count == (number % 3 == 1 ? 1 : nil))
    }
    #expect(message(1) == nil && message(900) == nil)
    #expect(message(990) == push(5990).content.variants.first?.message)
    // One that is larger than all may be: it stays until the next comes.
    cache.insert(MessageID(2000), push(1), encoded: [UInt8](repeating: 0, count: 20_000))
    #expect(cache.size > 20_000 && message(1000) == nil)
    cache.replace(MessageID(2001), push(1))
    #expect(cache.size <= 10_000 && message(2001) == push(1).content.variants.first?.message)
  }

  /// A push is changed while a reader has its old row in hand.
  @Test func `The cache keeps no content that was read before a change`() {
    let cache = ContentCache(byteLimit: 10_000)
    func push(_ text: String) -> StoredPush {
      StoredPush(content: PushContent(variants: [ContentVariant(platforms: .all, message: Array(text.utf8))]))
    }
    func message(_ id: UInt64) -> String? {
      let bytes = cache.find(MessageID(id << 12))?.content.variants.first?.message
      return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
    let moment = cache.now
    cache.replace(MessageID(1 << 12), push("new"))
    cache.remove([MessageID(2 << 12)])
    for id in [1, 2] as [UInt64] {
      #expect(!cache.insert(MessageID(id << 12), push("old"), readSince: moment))
    }
    #expect(cache.insert(MessageID(3 << 12), push("other"), readSince: moment))
    #expect(message(1) == "new" && message(2) == nil && message(3) == "other")
    #expect(cache.insert(MessageID(2 << 12), push("read again"), readSince: cache.now))
    let before = cache.now
    cache.removeAll()
    #expect(!cache.insert(MessageID(3 << 12), push("old"), readSince: before))
  }

  /// Contents that the cache does not hold any more are read; those of unknown pushes are left out.
  @Test func contents() async throws {
    var options = RouterOptions()
    options.cachedContents = 500
    let world = try await TestWorld(options: options)
    _ = try await world.register()
    var ids: [MessageID] = []
    for _ in 0..<10 { ids.append(try await world.push()) }
    let asked = [ids[9], MessageID(3), ids[0], ids[5]]
    let found = await awaitCallback { done in
      world.router.deliveries.contents(of: asked) { done($0) }
    }
    #expect(try found.get().map(\.0) == [ids[9], ids[0], ids[5]])
    world.store.close()
    let refused = await awaitCallback { done in
      world.router.deliveries.contents(of: asked) { done($0) }
    }
    guard case .failure(.unavailable) = refused else {
      Issue.record("a read that failed must not look like pushes that are gone")
      return
    }
  }
}
