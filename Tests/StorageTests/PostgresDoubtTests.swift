import BorealisBase
import Dispatch
import Glibc
import Model
import PushTesting
import Synchronization
import Testing

@testable import Storage

/// What becomes of a commit when nobody says how it ended.
@Suite(.serialized) struct PostgresDoubtTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try PostgresCluster()
    name = try cluster.make()
  }

  /// Whether commits wait for a standby that does not exist.
  private func holdCommits(_ isHeld: Bool) throws {
    try cluster.sql("ALTER SYSTEM SET synchronous_standby_names = '\(isHeld ? "nobody" : "")'")
    try cluster.sql("SELECT pg_reload_conf()")
  }

  /// The processes of the server's that wait for a standby.
  private func waiting() throws -> [String] {
    try cluster.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = '\(name)'")
      .map { $0[0] }
  }

  /// Adds pushes until the commit of one waits for the standby, which takes some time to begin: the number of
  /// that one, how it ends, and the process that waits.
  private func addHeld(
    to store: Store, app: AppID
  ) throws -> (id: UInt64, ended: Journal<StorageError.Kind?>, process: String) {
    try holdCommits(true)
    for id in UInt64(1)... {
      let ended = store.addNoting(id, app: app)
      let process = try eventually { try waiting().first ?? (ended.all.isEmpty ? nil : "") }
      if !process.isEmpty { return (id, ended, process) }
    }
    throw StorageError(.other, "commits do not wait")
  }

  @Test(arguments: ["pg_cancel_backend", "pg_terminate_backend"])
  func `Nobody is answered before it is known that a commit stays`(function: String) async throws {
    let lines = LogLines()
    let store = try Store.open(
      .postgres(url: cluster.url(of: name)), readers: 1, log: Log(level: .info, write: lines.add))
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (id, ended, first) = try addHeld(to: store, app: app)
    try cluster.sql("SELECT \(function)(\(first))")
    // What finds out waits in turn.
    _ = try eventually { try waiting().first { $0 != first } }
    #expect(ended.all.isEmpty)
    try holdCommits(false)
    let result = try eventually { ended.all.first }
    #expect(result == nil)
    #expect(try cluster.sql("SELECT count(*) FROM push WHERE msg_id = \(id)", in: name) == [["1"]])
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(id + 1, app: app, target: 0))
    }
    #expect(lines.all.count { $0.contains("cannot tell whether the last transaction") } == 1)
    #expect(lines.all.count { $0.contains("outcome of the in-doubt transaction resolved") } == 1)
  }

  /// What came too early, or too late, is refused at once: nobody carries it out when those who asked for it
  /// have asked again.
  @Test func `Nothing waits for a doubt to end`() async throws {
    let store = try Store.open(.postgres(url: cluster.url(of: name)), readers: 1, log: .silent)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (id, ended, first) = try addHeld(to: store, app: app)
    let early = store.addNoting(id + 1, app: app)
    #expect(early.all.isEmpty)
    try cluster.sql("SELECT pg_terminate_backend(\(first))")
    #expect(try eventually { early.all.first } == .io)
    #expect(store.failure == .io)
    #expect(store.addNoting(id + 2, app: app).all == [.io])
    let error = await #expect(throws: StorageError.self) {
      try await store.change { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(id + 3, app: app, target: 0))
      }
    }
    #expect(error?.isPassing == true)
    #expect(ended.all.isEmpty)
    try holdCommits(false)
    let result = try eventually { ended.all.first }
    #expect(result == nil)
    let later = try eventually {
      let ending = store.addNoting(id + 4, app: app)
      let result = try eventually { ending.all.first }
      return result == nil ? true : nil
    }
    #expect(later)
    #expect(
      try cluster.sql("SELECT msg_id FROM push WHERE msg_id >= \(id) ORDER BY msg_id", in: name)
        == [["\(id)"], ["\(id + 4)"]])
  }

  /// The start of a server deletes what was there of the one before the last: that nothing is left says
  /// nothing.
  @Test func `After two starts of other servers nobody says that a commit has failed`() async throws {
    try cluster.sql("CREATE ROLE ann SUPERUSER LOGIN")
    let url = cluster.url(of: name)
    let store = try Store.open(
      .postgres(url: url.replacing("borealis@", with: "ann@")), readers: 1, log: .silent)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (id, ended, first) = try addHeld(to: store, app: app)
    // It cannot come back for now; the commit stays although nobody waits for the standby any more.
    try cluster.sql("SET synchronous_commit = local; ALTER ROLE ann NOLOGIN")
    try cluster.sql("SELECT pg_terminate_backend(\(first), 5000)")
    try holdCommits(false)
    for _ in 0..<2 { try Store.open(.postgres(url: url), readers: 1, log: .silent).close() }
    #expect(try cluster.sql("SELECT msg_id FROM push WHERE msg_id = \(id)", in: name).count == 1)
    #expect(ended.all.isEmpty)
    try cluster.sql("ALTER ROLE ann LOGIN")
    let result = try eventually { ended.all.first }
    #expect(result == .takenOver)
    #expect(store.failure == .takenOver)
  }

  @Test func `The end of the program is waited for by no doubt`() async throws {
    let store = try Store.open(.postgres(url: cluster.url(of: name)), readers: 1, log: .silent)
    let app = try await store.addApp(registrations: 1)
    let (_, ended, first) = try addHeld(to: store, app: app)
    try cluster.sql("SELECT pg_terminate_backend(\(first))")
    _ = try eventually { try waiting().first { $0 != first } }
    store.close()
    #expect(ended.all == [.io])
    try holdCommits(false)
  }

  /// The server's process for a connection stands still in the middle of a commit, and goes on later.
  @Test func `A commit that stands still is waited for`() async throws {
    var options = Store.Options()
    options.commitPatience = 500
    let store = try Store.open(
      .postgres(url: cluster.url(of: name)), readers: 1, log: .silent, options: options)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (id, ended, first) = try addHeld(to: store, app: app)
    let process = try #require(Int32(first))
    kill(process, SIGSTOP)
    // Longer than anybody waits for a commit; the server is stopped, so that the process that finds out waits
    // for its lock.
    #expect(try eventually { store.failure } == .io)
    #expect(ended.all.isEmpty)
    kill(process, SIGCONT)
    try holdCommits(false)
    let result = try eventually { ended.all.first }
    #expect(result == nil)
    #expect(try cluster.sql("SELECT count(*) FROM push WHERE msg_id = \(id)", in: name) == [["1"]])
  }

  /// The server is stopped without notice, again and again, while pushes are written: those that were stored
  /// are there, and those that were refused are not.
  @Test func `What was accepted outlives the database's crashes`() async throws {
    let store = try Store.open(.postgres(url: cluster.url(of: name)), readers: 1, log: .silent)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let stored = Mutex<[UInt64]>([])
    let refused = Mutex<[UInt64]>([])
    let isDone = Mutex(false)
    let pusher = DispatchGroup()
    DispatchQueue.global().async(group: pusher) {
      var id: UInt64 = 0
      while !isDone.withLock({ $0 }) {
        id += 1
        let next = id
        do throws(StorageError) {
          try Store.wait { done in
            store.write(
              { transaction throws(StorageError) in
                try transaction.pushes.insert(.single(next, app: app, target: 0))
              }, completion: done)
          }
          stored.withLock { $0.append(next) }
        } catch {
          refused.withLock { $0.append(next) }
        }
      }
    }
    for _ in 0..<3 {
      let count = stored.withLock { $0.count }
      _ = try eventually { stored.withLock { $0.count } > count + 50 ? true : nil }
      try cluster.control("-m immediate restart")
    }
    let count = stored.withLock { $0.count }
    _ = try eventually { stored.withLock { $0.count } > count + 50 ? true : nil }
    isDone.withLock { $0 = true }
    pusher.wait()
    let there = Set(try cluster.sql("SELECT msg_id FROM push", in: name).compactMap { UInt64($0[0]) })
    #expect(stored.withLock { $0.allSatisfy(there.contains) })
    #expect(refused.withLock { !$0.contains(where: there.contains) })
    // Once it is clear that all is well.
    _ = try eventually {
      store.probe()
      return store.failure == nil ? true : nil
    }
  }
}
