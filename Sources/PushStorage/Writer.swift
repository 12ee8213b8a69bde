import PushBase

/// A change that waits for the writer.
struct WriteJob: Sendable {
  /// The result of a body: its own error, and the completion to call after the transaction.
  struct Done {
    let error: StorageError?
    let tell: @Sendable (_ failure: StorageError?) -> Void
  }

  let single: Bool
  let run: @Sendable (WriteTransaction) -> Done
  let refuse: @Sendable (StorageError) -> Void
}

/// The writer thread: takes all waiting jobs, runs them in one transaction, commits, and calls their completions in order.
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
  private let checkpointer: Checkpointer
  private let logFile: LogFile
  /// Pages in the log when the checkpointer was last asked: it has moved those, unless a reader was in its way.
  private var requestedAt = 0
  /// Pages in the log at which the checkpointer gets to work, the writer no longer waits for it, and insists on its own.
  private var requestAt = 0
  private var finishAt = 0
  private var insistAt = 0

  init(
    database: Database, queue: WorkQueue<WriteJob>, options: Store.Options, log: Log,
    checkpointer: Checkpointer, logFile: LogFile, report: @escaping ((inout Store.Statistics) -> Void) -> Void
  ) {
    self.database = database
    self.queue = queue
    self.options = options
    self.log = log
    self.checkpointer = checkpointer
    self.logFile = logFile
    self.report = report
    planCheckpoints(from: 0)
  }

  /// Works until the queue is closed and empty, and closes the database.
  func run() {
    while let jobs = queue.take(options.batch) {
      run(jobs)
      checkpointIfDue()
    }
    checkpointer.stop()
    do throws(StorageError) { try database.checkpoint(.truncate) } catch {
      log.warning("last checkpoint failed", ["error": .text(error.description)])
    }
    database.close()
  }

  private func run(_ taken: [WriteJob]) {
    // A job that waits alone is taken before anything can fail: else nobody tells it, and it is asked for again at once.
    var jobs = taken.isEmpty ? queue.takeLowPriority(isAlone: true).map { [$0] } ?? [] : taken
    guard !jobs.isEmpty else { return }
    let start = options.time.monotonic()
    var done: [WriteJob.Done] = []
    done.reserveCapacity(jobs.count)
    do throws(StorageError) {
      try database.run("BEGIN IMMEDIATE")
      database.sealing = SealingMemory()
      logFile.reserve(after: database.pagesInLog)
      let transaction = WriteTransaction(database)
      for job in jobs { done.append(try run(job, in: transaction, isFirst: done.isEmpty)) }
      // The first of them is due whatever time the others took, else they would starve under load.
      var isDue = !taken.isEmpty
      while isDue || options.time.monotonic() &- start < Self.patientTime,
        let job = queue.takeLowPriority(isAlone: taken.isEmpty)
      {
        isDue = false
        jobs.append(job)
        done.append(try run(job, in: transaction, isFirst: done.isEmpty))
      }
      try database.run("COMMIT")
    } catch {
      database.rollBack()
      report {
        $0.failedCommits &+= 1
        if error.kind.isStoreFailure { $0.note(failure: error.kind) }
      }
      log.error(
        "transaction failed", ["jobs": .number(Int64(jobs.count)), "error": .text(error.description)])
      for job in jobs { job.refuse(error) }
      // The log may hold room that the database needs.
      if error.kind == .diskFull, !checkpointer.isBusy {
        try? database.checkpoint(.truncate, patience: 0)
      }
      return
    }
    let microseconds = (options.time.monotonic() &- start) / 1000
    report {
      $0.commits &+= 1
      $0.jobs &+= UInt64(jobs.count)
      $0.commitMicroseconds &+= microseconds
    }
    for one in done { one.tell(nil) }
    options.onCommit(jobs.count, microseconds)
  }

  /// Runs a job; throws only if the whole transaction is lost.
  private func run(
    _ job: WriteJob, in transaction: WriteTransaction, isFirst: Bool
  ) throws(StorageError) -> WriteJob.Done {
    // A single statement that fails undoes itself, and the first job has the transaction to itself: a savepoint copies
    // each page that is changed behind it.
    let isMarked = !job.single && !isFirst
    if isMarked { try database.run("SAVEPOINT job") }
    let done = job.run(transaction)
    if let error = done.error {
      // A full disk or a failed read makes SQLite drop the transaction, and the other jobs' changes with it.
      guard database.isInTransaction else { throw error }
      // It may have turned sealing on or off.
      database.sealing = SealingMemory()
      if isMarked {
        try database.run("ROLLBACK TO job")
      } else if !job.single {
        try database.run("ROLLBACK")
        try database.run("BEGIN IMMEDIATE")
      }
    }
    if isMarked { try database.run("RELEASE job") }
    return done
  }

  // MARK: Checkpoints

  private func planCheckpoints(from pages: Int) {
    requestedAt = pages
    requestAt = pages + options.checkpointPages
    finishAt = pages + options.checkpointPages * 4
    insistAt = pages + options.checkpointPages * 16
  }

  /// Once the whole log is in the database and no reader uses it, SQLite writes it from the start again. While commits
  /// follow one another the checkpointer never catches up with the end: when it has left only little, the writer does
  /// that last bit, which takes about as long as a commit.
  private func checkpointIfDue() {
    let pages = database.pagesInLog
    if pages < options.checkpointPages { planCheckpoints(from: 0) }
    guard pages >= requestAt, !checkpointer.isBusy else { return }
    if pages - requestedAt <= min(Self.lastPages, options.checkpointPages / 8) || pages >= finishAt {
      finish(pages)
    } else {
      requestedAt = pages
      checkpointer.request()
    }
  }

  private func finish(_ pages: Int) {
    // Far over the mark, readers have kept the log from being reused: then wait for them a little. Whether that
    // helps or not, the next try is due only after as many pages again, so that a long read costs little.
    let insist = pages >= insistAt
    finishAt = pages + options.checkpointPages * 4
    requestAt = pages + options.checkpointPages
    requestedAt = pages
    if insist { insistAt = pages + options.checkpointPages * 16 }
    do throws(StorageError) {
      try database.checkpoint(insist ? .restart : .passive, patience: 100)
    } catch  where error.kind == .busy {
      log.debug("a reader holds up the checkpoint", ["pages": .number(Int64(pages))])
    } catch {
      log.warning("checkpoint failed", ["error": .text(error.description)])
    }
  }
}
