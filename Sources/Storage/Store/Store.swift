import BorealisBase
import Synchronization

/// The database of a running server: one writer thread with group commit, and reader threads.
/// All functions may be called from any thread.
package final class Store: Sendable {
  /// Sizes and hooks; the defaults suit a server.
  package struct Options: Sendable {
    /// Jobs that may wait for the writer; more are refused with `.overloaded`.
    package var writeQueue = 65_536
    /// Reads that may wait; more are refused with `.overloaded`.
    package var readQueue = 65_536
    /// Jobs that share one commit.
    package var batch = 512
    /// Pages (4 KiB) in the write-ahead log from which it is moved into the database, beside the commits. The
    /// log grows to about four times as many before it is written from the start again.
    package var checkpointPages = 2000
    /// Called on the writer's thread after each commit: jobs in it, and microseconds from its begin to its
    /// end.
    package var onCommit: @Sendable (_ jobs: Int, _ microseconds: UInt64) -> Void = { _, _ in }
    /// Whether a database of an older program is migrated; otherwise it is refused. Only for callers that
    /// know that no other program uses the file.
    package var migrates = true
    /// Whether this is the server on the database. In PostgreSQL there is only one, or there are homes of
    /// some apps each, and it keeps commands that began before it from writing; a file of SQLite is locked by
    /// the caller.
    package var isServer = true
    /// Of one of several homes: the store writes beside others, behind this fence. The schema has to be
    /// there. Nil for all apps.
    package var home: AssignedApps?
    /// Names the fence that a store in PostgreSQL writes behind, unless it is a home's: random, no other
    /// store may have it.
    package var fence = Int64(bitPattern: SystemRandom.next() >> 1)
    /// The fence of a server that is known to be dead, though PostgreSQL may not know it yet: its connections
    /// end.
    package var replaces: Int64?
    /// Milliseconds for which an unreachable PostgreSQL is tried again at the start. One that another server
    /// holds is tried for longer, unless this is 0.
    package var patience = 10_000
    /// Milliseconds after which a commit to PostgreSQL without an answer is looked into.
    var commitPatience = 10_000
    /// The same for another statement to PostgreSQL, which fails then.
    var statementPatience = 65_000
    /// Where the keys are that contents are sealed with, for apps that ask for it.
    package var secretKeys = SecretKeySource.none
    /// Whether each job's body runs once more before, with what it does undone: for tests of the rule that
    /// `write` states.
    package var rehearses = false
    /// The clock that dates migrations.
    package var time: any TimeSource = SystemTime()

    /// The defaults.
    package init() {}
  }

  /// What the writer did since the store was opened.
  package struct Statistics: Sendable, Equatable {
    /// Transactions that reached the disk.
    package var commits: UInt64 = 0
    /// Transactions that failed as a whole.
    package var failedCommits: UInt64 = 0
    /// Jobs in those that reached the disk.
    package var jobs: UInt64 = 0
    /// Time from begin to end of those that reached the disk, summed up.
    package var commitMicroseconds: UInt64 = 0
    /// Jobs that wait now.
    package var waiting = 0
    /// When the transaction began that is under way, by the clock that never jumps, in nanoseconds; nil
    /// without one.
    var begun: UInt64?
    /// See `Store.failure`.
    private(set) var failure: StorageError.Kind?
    /// Probes that went well since then.
    private var goodProbes = 0
  }

  /// Where a database is.
  package typealias Location = DatabaseLocation

  /// Where this one is.
  let location: Location
  /// The apps of its home; nil for a store that is all apps'.
  package let home: AssignedApps?
  private let vault: ContentVault
  private let writes: WorkQueue<WriteJob>
  private let reads: ReadQueue
  private let finished = WorkQueue<Bool>(capacity: .max)
  private let counts = Mutex(Statistics())
  /// What `probe` last saw, and for how many calls.
  let quiet = Mutex<(tried: UInt64, calls: Int)>((0, 0))
  private let isClosed = Atomic<Bool>(false)
  /// A moment of the clock that never jumps, in nanoseconds.
  private let end = Atomic<UInt64>(.max)
  private let readers: Int
  let time: any TimeSource

  private init(_ location: Location, readers: Int, options: Options) {
    self.location = location
    self.readers = readers
    time = options.time
    home = options.home
    vault = ContentVault(options.secretKeys)
    writes = WorkQueue(capacity: options.writeQueue)
    reads = ReadQueue(capacity: options.readQueue)
  }

  /// Opens a file of SQLite; see the other function.
  package static func open(
    path: String, readers: Int = 2, log: Log, options: Options = Options()
  ) throws(StorageError) -> Store {
    try open(.sqlite(path: path), readers: readers, log: log, options: options)
  }

  /// Opens or creates the database, migrates it unless the options say otherwise, and starts the threads.
  /// Throws `.newerThanProgram`, `.olderThanProgram`, `.migrationChanged` or what the database says.
  package static func open(
    _ location: Location, readers: Int = 2, log: Log, options: Options = Options()
  ) throws(StorageError) -> Store {
    try open(location, readers: readers, log: log, options: options, migrations: location.migrations)
  }

  static func open(
    _ location: Location, readers: Int, log: Log, options: Options, migrations: [Migration],
    prepare: @Sendable (Database) throws(StorageError) -> Void = { _ in }
  ) throws(StorageError) -> Store {
    let store = Store(location, readers: max(1, readers), options: options)
    do throws(StorageError) {
      try store.startWriter(log: log, options: options, migrations: migrations, prepare: prepare)
      for _ in 0..<store.readers { try store.startReader() }
    } catch {
      // The threads that did start end by themselves.
      store.isClosed.store(true, ordering: .relaxed)
      throw error
    }
    return store
  }

  /// A store that is released without `close` ends its threads once they have done the queued work.
  deinit {
    reads.close()
    writes.close()
  }

  private func startWriter(
    log: Log, options: Options, migrations: [Migration],
    prepare: @Sendable (Database) throws(StorageError) -> Void
  ) throws(StorageError) {
    let (database, writeAheadLog) = try location.openWriter(
      log: log, options: options, migrations: migrations, isEnding: { [weak self] in self?.isEnding ?? true },
      onDoubt: { [weak self] in self?.noteDoubt($0, log) }, prepare)
    database.vault = vault
    database.home = home
    let writer = Writer(
      database: database, queue: writes, options: options, log: log, writeAheadLog: writeAheadLog,
      report: { [weak self] change in self?.counts.withLock { change(&$0) } })
    let finished = finished
    let checkpointer = writeAheadLog?.checkpointer
    do throws(StorageError) {
      try WorkThread.start("db-writer") {
        writer.run()
        _ = finished.push(true)
      }
    } catch {
      checkpointer?.stop()
      throw error
    }
  }

  private func startReader() throws(StorageError) {
    let database = try location.openToRead { [weak self] in self?.isEnding ?? true }
    database.vault = vault
    let reads = reads
    let finished = finished
    try WorkThread.start("db-reader") {
      while let job = reads.next() { job(database) }
      database.close()
      _ = finished.push(true)
    }
  }

  /// Queues a job for the writer. `body` runs on the writer's thread inside a transaction that it shares with
  /// other jobs; if it throws, its own changes alone are undone. It may run for nothing, and may run again:
  /// the transaction can still fail after it. So it changes nothing but the database, by its transaction;
  /// what follows in memory belongs into `completion`, or into `whenCommitted`. `completion` runs on the
  /// writer's thread after the commit, in the order of the calls of `write`; it must be short and must not
  /// call `close`. It gets the commit's error if the whole transaction failed, and `.overloaded` or
  /// `.closed`, at once on the caller's thread, if the job was not taken. While it is unknown what became of
  /// a commit to PostgreSQL, jobs that wait for the writer and new ones get an error of the kind `.io` that
  /// `isPassing`, at once. `single` promises that the body changes the database by one statement at most,
  /// which saves time. A job that goes `ahead` runs before all that wait, but for others that do; there is
  /// room for it where others are refused with `.overloaded`. A `lowPriority` job runs when no other job
  /// waits, or after some commits; among themselves such jobs keep their order.
  package func write<Value: Sendable>(
    single: Bool = false, lowPriority: Bool = false, ahead: Bool = false,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value,
    completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    LockRank.leaf.assertFree()
    let job = WriteJob(
      single: single,
      run: { transaction in
        do throws(StorageError) {
          let value = try body(transaction)
          return WriteJob.Done(error: nil) { failure in
            completion(failure.map { .failure($0) } ?? .success(value))
          }
        } catch {
          return WriteJob.Done(error: error) { failure in completion(.failure(failure ?? error)) }
        }
      }, refuse: { completion(.failure($0)) })
    let answer = writes.push(job, lowPriority: lowPriority, ahead: ahead)
    if let error = answer.refusal("writes", doubt: Self.doubt) {
      completion(.failure(error))
    }
  }

  /// Queues a job for the writer that changes rows of one app. It fails with `.movedAway` if the app has left
  /// this home by then.
  package func write<Value: Sendable>(
    of app: AppID, single: Bool = false, lowPriority: Bool = false,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value,
    completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    guard home != nil else {
      return write(single: single, lowPriority: lowPriority, body, completion: completion)
    }
    let own: @Sendable (WriteTransaction) throws(StorageError) -> Value = {
      transaction throws(StorageError) in
      try transaction.expectHome(of: app)
      return try body(transaction)
    }
    write(single: single, lowPriority: lowPriority, own, completion: completion)
  }

  /// Runs `body` on a reader's thread in a read transaction: it sees one state of the database. The
  /// completion runs on the same thread, or at once on the caller's with `.overloaded` or `.closed`.
  package func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value,
    completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    LockRank.leaf.assertFree()
    reads.add(body, completion: completion)
  }

  /// The same for a read that may take long. Only one of these is under way at a time, and apps take turns:
  /// an app that asks for many holds up another app's long read by one of its own, and nobody's short reads,
  /// since these have another reader. `.overloaded` at once if many of the app wait. `close` refuses those
  /// that wait.
  package func read<Value: Sendable>(
    inTurnOf app: AppID, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value,
    completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    LockRank.leaf.assertFree()
    reads.add(inTurnOf: app, body, completion: completion)
  }

  /// What the writer did so far.
  package var statistics: Statistics {
    var now = counts.withLock { $0 }
    now.waiting = writes.count
    return now
  }

  /// Whether `close` was called, or the moment of `expectEnd` has come.
  var isEnding: Bool {
    isClosed.load(ordering: .acquiring) || SystemTime().monotonic() >= end.load(ordering: .acquiring)
  }

  /// Tells that `close` will be called. From a moment of `SystemTime.monotonic` on, in nanoseconds, whatever
  /// waits for a PostgreSQL that says nothing ends with an error after some seconds, also where it stays
  /// unknown what became of a commit.
  package func expectEnd(by moment: UInt64) { end.store(moment, ordering: .releasing) }

  /// It is unknown from now on whether the last transaction was committed, or no longer if there is no error.
  /// Until then nobody who is in it is told anything; others would wait for no one knows how long, and are
  /// refused.
  func noteDoubt(_ error: StorageError?, _ log: Log) {
    guard let error else {
      log.info("outcome of the in-doubt transaction resolved")
      return writes.resume()
    }
    log.error(
      "cannot tell whether the last transaction was committed; new writes are refused",
      ["error": .text(error.description)])
    counts.withLock { $0.note(failure: .io) }
    for job in writes.suspend() { job.refuse(Self.doubt) }
  }

  private static let doubt = StorageError.refusal("it is unknown yet what became of an earlier commit")

  func noteGoodProbe() { counts.withLock { $0.noteGoodProbe() } }

  /// Refuses new jobs, waits until all that wait are done, empties the write-ahead log and closes the file.
  /// Unless another process has the database open, the log is gone when this returns: the writer's connection
  /// is the last one to close. Must not be called from a completion. A second call does nothing.
  package func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    reads.close()
    for _ in 0..<readers { _ = finished.dequeue(upTo: 1) }
    writes.close()
    _ = finished.dequeue(upTo: 1)
  }
}

extension Store.Statistics {
  /// How many good probes it takes after an error of the disk, which may come and go.
  private static let probesAfterIO = 5

  /// Records why a commit failed. What lasts is not replaced by another problem.
  mutating func note(failure kind: StorageError.Kind) {
    goodProbes = 0
    if failure?.isLasting != true { failure = kind }
  }

  /// Records that a probe went well. A writable page says nothing about damaged ones.
  mutating func noteGoodProbe() {
    goodProbes += 1
    switch failure {
    case let kind? where kind.isLasting: break
    case .io where goodProbes < Self.probesAfterIO: break
    default: failure = nil
    }
  }
}

extension WorkQueue.Answer {
  /// Why a job was not taken; nil if it was. `doubt` is the reason while the queue is suspended.
  func refusal(_ jobs: StaticString, doubt: @autoclosure () -> StorageError) -> StorageError? {
    switch self {
    case .accepted: nil
    case .full: StorageError(.overloaded, "too many \(jobs) wait")
    case .closed: StorageError(.closed, "the store is closed")
    case .suspended: doubt()
    }
  }
}
