import BorealisBase
import BorealisCrypto
import Core
import Model
import PushTesting
import Synchronization
import Testing

@testable import Storage

/// The log of requests: what is counted together, what it costs the database, and its bounds.
@Suite struct RequestLogTests {
  /// A router that counts commits.
  private final class LogWorld: Sendable {
    let clock = ManualClock()
    let database: TestDatabase
    let router: Router
    let app: App
    private let counter: Counter

    init(extent: RequestLog.Extent = .all) async throws {
      let count = Counter()
      database = try TestDatabase { location in
        var options = TestDatabase.options
        options.onCommit = { jobs, _ in count.add(jobs) }
        return try Store.open(location, readers: 2, log: .silent, options: options)
      }
      counter = count
      var options = RouterOptions()
      options.requestLog = extent
      router = Router(store: database.store, scope: .all, options: options, time: clock, log: .silent)
      app = try await router.makeApp(in: database.store, secret: "0123456789abcdef01234567")
    }

    /// Jobs that were committed since the last call.
    var committed: Int { counter.drain() }

    deinit { router.unplug() }

    func note(_ kind: APIRequestKind, code: Int = 0, address: UInt32 = 1, times: Int = 1) {
      let call = APICall(
        kind: kind, method: "POST", route: "/v3/push", status: kind == .successful ? 200 : 400, code: code,
        message: code == 0 ? "" : "message \(code)", address: IPAddress(v4: address))
      for _ in 0..<times { router.requestLog.note(call, of: app) }
    }

    /// Ticks, and waits until that is stored.
    func settle() async throws {
      router.tick()
      for _ in 0..<3 { try await database.store.change(lowPriority: true) { _ throws(StorageError) in } }
    }

    func stored() async throws -> [APIRequestRow] {
      let id = app.id
      return try await database.store.look { t throws(StorageError) in
        try t.apiRequests.list(app: id, APIRequestFilter(), before: .newest, limit: 1000).rows
      }
    }
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)
    func add(_ number: Int) { count.withLock { $0 += number } }
    func drain() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  @Test func `A minute of calls that are alike is one row`() async throws {
    let world = try await LogWorld()
    world.note(.successful, times: 40)
    world.clock.advance(seconds: 30)
    world.note(.successful, times: 60)
    world.note(.refused, code: 1003)
    try await world.settle()
    #expect(try await world.stored() == [], "they wait for others")
    world.clock.advance(seconds: 30)
    try await world.settle()
    let rows = try await world.stored()
    #expect(rows.map(\.count) == [1, 100] && rows.map(\.call.code) == [1003, 0])
    #expect(rows[1].lastAt.seconds - rows[1].firstAt.seconds == 30)
    #expect(rows[0].call.address == IPAddress("0.0.0.1") && rows[0].call.message == "message 1003")
    try await world.settle()
    #expect(try await world.stored() == rows, "nothing is stored twice")
  }

  /// The jobs of two minutes with some calls.
  private static func jobs(calls: Int) async throws -> Int {
    let world = try await LogWorld()
    try await world.settle()
    for index in 0..<calls { world.note(.successful, address: UInt32(index % 3)) }
    for _ in 0..<2 {
      world.clock.advance(seconds: 60)
      try await world.settle()
    }
    #expect(try await world.stored().reduce(0) { $0 + $1.count } == calls)
    // The writer counts a commit after all else that follows from it.
    world.database.store.close()
    return world.committed
  }

  @Test func `Hundreds of calls add one job`() async throws {
    let none = try await Self.jobs(calls: 0)
    #expect(try await Self.jobs(calls: 1) == none + 1)
    #expect(try await Self.jobs(calls: 500) == none + 1)
  }

  @Test func `The page shows what has just happened`() async throws {
    let world = try await LogWorld()
    world.note(.refused, code: 1003)
    func list() async throws -> [APIRequestRow] {
      try await world.router.requestLog.list(of: world.app, APIRequestFilter(), before: .newest, limit: 10)
        .get().rows
    }
    #expect(try await list().map(\.call.code) == [1003])
    world.note(.refused, code: 1004)
    #expect(try await list().map(\.call.code).sorted() == [1003, 1004])
  }

  @Test func `Calls that differ too much are counted together, then dropped`() async throws {
    let world = try await LogWorld()
    for index in 0..<1000 { world.note(.unauthenticated, code: 1004, address: UInt32(index)) }
    world.note(.refused, code: 1003)
    world.note(.successful)
    for index in 0..<500 { world.note(.unauthenticated, code: index) }
    world.clock.advance(seconds: 60)
    try await world.settle()
    let rows = try await world.stored()
    let unauthenticated = rows.filter { $0.call.kind == .unauthenticated }
    #expect(unauthenticated.count == 32 + 64)
    #expect(unauthenticated.contains { $0.call.address == nil && $0.call.code == 1004 && $0.count == 968 })
    #expect(unauthenticated.reduce(0) { $0 + $1.count } + Int(world.router.requestLog.dropped) == 1500)
    #expect(world.router.requestLog.dropped > 0)
    #expect(rows.count == 32 + 64 + 2, "others have places of their own")
  }

  @Test(arguments: RequestLog.Extent.allCases) func `The setting says what is kept`(
    extent: RequestLog.Extent
  ) async throws {
    let world = try await LogWorld(extent: extent)
    world.note(.successful)
    world.note(.refused, code: 1003)
    world.note(.unauthenticated, code: 1004)
    world.clock.advance(seconds: 60)
    try await world.settle()
    let kinds = Set(try await world.stored().map(\.call.kind))
    switch extent {
    case .all: #expect(kinds == Set(APIRequestKind.allCases))
    case .refused: #expect(kinds == [.refused, .unauthenticated])
    case .off: #expect(kinds == [])
    }
    #expect(world.router.requestLog.dropped == 0)
  }

  @Test func `Old rows of an app without calls go, and its revoked keys`() async throws {
    let world = try await LogWorld()
    let (router, app) = (world.router, world.app)
    world.note(.refused, code: 1003)
    let entry = AuditRow(
      at: world.clock.now(), account: app.account, person: nil, who: "x", action: "key.create", target: "x",
      address: "")
    let created = try await awaitCallback {
      router.apps.createKey(APIKeyGrant(name: "x", rights: .all), of: app, noting: entry, done: $0)
    }.get()
    _ = try await awaitCallback {
      router.apps.revokeKey(created.row.id, of: app, noting: { _ in entry }, done: $0)
    }.get()
    world.clock.advance(seconds: 60)
    try await world.settle()
    #expect(try await world.stored().count == 1)
    world.clock.advance(seconds: RequestLog.lifetime - 60)
    try await world.settle()
    #expect(try await world.stored().count == 1)
    world.clock.advance(seconds: 61)
    // A sweep that has gone over all apps begins anew a minute later.
    for _ in 0..<3 {
      world.clock.advance(seconds: 61)
      try await world.settle()
    }
    #expect(try await world.stored() == [])
    func keys() async throws -> Int {
      try await awaitCallback { router.apps.keys(of: app, found: $0) }.get().count
    }
    #expect(try await keys() == 1, "its name is kept as long as the log may name it")
    world.clock.advance(seconds: 86_400)
    for _ in 0..<3 {
      world.clock.advance(seconds: 61)
      try await world.settle()
    }
    #expect(try await keys() == 0)
  }

  @Test func `Uses of keys are stored in steps`() async throws {
    let world = try await LogWorld()
    let (router, app) = (world.router, world.app)
    let entry = AuditRow(
      at: world.clock.now(), account: app.account, person: nil, who: "x", action: "key.create", target: "x",
      address: "")
    let created = try await awaitCallback {
      router.apps.createKey(APIKeyGrant(name: "x", rights: .all), of: app, noting: entry, done: $0)
    }.get()
    let secret = Array(created.secret.utf8)
    func stored() async throws -> Timestamp? {
      try await awaitCallback { router.apps.keys(of: app, found: $0) }.get().first?.lastUsedAt
    }
    _ = app.credential(secret)
    #expect(app.keyUses[created.row.id] == nil, "to look is no use")
    let first = world.clock.now()
    for _ in 0..<100 { _ = app.credential(secret, at: world.clock.now()) }
    #expect(app.keyUses[created.row.id] == first)
    #expect(try await stored() == nil)
    // Once in sixty ticks.
    for _ in 0..<61 { router.tick() }
    try await world.settle()
    #expect(try await stored() == first)
    world.clock.advance(seconds: 10)
    _ = app.credential(secret, at: world.clock.now())
    router.finish()
    try await world.settle()
    #expect(try await stored() == world.clock.now())
  }
}
