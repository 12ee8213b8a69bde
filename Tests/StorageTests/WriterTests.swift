import BorealisBase
import Glibc
import PushTesting
import Synchronization
import Testing

@testable import Storage

@Suite struct WriterTests {
  let folder = TemporaryFolder()

  /// Completions come in the order of the calls, every second job fails, and only the good ones leave their
  /// rows, although all share commits.
  @Test(arguments: [true, false])
  func orderAndIsolation(single: Bool) async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let journal = Journal<Int>()
    for number in 0..<1000 {
      store.write(single: single) { transaction throws(StorageError) in
        if !single {
          try transaction.deliveries.insertPending(
            id: MessageID(UInt64(5000 + number)), app: app, target: nil, expiresAt: .start)
        }
        // Every odd job takes an ID that its predecessor has taken.
        try transaction.pushes.insert(.single(UInt64(1 + number / 2), app: app, target: 0))
      } completion: { result in
        switch result {
        case .success: journal.add(number)
        case .failure(let error): journal.add(error.kind == .constraint ? -number : Int.min)
        }
      }
    }
    _ = try await store.change { _ in 0 }
    #expect(journal.all == (0..<1000).map { $0 % 2 == 0 ? $0 : -$0 })
    let open = try await store.look { transaction throws(StorageError) in
      var ids: [UInt64] = []
      try transaction.deliveries.open(in: .all) { ids.append($0.push.id.rawValue) }
      return (ids.count, try transaction.pushes.contents(of: [MessageID(1), MessageID(500), MessageID(501)]))
    }
    #expect(open.1.map { $0?.content } == [[1, 2], [1, 2], nil])
    let statistics = store.statistics
    #expect(statistics.jobs == 1002 && statistics.failedCommits == 0)
    #expect(statistics.commits < 1002, "jobs share commits")
  }

  /// What a body does besides its transaction waits for the commit, and is done once even if the body runs
  /// twice.
  @Test(arguments: [false, true]) func whatFollowsACommit(rehearses: Bool) async throws {
    var options = Store.Options()
    options.rehearses = rehearses
    let store = try Store.testing(folder, options: options)
    defer { store.close() }
    let app = try await store.addApp()
    let (runs, journal) = (Journal<Int>(), Journal<String>())
    // The third takes an ID that the first has taken.
    for (job, id) in [1, 2, 1, 3].enumerated() {
      store.write { transaction throws(StorageError) in
        runs.add(job)
        transaction.whenCommitted { journal.add("stored \(job)") }
        try transaction.pushes.insert(.single(UInt64(id), app: app, target: 0))
      } completion: { result in
        if case .success = result { journal.add("told \(job)") } else { journal.add("failed \(job)") }
      }
    }
    _ = try await store.change { _ in 0 }
    #expect(runs.all == (rehearses ? [0, 0, 1, 1, 2, 2, 3, 3] : [0, 1, 2, 3]))
    #expect(
      journal.all == ["stored 0", "told 0", "stored 1", "told 1", "failed 2", "stored 3", "told 3"])
  }

  /// Readers and the checkpointer may end in any order; the last connection to close is one that removes the
  /// log.
  @Test(.onSQLite) func `Nothing is left of the log once the store is closed`() async throws {
    for _ in 0..<20 {
      let store = try Store.testing(folder)
      for _ in 0..<3 { _ = try await store.addApp(registrations: 2) }
      _ = try await store.look { transaction throws(StorageError) in try transaction.apps.all(in: .all).count
      }
      #expect(access(folder.database + "-wal", F_OK) == 0)
      store.close()
      for end in ["-wal", "-shm"] { #expect(access(folder.database + end, F_OK) != 0, "\(end) is left") }
    }
  }

  /// What a failing job changed is undone, with its batch or alone.
  @Test func savepoint() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    await #expect(throws: StorageError.self) {
      try await store.change { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(1, app: app, target: 0))
        throw StorageError(.constraint, "on purpose")
      }
    }
    #expect(
      try await store.look { transaction throws(StorageError) in try transaction.pushes.find(id: MessageID(1))
      }
        == nil)
  }

  /// A job that fails undoes its own changes alone, wherever it stands in its transaction: the first has no
  /// savepoint.
  @Test func failuresInOneTransaction() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let gate = Mutex(())
    let (started, finished) = (WorkQueue<Bool>(capacity: 1), WorkQueue<Bool>(capacity: 1))
    let commits = gate.withLock { _ in
      store.write { _ in
        _ = started.push(true)
        gate.withLock { _ in }
      } completion: { _ in
      }
      _ = started.dequeue(upTo: 1)
      for number in 1...6 as ClosedRange<UInt64> {
        store.write { transaction throws(StorageError) in
          try transaction.pushes.insert(.single(number, app: app, target: 0))
          if number % 3 != 0 { throw StorageError(.constraint, "on purpose") }
        } completion: { _ in
          if number == 6 { _ = finished.push(true) }
        }
      }
      return store.statistics.commits
    }
    _ = finished.dequeue(upTo: 1)
    let kept = try await store.look { transaction throws(StorageError) in
      var kept: [Bool] = []
      for id in UInt64(1)...6 { kept.append(try transaction.pushes.find(id: MessageID(id)) != nil) }
      return kept
    }
    #expect(kept == [false, false, true, false, false, true])
    #expect(store.statistics.commits == commits + 2, "they share a transaction, behind that of the first job")
  }

  /// A full disk fails whole batches and changes nothing; when there is room again, the service resumes.
  @Test(.onSQLite) func fullDisk() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let content = [UInt8](repeating: 1, count: 50_000)
    try await store.change { transaction throws(StorageError) in
      let pages = try transaction.database.first("PRAGMA page_count") { $0.integer() } ?? 0
      try transaction.database.run(script: "PRAGMA max_page_count = \(pages + 40)")
    }
    var accepted: [MessageID] = []
    var refused: [MessageID] = []
    for number in 1...20 as ClosedRange<UInt64> {
      do {
        try await store.change { transaction throws(StorageError) in
          try transaction.pushes.insert(.single(number, app: app, target: 0, content: content))
        }
        accepted.append(MessageID(number))
      } catch {
        #expect((error as? StorageError)?.kind == .diskFull)
        refused.append(MessageID(number))
      }
    }
    #expect(!accepted.isEmpty && !refused.isEmpty)
    try await store.change { transaction throws(StorageError) in
      try transaction.database.run(script: "PRAGMA max_page_count = 100000")
    }
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(100, app: app, target: 0, content: content))
    }
    let (kept, lost) = (accepted + [MessageID(100)], refused)
    let stored = try await store.look { transaction throws(StorageError) in
      (try transaction.pushes.contents(of: kept), try transaction.pushes.contents(of: lost))
    }
    #expect(stored.0.allSatisfy { $0?.content == content } && stored.1.allSatisfy { $0 == nil })
  }

  /// More jobs than the queue takes are refused at once; those taken are done before `close` returns, which
  /// leaves an empty log, and later ones are refused as closed.
  @Test func limitsAndClose() async throws {
    var options = Store.Options()
    options.writeQueue = 10
    let store = try Store.testing(folder, options: options)
    let gate = Mutex(())
    let results = Journal<StorageError.Kind?>()
    let started = WorkQueue<Bool>(capacity: 1)
    gate.withLock { _ in
      store.write { _ in
        _ = started.push(true)
        gate.withLock { _ in }
      } completion: { _ in
      }
      _ = started.dequeue(upTo: 1)
      for _ in 0..<15 {
        store.write { _ in
        } completion: { result in
          switch result {
          case .success: results.add(nil)
          case .failure(let error): results.add(error.kind)
          }
        }
      }
      #expect(results.all == Array(repeating: .overloaded, count: 5))
    }
    store.close()
    store.close()
    #expect(results.all.count == 15 && results.all.suffix(10).allSatisfy { $0 == nil })
    store.write { _ in
    } completion: { result in
      if case .failure(let error) = result { results.add(error.kind) }
    }
    #expect(results.all.last == .some(.closed))
  }

  /// The log is checkpointed while the store serves: it does not grow with the number of commits.
  @Test(.onSQLite) func logIsBounded() async throws {
    var options = Store.Options()
    options.checkpointPages = 20
    let commits = Journal<Int>()
    options.onCommit = { jobs, _ in commits.add(jobs) }
    // Made before, so that the migrations are not in the log.
    try Store.make(path: folder.database)
    let store = try Store.testing(folder, options: options)
    defer { store.close() }
    let app = try await store.addApp()
    let pages = Journal<Int>()
    for number in 1...400 as ClosedRange<UInt64> {
      try await store.change(single: true) { transaction throws(StorageError) in
        pages.add(transaction.database.sqlite?.pagesInLog ?? 0)
        try transaction.pushes.insert(
          .single(number, app: app, target: 0, content: Array(repeating: 1, count: 3000)))
      }
    }
    // However late the checkpointer is, the writer insists after 16 times as many pages, at its next look, 4
    // times as many later at most; without checkpoints there would be more than two pages for each commit.
    #expect(pages.all.max() ?? 0 < 450)
    #expect(pages.all.contains { $0 > 20 }, "the test reaches the mark at all")
    #expect(commits.all.reduce(0, +) >= 400)
  }

  @Test func `Low-priority elements are passed over, but not forever`() {
    let queue = WorkQueue<Int>(capacity: 100)
    for number in [100, 101] { _ = queue.push(number, lowPriority: true) }
    var got: [Int] = []
    for number in 0..<20 {
      _ = queue.push(number)
      got += queue.dequeue(upTo: 1) ?? []
      if let element = queue.dequeueLowPriority(isAlone: false) { got.append(element) }
    }
    #expect(got == Array(0...8) + [100] + Array(9...17) + [101, 18, 19])
    // With nobody else there it is their turn at once, but for one who has just come.
    for number in [102, 103] { _ = queue.push(number, lowPriority: true) }
    #expect(queue.dequeue(upTo: 1) == [])
    #expect(queue.dequeueLowPriority(isAlone: true) == 102)
    _ = queue.push(20)
    #expect(queue.dequeueLowPriority(isAlone: true) == nil)
    queue.close()
    #expect(
      queue.dequeue(upTo: 9) == [20] && queue.dequeue(upTo: 9) == []
        && queue.dequeueLowPriority(isAlone: true) == 103)
    #expect(queue.dequeue(upTo: 9) == nil && queue.dequeueLowPriority(isAlone: true) == nil)
  }

  @Test func `Elements that go ahead pass all that wait, in their order, and have room of their own`() {
    let queue = WorkQueue<Int>(capacity: 3)
    _ = queue.push(90, lowPriority: true)
    for number in [1, 2, 3] { _ = queue.push(number) }
    #expect(queue.push(4) == .full)
    for number in [10, 11, 12] { #expect(queue.push(number, ahead: true) == .accepted) }
    #expect(queue.push(13, ahead: true) == .full)
    #expect(queue.count == 6)
    #expect(queue.dequeue(upTo: 2) == [10, 11])
    #expect(queue.push(14, ahead: true) == .accepted)
    #expect(queue.dequeue(upTo: 3) == [12, 14, 1])
    #expect(queue.dequeueLowPriority(isAlone: true) == nil)
    #expect(queue.push(15, ahead: true) == .accepted)
    #expect(queue.drain() == [15, 2, 90])
  }

  /// A clock in which everything takes long.
  private final class SlowClock: TimeSource {
    private let nanoseconds = Atomic<UInt64>(0)
    func now() -> Timestamp { .start }
    func monotonic() -> UInt64 { nanoseconds.add(10_000_000, ordering: .relaxed).newValue }
  }

  @Test func `What can wait is made although each turn takes longer than it may keep one open`() async throws
  {
    var options = Store.Options()
    options.time = SlowClock()
    let store = try Store.testing(folder, options: options)
    defer { store.close() }
    let isMade = Mutex(false)
    store.write(lowPriority: true) { _ throws(StorageError) in
    } completion: { _ in
      isMade.withLock { $0 = true }
    }
    for _ in 0..<20 { _ = try await store.change { _ throws(StorageError) in 0 } }
    #expect(isMade.withLock { $0 })
  }

  /// A job that no transaction can be begun for hears of it, also if nothing else waits.
  @Test(.onSQLite, arguments: [true, false])
  func `A change that can wait is refused by a database that takes nothing`(
    lowPriority: Bool
  ) async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    try await store.change { transaction throws(StorageError) in
      try transaction.database.run(script: "PRAGMA query_only = ON")
    }
    await #expect(throws: StorageError.self) {
      try await store.change(lowPriority: lowPriority) { _ throws(StorageError) in }
    }
    #expect(store.statistics.failedCommits == 1)
  }

  @Test func `Changes that can wait are made, in their order`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let order = Mutex<[Int64]>([])
    for number in Int64(0)..<40 {
      store.write(lowPriority: number % 2 == 0) { transaction throws(StorageError) in
        try transaction.registrations.setBadge(app: app, number: RegistrationNumber(0), number)
      } completion: { _ in
        order.withLock { $0.append(number) }
      }
    }
    var seen: [Int64] = []
    while seen.count < 40 {
      _ = try await store.change { _ throws(StorageError) in 0 }
      seen = order.withLock { $0 }
    }
    #expect(seen.filter { $0 % 2 == 0 } == (0..<20).map { $0 * 2 })
    #expect(seen.filter { $0 % 2 == 1 } == (0..<20).map { $0 * 2 + 1 })
  }

  @Test func damageIsNotForgotten() {
    func trouble(_ kinds: [StorageError.Kind], probes: Int) -> StorageError.Kind? {
      var statistics = Store.Statistics()
      for kind in kinds { statistics.note(failure: kind) }
      for _ in 0..<probes { statistics.noteGoodProbe() }
      return statistics.failure
    }
    #expect(trouble([.diskFull], probes: 1) == nil && trouble([.readOnly], probes: 1) == nil)
    #expect(trouble([.io], probes: 4) == .io && trouble([.io], probes: 5) == nil)
    #expect(trouble([.corrupt], probes: 100) == .corrupt)
    #expect(trouble([.corrupt, .diskFull], probes: 100) == .corrupt)
  }

  @Test func `A transaction that takes too long is told until it ends`() throws {
    let clock = ManualClock()
    var options = Store.Options()
    options.time = clock
    let store = try Store.testing(folder, options: options)
    defer { store.close() }
    let (begun, end) = (BorealisBase.Semaphore(), BorealisBase.Semaphore())
    store.write { _ in
      begun.signal()
      end.wait()
    } completion: { _ in
    }
    begun.wait()
    clock.advance(seconds: 10)
    #expect(store.obstacle == nil)
    clock.advance(seconds: 1)
    #expect(store.obstacle == "the database takes longer than ten seconds")
    // It has not failed.
    #expect(store.failure == nil)
    end.signal()
    try Store.wait { store.write({ _ in }, completion: $0) }
    #expect(store.obstacle == nil)
  }
}
