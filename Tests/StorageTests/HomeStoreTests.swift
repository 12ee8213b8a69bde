import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

/// Several homes write to one database.
@Suite(.serialized) struct HomeStoreTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
  }

  private var location: Store.Location { .postgres(url: cluster.url(of: name)) }

  /// With patience, what was closed just now may still hold its locks.
  private func open(
    _ home: AssignedApps?, replacing fence: Int64? = nil, patience: Int = 0
  ) throws -> Store {
    var options = Store.Options()
    options.patience = patience
    options.home = home
    options.replaces = fence
    return try Store.open(location, readers: 1, log: .silent, options: options)
  }

  private func home(_ slot: Int) throws -> AssignedApps {
    AssignedApps(node: Int64(slot), slot: try #require(MessageSlot(slot)))
  }

  private func kind(_ body: () async throws -> Void) async -> StorageError.Kind? {
    do { try await body() } catch { return (error as? StorageError)?.kind }
    return nil
  }

  /// An app that has a home.
  private func addApp(to home: AssignedApps, _ store: Store) async throws -> AppID {
    let app = try await store.addApp(registrations: 1)
    let epoch = try await store.change { t throws(StorageError) in try t.homes.assign(app, to: home) }
    #expect(epoch == 1)
    home.insert(app)
    return app
  }

  private func push(_ id: UInt64, of app: AppID, in store: Store) async throws {
    try await awaitCallback { continuation in
      store.write(of: app) { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(id, app: app, target: 0))
      } completion: {
        continuation($0)
      }
    }.get()
  }

  private func pushes() throws -> [String] {
    try cluster.sql("SELECT msg_id FROM push ORDER BY 1", in: name).map { $0[0] }
  }

  @Test func `Homes are beside one another, and no server is beside them`() async throws {
    let (first, second) = (try home(1), try home(2))
    let one = try open(first)
    let two = try open(second)
    #expect(await kind { try open(nil).close() } == .inUse)
    #expect(await kind { try open(try home(2)).close() } == .inUse)
    #expect(try cluster.sql("SELECT slot FROM fence ORDER BY 1", in: name) == [["1"], ["2"]])
    one.close()
    #expect(await kind { try open(nil).close() } == .inUse)
    two.close()
    let server = try open(nil, patience: 10_000)
    #expect(await kind { try open(try home(3)).close() } == .inUse)
    server.close()
    try open(try home(2), patience: 10_000).close()
  }

  @Test func `Homes share no file`() async {
    let folder = TemporaryFolder()
    var options = Store.Options()
    options.home = AssignedApps(node: 1, slot: .first)
    #expect(
      await kind { try Store.open(path: folder.database, log: .silent, options: options).close() } == .other)
  }

  @Test func `A home does not change the schema`() async throws {
    let empty = Store.Location.postgres(url: cluster.url(of: try cluster.makeEmpty()))
    var options = Store.Options()
    options.home = try home(1)
    let error = await kind { try Store.open(empty, readers: 1, log: .silent, options: options).close() }
    #expect(error == .olderThanProgram(found: 0, known: embeddedPostgresMigrations.count))
  }

  /// The transaction of one stays open while the other one commits.
  @Test func `Homes write at the same time, and a command after them`() async throws {
    let (first, second) = (try home(1), try home(2))
    let (one, two) = (try open(first), try open(second))
    defer {
      one.close()
      two.close()
    }
    let (a, b) = (try await addApp(to: first, one), try await addApp(to: second, two))
    let (entered, leave) = (Semaphore(), Semaphore())
    async let held: Void = one.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(1, app: a, target: 0))
      entered.signal()
      leave.wait()
    }
    await awaitCallback { done in
      Task.detached {
        entered.wait()
        done(())
      }
    }
    try await push(2, of: b, in: two)
    #expect(try pushes() == ["2"])
    leave.signal()
    try await held
    var options = Store.Options()
    (options.isServer, options.migrates) = (false, false)
    let command = try Store.open(location, readers: 1, log: .silent, options: options)
    defer { command.close() }
    try await push(3, of: a, in: command)
    try await push(4, of: b, in: two)
    #expect(try pushes() == ["1", "2", "3", "4"])
  }

  @Test func `A home without its fence commits nothing more, and the others go on`() async throws {
    let (first, second) = (try home(1), try home(2))
    let (one, two) = (try open(first), try open(second))
    defer {
      one.close()
      two.close()
    }
    let (a, b) = (try await addApp(to: first, one), try await addApp(to: second, two))
    // An app of a home that has its fence stays where it is.
    #expect(try await two.change { t throws(StorageError) in try t.homes.assign(a, to: second) } == nil)
    try await two.change { t throws(StorageError) in try t.homes.removeFence(of: first.home) }
    #expect(await kind { try await push(1, of: a, in: one) } == .takenOver)
    try await push(2, of: b, in: two)
    #expect(try await two.change { t throws(StorageError) in try t.homes.assign(a, to: second) } == 2)
    #expect(try await two.look { t throws(StorageError) in try t.homes.apps(of: second.home) } == [a, b])
    // One that starts again comes as another home, in the slot of the one that it replaces.
    let again = try home(1)
    try open(again, replacing: first.home).close()
    #expect(try pushes() == ["2"])
  }

  @Test func `A home that is replaced leaves its slot to the next`() async throws {
    let (dead, next) = (try home(1), try home(1))
    let before = try open(dead)
    let after = try open(next, replacing: dead.home)
    let app = try await addApp(to: next, after)
    #expect(await kind { try await push(1, of: app, in: before) } == .takenOver)
    try await push(2, of: app, in: after)
    #expect(try pushes() == ["2"])
    before.close()
    after.close()
  }

  @Test func `An app is handed over once, and only to a home with a fence`() async throws {
    let (first, second) = (try home(1), try home(2))
    let (one, two) = (try open(first), try open(second))
    defer {
      one.close()
      two.close()
    }
    let app = try await addApp(to: first, one)
    func handOver(_ next: AssignedApps, by store: Store) async throws -> Int64? {
      let place = (node: next.node, home: next.home)
      return try await store.change { t throws(StorageError) in try t.homes.handOver(app, to: place) }
    }
    #expect(try await handOver(try home(3), by: one) == nil && !first.hasLeft(app))
    #expect(try await handOver(second, by: two) == nil)
    #expect(try await handOver(second, by: one) == 2 && first.hasLeft(app))
    #expect(try await handOver(second, by: one) == nil)
    #expect(
      try await one.look { t throws(StorageError) in try t.homes.home(of: app) }
        == HomeRow(incarnation: 2, epoch: 2, fence: second.home))
    // What was still under way here.
    #expect(await kind { try await push(1, of: app, in: one) } == .movedAway)
    try await push(2, of: app, in: two)
    #expect(try pushes() == ["2"])
    // It comes back.
    #expect(try await handOver(first, by: two) == 3)
    first.insert(app)
    try await push(3, of: app, in: one)
    #expect(try pushes() == ["2", "3"])
  }
}
