import BorealisBase

/// A change that waits for the writer.
struct WriteJob: Sendable {
  /// The result of a body: its own error, and the completion to call after the transaction.
  struct Done {
    let error: StorageError?
    /// What the body left to do once its changes are stored.
    var committed: [() -> Void] = []
    let complete: @Sendable (_ failure: StorageError?) -> Void

    /// The same with an error.
    func failed(_ error: StorageError) -> Done {
      Done(error: error) { [complete] failure in complete(failure ?? error) }
    }
  }

  let single: Bool
  let run: @Sendable (WriteTransaction) -> Done
  let refuse: @Sendable (StorageError) -> Void
}

/// The write-ahead log of a file of SQLite, as its writer sees it.
struct WriteAheadLog {
  let connection: SQLiteConnection
  let checkpointer: Checkpointer
  let file: LogFile
}

/// The writer thread: takes all waiting jobs, runs them in one transaction, commits, and calls their
/// completions in order.
final class Writer {
  private let database: Database
  private let queue: WorkQueue<WriteJob>
  private let options: Store.Options
  /// Pages that the writer moves itself, which takes about as long as a commit.
  private static let lastPages = 64
  /// Nanoseconds for which jobs that can wait may keep a transaction open.
  private static let patientTime: UInt64 = 2_000_000
  private let log: Log
  private let report: ((inout Store.Statistics) -> Void) -> Void
  /// Nil for PostgreSQL, which looks after its own.
  private let writeAheadLog: WriteAheadLog?
  /// Whether PostgreSQL takes no transactions for want of a connection.
  private var isCutOff = false
  /// Pages in the log when the checkpointer was last asked: it has moved those, unless a reader was in its
  /// way.
  private var requestedAt = 0
  /// Pages in the log at which the checkpointer gets to work, the writer no longer waits for it, and insists
  /// on its own.
  private var requestAt = 0
  private var finishAt = 0
  private var insistAt = 0

  init(
    database: Database, queue: WorkQueue<WriteJob>, options: Store.Options, log: Log,
    writeAheadLog: WriteAheadLog?, report: @escaping ((inout Store.Statistics) -> Void) -> Void
  ) {
    self.database = database
    self.queue = queue
    self.options = options
    self.log = log
    self.writeAheadLog = writeAheadLog
    self.report = report
    planCheckpoints(from: 0)
  }

  /// Works until the queue is closed and empty, and closes the database.
  func run() {
    while let jobs = queue.dequeue(upTo: options.batch) {
      run(jobs)
      if let writeAheadLog { checkpointIfDue(writeAheadLog) }
    }
    if let writeAheadLog {
      writeAheadLog.checkpointer.stop()
      do throws(StorageError) { try writeAheadLog.connection.checkpoint(.truncate) } catch {
        log.warning("last checkpoint failed", ["error": .text(error.description)])
      }
    }
    database.close()
  }

  private func run(_ taken: [WriteJob]) {
    // A job that waits alone is taken before anything can fail: else nobody tells it, and it is asked for
    // again at once.
    var jobs = taken.isEmpty ? queue.dequeueLowPriority(isAlone: true).map { [$0] } ?? [] : taken
    guard !jobs.isEmpty else { return }
    let start = options.time.monotonic()
    report { $0.begun = start }
    defer { report { $0.begun = nil } }
    var done: [WriteJob.Done] = []
    var hasBegun = false
    do throws(StorageError) {
      do throws(StorageError) {
        done = try store(&jobs, isAlone: taken.isEmpty, &hasBegun)
      } catch {
        // The bodies have run for nothing.
        guard database.isOutdated else { throw error }
        database.rollBack()
        done = try store(&jobs, isAlone: taken.isEmpty, &hasBegun)
      }
    } catch {
      database.rollBack()
      let error = writeAheadLog == nil ? error.uncommitted : error
      noteFailure(error, jobs.count)
      for job in jobs { job.refuse(error) }
      if !hasBegun, error.kind == .io, writeAheadLog == nil {
        // Each further attempt to connect takes seconds: the last ones would be carried out when nobody asks
        // for them any more.
        for job in queue.drain() { job.refuse(error) }
      }
      // The log may hold room that the database needs.
      if error.kind == .diskFull, let writeAheadLog, !writeAheadLog.checkpointer.isBusy {
        try? writeAheadLog.connection.checkpoint(.truncate, patience: 0)
      }
      return
    }
    if isCutOff {
      isCutOff = false
      log.info("database accepts writes again")
    }
    let microseconds = (options.time.monotonic() &- start) / 1000
    report {
      $0.commits &+= 1
      $0.jobs &+= UInt64(jobs.count)
      $0.commitMicroseconds &+= microseconds
    }
    for one in done {
      for action in one.committed { action() }
      one.complete(nil)
    }
    options.onCommit(jobs.count, microseconds)
  }

  /// Runs jobs, and those of low priority that are due, in one transaction, and commits it.
  private func store(
    _ jobs: inout [WriteJob], isAlone: Bool, _ hasBegun: inout Bool
  ) throws(StorageError) -> [WriteJob.Done] {
    let start = options.time.monotonic()
    var done: [WriteJob.Done] = []
    done.reserveCapacity(jobs.count)
    try database.begin(.writing)
    hasBegun = true
    if let writeAheadLog { writeAheadLog.file.reserve(after: writeAheadLog.connection.pagesInLog) }
    let transaction = WriteTransaction(database)
    for job in jobs { done.append(try run(job, done.count, in: transaction)) }
    // The first of them is due whatever time the others took, else they would starve under load.
    var isDue = !isAlone
    while isDue || options.time.monotonic() &- start < Self.patientTime,
      let job = queue.dequeueLowPriority(isAlone: isAlone)
    {
      isDue = false
      jobs.append(job)
      done.append(try run(job, done.count, in: transaction))
    }
    for (number, error) in try database.commit() { done[number] = done[number].failed(undone(error)) }
    return done
  }

  /// Counts a lost transaction and logs it; of what lasts one line is enough.
  private func noteFailure(_ error: StorageError, _ jobs: Int) {
    var isKnown = false
    report {
      $0.failedCommits &+= 1
      isKnown = error.kind.isLasting && $0.failure == error.kind
      if error.kind.isStoreFailure { $0.note(failure: error.kind) }
    }
    if writeAheadLog == nil, error.kind == .io {
      isKnown = isCutOff
      isCutOff = true
    }
    guard !isKnown else { return }
    log.error("transaction failed", ["jobs": .number(Int64(jobs)), "error": .text(error.description)])
  }

  /// Runs a job; throws only if the whole transaction is lost.
  private func run(
    _ job: WriteJob, _ number: Int, in transaction: WriteTransaction
  ) throws(StorageError) -> WriteJob.Done {
    // A single statement that fails may undo itself, and the first job has the transaction to itself: a
    // savepoint costs.
    let isSingle = job.single && database.undoesFailedStatements
    try database.beginJob(number, isMarked: !isSingle && number > 0)
    if options.rehearses { try rehearse(job, in: transaction) }
    database.committed = []
    var done = job.run(transaction)
    if done.error == nil {
      done.committed = database.committed
      do throws(StorageError) { try database.endJob() } catch { done = done.failed(error) }
    }
    if let error = done.error {
      // A full disk, a failed read or a lost connection ends the transaction, and the other jobs' changes
      // with it. PostgreSQL would go on, and each commit would tell that all is well.
      guard database.isInTransaction, !(database.isBroken && error.kind.isStoreFailure) else { throw error }
      // It may have turned sealing on or off.
      database.sealing = SealingMemory()
      if !isSingle { try database.undoJob() }
      done = done.failed(undone(error))
    }
    return done
  }

  /// The error of a job of which nothing is left. One that got no lock may be repeated; that it failed is
  /// told here, not by who asked.
  private func undone(_ error: StorageError) -> StorageError {
    guard writeAheadLog == nil, error.kind == .busy else { return error }
    log.warning(
      "write abandoned: another transaction holds a lock that it needs", ["error": .text(error.description)])
    return error.uncommitted
  }

  /// Runs a job's body and undoes what it did.
  private func rehearse(_ job: WriteJob, in transaction: WriteTransaction) throws(StorageError) {
    let (tagWork, factWork, added) = (database.tagWork, database.factWork, database.registrationsAdded)
    try database.runLater("SAVEPOINT rehearsal")
    _ = job.run(transaction)
    // As before a savepoint of a job.
    try? database.settle()
    try database.run("ROLLBACK TO SAVEPOINT rehearsal")
    try database.run("RELEASE SAVEPOINT rehearsal")
    database.sealing = SealingMemory()
    (database.tagWork, database.factWork, database.registrationsAdded) = (tagWork, factWork, added)
  }

  // MARK: Checkpoints

  private func planCheckpoints(from pages: Int) {
    requestedAt = pages
    requestAt = pages + options.checkpointPages
    finishAt = pages + options.checkpointPages * 4
    insistAt = pages + options.checkpointPages * 16
  }

  /// Once the whole log is in the database and no reader uses it, SQLite writes it from the start again.
  /// While commits follow one another the checkpointer never catches up with the end: when it has left only
  /// little, the writer does that last bit, which takes about as long as a commit.
  private func checkpointIfDue(_ log: WriteAheadLog) {
    let pages = log.connection.pagesInLog
    if pages < options.checkpointPages { planCheckpoints(from: 0) }
    guard pages >= requestAt else { return }
    if log.checkpointer.isBusy {
      // However long it gets no processor or waits for the disk, the log stays bounded: the writer waits for
      // it a little.
      if pages >= insistAt + options.checkpointPages * 4 { finish(log.connection, pages) }
      return
    }
    if pages - requestedAt <= min(Self.lastPages, options.checkpointPages / 8) || pages >= finishAt {
      finish(log.connection, pages)
    } else {
      requestedAt = pages
      log.checkpointer.request()
    }
  }

  private func finish(_ connection: SQLiteConnection, _ pages: Int) {
    // Far over the mark, readers have kept the log from being reused: then wait for them a little. Whether
    // that helps or not, the next try is due only after as many pages again, so that a long read costs
    // little.
    let insist = pages >= insistAt
    finishAt = pages + options.checkpointPages * 4
    requestAt = pages + options.checkpointPages
    requestedAt = pages
    if insist { insistAt = pages + options.checkpointPages * 16 }
    do throws(StorageError) {
      try connection.checkpoint(insist ? .restart : .passive, patience: 100)
    } catch  where error.kind == .busy {
      log.debug("a long read delays the checkpoint", ["pages": .number(Int64(pages))])
    } catch {
      log.warning("checkpoint failed", ["error": .text(error.description)])
    }
  }
}
