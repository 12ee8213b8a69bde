import BorealisBase
import CLinux
import PushTesting
import Testing

@testable import Storage

/// A cluster's nodes in its database.
@Suite(.serialized) struct NodeRegistryTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
  }

  private var location: Store.Location { .postgres(url: cluster.url(of: name)) }

  private func registry() throws -> NodeRegistry { try NodeRegistry(location, patience: 0) }

  private func register(
    _ name: String, in cluster: String = "borealis", at registry: NodeRegistry
  ) throws -> Int64 {
    try registry.register(
      .init(cluster: cluster, name: name, address: "\(name).example.com:9000", version: "1"), at: .start,
      clock: { cl_boottime_ns() })
  }

  @Test func `Nodes see one another and each has a number of its own`() throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let second = try register("other", at: other)
    #expect(first > 0 && second > first)
    let view = try #require(try one.look(as: first, beats: true))
    #expect(view.nodes.map(\.name) == ["one", "other"] && view.nodes.map(\.beat) == [1, 0])
    #expect(view.nodes[1].address == "other.example.com:9000" && view.nodes[1].version == "1")
    #expect(view.home == nil && view.isFree)
    try other.setDraining(second)
    #expect(try one.look(as: first, beats: false)?.nodes.map(\.isDraining) == [false, true])
    // The look without a beat has changed nothing.
    #expect(try other.look(as: second, beats: true)?.nodes.map(\.beat) == [1, 1])
    try other.leave(second)
    #expect(try other.look(as: second, beats: true) == nil)
    #expect(try register("other", at: other) > second)
  }

  @Test func `An operator sees the nodes and asks one to end`() throws {
    let (one, operators) = (try registry(), try registry())
    let before = try operators.look()
    #expect(before == nil || before?.nodes.isEmpty == true)
    let first = try register("one", at: one)
    let view = try #require(try operators.look())
    #expect(view.nodes.map(\.name) == ["one"] && view.nodes.map(\.startedAt) == [.start])
    #expect(try !operators.askToDrain("other"))
    #expect(try one.look(as: first, beats: true)?.nodes.map(\.isDraining) == [false])
    #expect(try operators.askToDrain("one"))
    #expect(try one.look(as: first, beats: true)?.nodes.map(\.isDraining) == [true])
  }

  @Test func `A database has an ID that no other has`() throws {
    let id = try registry().databaseID()
    #expect(id.utf8.count == 24)
    #expect(try registry().databaseID() == id)
    // Not from the template: a copy has the same one.
    let other = Store.Location.postgres(url: cluster.url(of: try cluster.makeEmpty()))
    try Store.open(other, readers: 1, log: .silent).close()
    #expect(try NodeRegistry(other, patience: 0).databaseID() != id)
  }

  @Test func `A node is dead only if its beat stands still`() throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let second = try register("other", at: other)
    let seen = try #require(try one.look(as: first, beats: true)?.nodes.last)
    _ = try other.look(as: second, beats: true)
    #expect(try !one.remove(seen, seenAt: .start))
    let again = try #require(try one.look(as: first, beats: true)?.nodes.last)
    #expect(try one.remove(again, seenAt: .start))
    #expect(try other.look(as: second, beats: true) == nil)
  }

  /// A node that is slow holds its row for as long as its transaction takes.
  @Test func `Nobody waits for a slow node, and it can be replaced`() throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let second = try register("other", at: other)
    // From now on the first node is this session.
    one.close()
    let slow = try PostgresSession(cluster, in: name)
    defer { slow.close() }
    try slow.sql("SELECT pg_advisory_lock(72385474, \(first)); BEGIN")
    try slow.sql("UPDATE node SET beat = beat + 1 WHERE incarnation = \(first)")
    let row = try #require(try other.look(as: second, beats: true)?.nodes.first)
    #expect(row.incarnation == first && row.isConnected)
    #expect(try !other.remove(row, seenAt: .start))
    // Nodes that have no place, or find that it may stay, do not remove it.
    #expect(try !other.expel(row, by: second + 100, at: .start) { _ in true })
    #expect(try !other.expel(row, by: second, at: .start) { !$0.contains { $0.name == "one" } })
    #expect(try other.expel(row, by: second, at: .start) { $0.count == 2 })
    #expect(try other.look(as: second, beats: true)?.nodes.map(\.name) == ["other"])
    #expect(try !other.expel(row, by: second, at: .start) { _ in true })
  }

  @Test func `Nodes tell what they can do and whom they reach`() throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let second = try register("other", at: other)
    let before = try #require(try one.look(as: first, beats: false))
    #expect(before.nodes.map(\.capabilities) == [.own, .own] && before.nodes.map(\.reaches) == [nil, nil])
    _ = try other.look(as: second, beats: false, reaches: [])
    let view = try #require(try one.look(as: first, beats: false, reaches: [second, 1 << 40]))
    #expect(view.nodes.map(\.reaches) == [[second, 1 << 40], []])
    #expect(try one.look(as: first, beats: true, reaches: [second])?.nodes.map(\.reaches) == [[second], []])
  }

  @Test func `A dead node is remembered until one of its name starts`() throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    func die(_ name: String, at moment: Timestamp, expelled: Bool = false) throws {
      let node = try register(name, at: other)
      let row = try #require(try one.look(as: first, beats: true)?.nodes.first { $0.incarnation == node })
      if expelled { _ = try other.look(as: node, beats: true) }
      let isRemoved =
        try expelled
        ? one.expel(row, by: first, at: moment) { _ in true } : one.remove(row, seenAt: moment)
      #expect(isRemoved)
    }
    try die("two", at: .start)
    try die("three", at: .start.adding(seconds: 60), expelled: true)
    let dead = try one.deadNodes()
    #expect(dead.map(\.name) == ["three", "two"] && dead.last?.seenAt == .start)
    #expect(dead.first?.address == "three.example.com:9000" && dead.first?.version == "1")
    let again = try register("two", at: other)
    #expect(try one.deadNodes().map(\.name) == ["three"])
    // One that ends in an orderly way is not dead.
    try other.leave(again)
    #expect(try one.deadNodes().map(\.name) == ["three"])
    try die("four", at: .start.adding(seconds: 8 * 86_400))
    #expect(try one.deadNodes().map(\.name) == ["four"])
  }

  @Test func `A name belongs to the node that is alive`() async throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let beats = Task.detached {
      while !Task.isCancelled {
        _ = try? one.look(as: first, beats: true)
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    do {
      _ = try register("one", at: other)
      Issue.record("it has the name")
    } catch NodeRegistry.Problem.nameInUse(let address) { #expect(address == "one.example.com:9000") }
    do {
      _ = try register("two", in: "staging", at: other)
      Issue.record("there are two clusters")
    } catch NodeRegistry.Problem.otherCluster(let cluster) { #expect(cluster == "borealis") }
    beats.cancel()
    _ = await beats.value
    // As after a crash: the connection is gone, the row is not.
    one.close()
    let second = try register("one", at: other)
    #expect(second > first)
    #expect(try other.look(as: second, beats: true)?.nodes.map(\.incarnation) == [second])
  }

  @Test func `Only a node that is alive becomes the home, and each home has another epoch`() async throws {
    let registry = try registry()
    let node = try register("one", at: registry)
    for epoch in 1...2 as ClosedRange<Int64> {
      let store = try Store.open(location, readers: 1, log: .silent)
      let begun = try await store.change { transaction throws(StorageError) in
        let none = try transaction.beginHome(of: node + 100, fence: 1)
        return (none, try transaction.beginHome(of: node, fence: 40 + epoch))
      }
      #expect(begun.0 == nil && begun.1 == epoch)
      let view = try #require(try registry.look(as: node, beats: false))
      #expect(view.home == HomeRow(incarnation: node, epoch: epoch, fence: 40 + epoch) && !view.isFree)
      store.close()
      // PostgreSQL notices a moment later that the connection is gone.
      var isFree = false
      for _ in 0..<1000 where !isFree {
        isFree = try registry.look(as: node, beats: false)?.isFree == true
        if !isFree { try await Task.sleep(for: .milliseconds(10)) }
      }
      #expect(isFree)
    }
  }

  @Test func `A server that is dead leaves the database to the next, and commits nothing more`() async throws
  {
    var options = Store.Options()
    options.patience = 0
    let dead = try Store.open(location, readers: 1, log: .silent, options: options)
    var next = Store.Options()
    next.patience = 0
    do {
      _ = try Store.open(location, readers: 1, log: .silent, options: next)
      Issue.record("two servers have the database")
    } catch { #expect(error.kind == .inUse) }
    next.replaces = next.fence
    do {
      _ = try Store.open(location, readers: 1, log: .silent, options: next)
      Issue.record("two servers have the database")
    } catch { #expect(error.kind == .inUse) }
    next.replaces = options.fence
    let store = try Store.open(location, readers: 1, log: .silent, options: next)
    do {
      _ = try await dead.addApp(registrations: 1)
      Issue.record("the dead server writes")
    } catch { #expect((error as? StorageError)?.kind == .takenOver) }
    _ = try await store.addApp(registrations: 1)
    dead.close()
    store.close()
  }

  @Test func `A database without a place for nodes is told apart`() throws {
    let empty = try NodeRegistry(.postgres(url: cluster.url(of: try cluster.makeEmpty())), patience: 0)
    #expect(try !empty.isPrepared())
    // The schema alone is not enough.
    #expect(try !registry().isPrepared())
  }

  @Test func `A registry connects again`() throws {
    let registry = try registry()
    let node = try register("one", at: registry)
    try cluster.sql(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)' AND pid <> pg_backend_pid()"
    )
    #expect(try registry.look(as: node, beats: true)?.nodes.first?.beat == 1)
    let held = try cluster.sql(
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid = \(node)",
      in: name)
    #expect(held == [["1"]])
  }

  // MARK: Homes of some apps

  private func open(_ home: AssignedApps) throws -> Store {
    var options = Store.Options()
    (options.home, options.patience) = (home, 0)
    return try Store.open(location, readers: 1, log: .silent, options: options)
  }

  @Test func `A command goes on when a node becomes a home`() async throws {
    var options = Store.Options()
    (options.isServer, options.migrates) = (false, false)
    let command = try Store.open(location, readers: 1, log: .silent, options: options)
    let one = try registry()
    let first = try register("one", at: one)
    // What one has left behind that was killed.
    try cluster.sql("INSERT INTO fence (incarnation, connection) VALUES (12345, 0)", in: name)
    let home = try open(AssignedApps(home: first, node: first, slot: .first))
    defer { home.close() }
    _ = try await command.addApp(registrations: 1)
    command.close()
    #expect(try cluster.sql("SELECT incarnation FROM fence", in: name) == [["\(first)"]])
  }

  @Test func `Homes whose nodes are gone are ended, and others stay`() async throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let second = try register("other", at: other)
    let dead = AssignedApps(home: first, node: first, slot: .first)
    let store = try open(dead)
    defer { store.close() }
    let slot = try #require(try other.freeSlot())
    #expect(slot != .first)
    let left = AssignedApps(home: second, node: second, slot: slot)
    let kept = try open(left)
    defer { kept.close() }
    let app = try await store.addApp(registrations: 1)
    let never = try await store.addApp(registrations: 3)
    #expect(try one.homes()?.rows == [])
    let mark = try #require(try one.homes()?.mark)
    #expect(try await store.change { t throws(StorageError) in try t.homes.assign(app, to: dead) } == 1)
    let read = try #require(try other.homes(since: mark))
    #expect(read.rows.map(\.app) == [app] && read.rows[0].key != nil)
    #expect(read.rows[0].home == HomeRow(incarnation: first, epoch: 1, fence: first))
    #expect(try other.homes(since: read.mark) == nil)
    #expect(try other.endDeadHomes() == [])

    // It is gone, and stands still inside a transaction: it commits nothing, and nobody waits for it.
    try one.leave(first)
    let stuck = try PostgresSession(cluster, in: name)
    defer { stuck.close() }
    try stuck.sql("SET application_name = 'borealis/\(first)'; BEGIN")
    try stuck.sql("SELECT 1 FROM fence WHERE incarnation = \(first) FOR SHARE")
    #expect(try other.endDeadHomes() == [first])
    #expect(try other.endDeadHomes() == [])
    await #expect(throws: StorageError.self) {
      try await store.change { t throws(StorageError) in try t.homes.assign(never, to: dead) }
    }

    // Its apps are nobody's, and can be given to others: to those that there are.
    let (homeless, loads) = try await kept.look { t throws(StorageError) in
      (try t.homes.homeless(), try t.homes.loads())
    }
    #expect(homeless == [app: 1, never: 3] && loads == [second: [:]])
    let given = try await kept.change { t throws(StorageError) in
      [
        try t.homes.assign(app, to: (node: first, home: first)),
        try t.homes.assign(app, to: (node: second, home: second)),
        try t.homes.assign(app, to: left), try t.homes.assign(never, to: left),
      ]
    }
    #expect(given == [nil, 2, nil, 1])
    let after = try await kept.look { t throws(StorageError) in
      (try t.homes.homeless(), try t.homes.loads())
    }
    #expect(after.0 == [:] && after.1 == [second: [app: 1, never: 3]])
    #expect(try #require(try other.homes(since: read.mark)).rows.map(\.home.epoch) == [2, 1])
  }

  @Test func `Nodes that can be one of several homes are known, and those that are`() async throws {
    let (one, other) = (try registry(), try registry())
    let first = try register("one", at: one)
    let second = try other.register(
      .init(cluster: "borealis", name: "other", address: "h:1", version: "1", spreadsApps: true), at: .start,
      clock: { cl_boottime_ns() })
    func view() throws -> ClusterView { try #require(try one.look(as: first, beats: true)) }
    #expect(try view().nodes.map(\.spreadsApps) == [false, true])
    #expect(try !view().isDivided)
    let home = AssignedApps(home: second, node: second, slot: .first)
    let store = try open(home)
    #expect(try view().isDivided)
    // There was a home of all apps before: the order of logins begins with the epoch.
    try cluster.sql("INSERT INTO home (app_id, incarnation, epoch, fence) VALUES (0, 1, 17, 1)", in: name)
    let app = try await store.addApp(registrations: 1)
    for (app, epoch) in [(app, 18), (AppID.installation, 18)] {
      #expect(
        try await store.change { t throws(StorageError) in try t.homes.assign(app, to: home) } == Int64(epoch)
      )
    }
    other.close()
    #expect(try view().nodes.map(\.spreadsApps) == [false, true])
    store.close()
    try one.endHome(second)
    #expect(try view().nodes.map(\.spreadsApps) == [false, false])
    #expect(try !view().isDivided)
    #expect(try await connected().look { t throws(StorageError) in try t.homes.homeless() } == [app: 1])
  }

  private func connected() throws -> Store {
    try open(AssignedApps(home: 99, node: 99, slot: .first))
  }

  @Test func `An older schema is told from the program's`() throws {
    let registry = try registry()
    #expect(try registry.isCurrent())
    let newest = "(SELECT max(version) FROM schema_migration)"
    try cluster.sql("DELETE FROM schema_migration WHERE version = \(newest)", in: name)
    #expect(try !registry.isCurrent())
    try cluster.sql("INSERT INTO schema_migration VALUES (999, 'later', 'x', 0)", in: name)
    #expect(throws: StorageError.self) { try registry.isCurrent() }
  }

  @Test func `Whoever reads homes sees which apps share something, and when that changes`() async throws {
    let registry = try registry()
    let node = try register("one", at: registry)
    let own = AssignedApps(home: node, node: node, slot: .first)
    let store = try open(own)
    defer { store.close() }
    let apps = [
      try await store.addApp(registrations: 0), try await store.addApp(registrations: 0),
      try await store.addApp(registrations: 0),
    ]
    var mark = try #require(try registry.homes()?.mark)
    func read() throws -> SharingApps {
      let reading = try #require(try registry.homes(since: mark))
      mark = reading.mark
      #expect(try registry.homes(since: mark) == nil)
      return reading.sharing
    }
    let key = AppKey.random()
    let keys = try await store.look { t throws(StorageError) in
      var keys: [AppKey] = []
      for app in apps { if let row = try t.apps.find(app) { keys.append(row.key) } }
      return keys
    }
    let group = try await store.change { t throws(StorageError) in
      try t.appGroups.create(
        key: key, name: "group", secretHash: [UInt8](repeating: 0, count: 32), at: Timestamp(milliseconds: 1))
    }
    #expect(try read().groups.map(\.apps) == [[]])
    for app in keys[...1] {
      _ = try await store.change { t throws(StorageError) in
        try t.appGroups.addApp(app, toGroup: group)
      }
    }
    let shared = try read()
    #expect(shared.groups.map(\.key) == [key] && shared.sets == [[apps[0], apps[1]]])

    // Plans count only if there is a speed to share.
    var plan = PlanRow(name: "shared")
    plan.sharesSpeed = true
    try await store.change { [plan] t throws(StorageError) in
      try t.plans.set(plan)
      for app in apps[1...] { _ = try t.apps.setPlan(app: app, "shared") }
    }
    #expect(try registry.homes(since: mark) == nil)
    plan.speed = 10
    try await store.change { [plan] t throws(StorageError) in try t.plans.set(plan) }
    #expect(try read().plans == [[apps[1], apps[2]]])

    try await store.change { t throws(StorageError) in
      for app in apps[1...] { _ = try t.homes.assign(app, to: own) }
    }
    _ = try read()
    #expect(try #require(try registry.shares()).apps == [node: 2])
    #expect(try #require(try registry.shares()).homeless == 1)

    // An app that is deleted shares nothing, and a group that is, neither.
    _ = try await store.change { t throws(StorageError) in
      try t.apps.delete(apps[2], at: Timestamp(milliseconds: 1))
    }
    #expect(try read().plans == [[apps[1]]])
    #expect(try registry.homes()?.rows.filter(\.isDeleted).map(\.app) == [apps[2]])
    #expect(try #require(try registry.shares()).apps == [node: 1])
    try await store.change { t throws(StorageError) in try t.appGroups.delete(group, at: .start) }
    #expect(try read().groups == [])
  }
}
