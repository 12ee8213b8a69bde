import CLinux
import Synchronization

/// A thread for work that would block an event loop, with a bounded queue. The owners of jobs take turns, so
/// that a job waits for the running one and for one of each other owner at most, however many they have
/// queued. Safe to use from any thread.
public final class BackgroundWork: Sendable {
  private let line: Line

  /// Makes a queue. Its thread starts with the first job and does one job after the other; at most `limit`
  /// jobs may wait, including the running one, and `limitOfEach` of one owner. With a niceness (1 to 19,
  /// nice(2)) it yields to other threads.
  public init(_ name: String, limit: Int, limitOfEach: Int = .max, niceness: Int32 = 0) {
    line = Line(name, limit: limit, limitOfEach: limitOfEach, niceness)
  }

  /// Waiting jobs are still done.
  deinit { line.end() }

  /// Queues a job of an owner, behind the owner's other jobs; false if the queue is full or too many jobs of
  /// the owner wait, and then it is never done.
  public func run(for owner: UInt32, _ body: @escaping @Sendable () -> Void) -> Bool {
    line.add(body, of: owner)
  }

  /// Queues a job without an owner; false if the queue is full, and then it is never done. All such jobs
  /// share one turn, and are done in the order in which they came.
  public func run(_ body: @escaping @Sendable () -> Void) -> Bool { line.add(body, of: nil) }
}

/// Jobs and the thread that does them.
private final class Line: Sendable {
  typealias Job = @Sendable () -> Void
  /// Nil for the jobs without an owner.
  typealias Owner = UInt32?

  /// The jobs of one owner.
  private struct Jobs: Sendable {
    var queued = FIFO<Job>()
    /// Queued jobs, and the one that runs.
    var count = 0
  }

  private struct State: Sendable {
    /// Those of each owner who has any.
    var jobs: [Owner: Jobs] = [:]
    /// Whose turn is next: owners with queued jobs, except the one whose job runs.
    var turns = FIFO<Owner>()
    /// Queued jobs, and the one that runs.
    var count = 0
    var hasThread = false
  }

  private let name: String
  private let limit: Int
  private let limitOfEach: Int
  private let niceness: Int32
  private let state = Mutex(State())
  /// A signal for each job, and one for the end.
  private let news = Semaphore()

  init(_ name: String, limit: Int, limitOfEach: Int, _ niceness: Int32) {
    self.name = name
    self.limit = limit
    self.limitOfEach = limitOfEach
    self.niceness = niceness
  }

  /// False if the queue is full, or no thread can be started.
  func add(_ job: @escaping Job, of owner: Owner) -> Bool {
    let isAdded = state.withLock { state in
      let known = state.jobs[owner]?.count ?? 0
      guard state.count < limit, owner == nil || known < limitOfEach else { return false }
      if !state.hasThread {
        guard (try? SystemThread.start(name, { [self] in work() })) != nil else { return false }
        state.hasThread = true
      }
      if known == 0 { state.turns.append(owner) }
      state.jobs[owner, default: Jobs()].queued.append(job)
      state.jobs[owner]?.count += 1
      state.count += 1
      return true
    }
    if isAdded { news.signal() }
    return isAdded
  }

  func end() { news.signal() }

  private func work() {
    if niceness > 0 { cl_thread_yield_to_others(niceness) }
    while true {
      news.wait()
      // Without a job the signal was that of the end.
      guard let (owner, job) = next() else { return }
      job()
      finish(owner)
    }
  }

  private func next() -> (Owner, Job)? {
    state.withLock { state in
      guard let owner = state.turns.popFirst(), let job = state.jobs[owner]?.queued.popFirst() else {
        return nil
      }
      return (owner, job)
    }
  }

  /// Only now may the owner's next job have a turn: those who came during this one are before it.
  private func finish(_ owner: Owner) {
    state.withLock { state in
      state.count -= 1
      state.jobs[owner]?.count -= 1
      if state.jobs[owner]?.count == 0 { state.jobs[owner] = nil } else { state.turns.append(owner) }
    }
  }
}
