import PushBase
import PushDomain
import PushRouter
import Synchronization

/// Fires due schedules, a few at a time, so that thousands that are due at the same moment do not delay other work.
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

  /// Starts to fire due schedules, unless that is in progress.
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
          // Schedules that could not be stored wait for the next call.
          if let isStored = progress.finish(isStored: end != .postponed) { isStored ? fireBatch() : stop() }
        }
      }
    }
  }

  private func stop() { isRunning.store(false, ordering: .releasing) }

  /// The push object, validated by the current rules.
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

/// Counts the ends of occurrences that were started together.
private final class BatchProgress: Sendable {
  private let state: Mutex<(waiting: Int, isStored: Bool)>

  init(count: Int) { state = Mutex((count, true)) }

  /// Records one end; the last returns whether all were stored, the others nil.
  func finish(isStored: Bool) -> Bool? {
    state.withLock { state in
      state.waiting -= 1
      state.isStored = state.isStored && isStored
      return state.waiting == 0 ? state.isStored : nil
    }
  }
}
