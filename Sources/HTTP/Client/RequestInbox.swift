import Synchronization

/// What any thread gives to the one that sends requests: requests, of which a bounded number is open, and
/// short work.
final class RequestInbox<Job: Sendable>: Sendable {
  private struct State: Sendable {
    var jobs: [Job] = []
    var work: [@Sendable () -> Void] = []
    /// Requests without an outcome, also those that the thread has.
    var open = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let mostRequests: Int
  private let wake: @Sendable () -> Void

  /// `wake` has the thread call `drain`.
  init(mostRequests: Int, wake: @escaping @Sendable () -> Void) {
    self.mostRequests = mostRequests
    self.wake = wake
  }

  /// Adds a request; the answer to it at once if it is not taken, since this is closed or too many are open.
  func add(_ job: Job) -> HTTPAnswer? {
    let (refusal, isFirst): (HTTPAnswer?, Bool) = state.withLock { state in
      guard !state.isClosed, state.open < mostRequests else {
        return (state.isClosed ? .closed : .tooMany, false)
      }
      state.open += 1
      state.jobs.append(job)
      return (nil, state.jobs.count == 1)
    }
    if isFirst { wake() }
    return refusal
  }

  /// Has the thread do some work; false once this is closed.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isFirst: Bool? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.work.append(work)
      return state.work.count == 1
    }
    if isFirst == true { wake() }
    return isFirst != nil
  }

  /// Accepts nothing more.
  func close() {
    state.withLock { $0.isClosed = true }
    wake()
  }

  /// A request has its outcome, or somebody else has it.
  func release() { state.withLock { $0.open -= 1 } }

  // MARK: On the thread

  /// Does the work that came, and removes and returns the new requests; nil once closed.
  func drain() -> [Job]? {
    doWork()
    return state.withLock { state in
      guard !state.isClosed else { return nil }
      defer { state.jobs = [] }
      return state.jobs
    }
  }

  /// Does the work, and returns the requests, that came before the end and were not begun.
  func drainRest() -> [Job] {
    doWork()
    return state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
  }

  private func doWork() {
    let work = state.withLock { state in
      defer { state.work = [] }
      return state.work
    }
    for one in work { one() }
  }
}
