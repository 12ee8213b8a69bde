import CLinux
import Synchronization

/// A thread for work that would block an event loop, with a bounded queue. Safe to use from any thread.
public final class BackgroundWork: Sendable {
  private let line: Line
  private let limit: Int
  private let limitOfEach: Int
  private let waitingOf = Mutex<[UInt32: Int]>([:])

  /// Makes a queue. Its thread starts with the first job and does one job after the other; at most `limit` jobs may wait,
  /// including the running one, and `limitOfEach` of one owner. With a niceness (1 to 19, nice(2)) it yields to other threads.
  public init(_ name: String, limit: Int, limitOfEach: Int = .max, niceness: Int32 = 0) {
    line = Line(name, niceness)
    self.limit = limit
    self.limitOfEach = limitOfEach
  }

  /// Waiting jobs are still done.
  deinit { line.end() }

  /// Queues a job whose result an owner waits for; false also if too many jobs of the same owner wait.
  public func run(for owner: UInt32, _ body: @escaping @Sendable () -> Void) -> Bool {
    let isFree = waitingOf.withLock { waiting in
      guard waiting[owner, default: 0] < limitOfEach else { return false }
      waiting[owner, default: 0] += 1
      return true
    }
    guard isFree else { return false }
    let isTaken = run { [self] in
      body()
      finish(owner)
    }
    if !isTaken { finish(owner) }
    return isTaken
  }

  private func finish(_ owner: UInt32) {
    waitingOf.withLock { waiting in
      guard let count = waiting[owner] else { return }
      waiting[owner] = count > 1 ? count - 1 : nil
    }
  }

  /// Queues a job; false if the queue is full, and then it is never done.
  public func run(_ body: @escaping @Sendable () -> Void) -> Bool { line.add(body, limit: limit) }
}

/// Jobs and the thread that does them.
private final class Line: Sendable {
  private struct State: Sendable {
    var jobs: [@Sendable () -> Void] = []
    /// Queued jobs, and those that the thread has taken and not finished.
    var waiting = 0
    var hasThread = false
    var isEnded = false
  }

  private let name: String
  private let niceness: Int32
  private let state = Mutex(State())
  private let news = Semaphore()

  init(_ name: String, _ niceness: Int32) {
    self.name = name
    self.niceness = niceness
  }

  /// False if the queue is full, or no thread can be started.
  func add(_ job: @escaping @Sendable () -> Void, limit: Int) -> Bool {
    let isAdded = state.withLock { state in
      guard state.waiting < limit else { return false }
      if !state.hasThread {
        guard (try? SystemThread.start(name, { [self] in work() })) != nil else { return false }
        state.hasThread = true
      }
      state.jobs.append(job)
      state.waiting += 1
      return true
    }
    if isAdded { news.signal() }
    return isAdded
  }

  func end() {
    state.withLock { $0.isEnded = true }
    news.signal()
  }

  private func work() {
    if niceness > 0 { cl_thread_yield_to_others(niceness) }
    while true {
      news.wait()
      let (jobs, isEnded) = state.withLock { state in
        defer { state.jobs = [] }
        return (state.jobs, state.isEnded)
      }
      for job in jobs {
        job()
        state.withLock { $0.waiting -= 1 }
      }
      if isEnded { return }
    }
  }
}
