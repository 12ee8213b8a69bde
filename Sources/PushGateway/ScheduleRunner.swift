import PushBase
import PushDomain
import PushRouter
import Synchronization

/// Makes the pushes of schedules when they are due, a few at a time, so that thousands that are due at the same moment
/// hold up nothing else.
final class ScheduleRunner: Sendable {
  /// Schedules that are fired at a time.
  private static let batch = 32

  private let router: Router
  private let rules: PushRules
  private let isRunning = Atomic<Bool>(false)
  private let fired: Counter
  private let missed: Counter
  private let failed: Counter

  init(router: Router, rules: PushRules, metrics: Metrics) {
    self.router = router
    self.rules = rules
    fired = metrics.counter("borealis_schedules_fired_total", "Occurrences of schedules that made a push.")
    missed = metrics.counter(
      "borealis_schedules_missed_total", "Occurrences of schedules that were found too late to push.")
    failed = metrics.counter(
      "borealis_schedules_failed_total", "Occurrences of schedules that could not be pushed.")
  }

  /// Whether it is at work.
  var isBusy: Bool { isRunning.load(ordering: .acquiring) }

  /// Starts to fire what is due, unless that is under way.
  func run() {
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
    fireBatch()
  }

  private func fireBatch() {
    router.schedules.due(limit: Self.batch) { [self] result in
      guard case .success(let due) = result, !due.isEmpty else {
        stop()
        return
      }
      let progress = BatchProgress(count: due.count)
      for one in due {
        router.acceptance.fire(one, request(one)) { [self] end in
          count(end)
          // What could not be stored has to wait for better times.
          if let isStored = progress.finish(isStored: end != .postponed) { isStored ? fireBatch() : stop() }
        }
      }
    }
  }

  private func stop() { isRunning.store(false, ordering: .releasing) }

  /// The push object, read by the rules of today.
  private func request(_ due: DueSchedule) -> Result<PushRequest, APIError> {
    let rules = due.schedule.isGetui ? rules.forGetui : rules
    return Result { () throws(APIError) in try ScheduledPush(stored: due.schedule.push, rules: rules).request
    }
  }

  private func count(_ end: FiringEnd) {
    switch end {
    case .fired: fired.add()
    case .missed: missed.add()
    case .failed: failed.add()
    case .stale, .postponed: break
    }
  }
}

/// Counts the ends of what was begun together.
private final class BatchProgress: Sendable {
  private let state: Mutex<(waiting: Int, isStored: Bool)>

  init(count: Int) { state = Mutex((count, true)) }

  /// Notes one end; the last learns whether all were stored, the others get nil.
  func finish(isStored: Bool) -> Bool? {
    state.withLock { state in
      state.waiting -= 1
      state.isStored = state.isStored && isStored
      return state.waiting == 0 ? state.isStored : nil
    }
  }
}
