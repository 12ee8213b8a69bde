import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// Fires due schedules, a few at a time, so that thousands that are due at the same moment do not delay other
/// work.
final class ScheduleRunner: Sendable {
  /// Schedules that are fired at a time.
  private static let batch = 32

  private let router: Router
  private let rules: PushRules
  private let isRunning = Atomic<Bool>(false)
  private let fired: Counter
  private let missed: Counter
  private let failed: Counter
  private let log: Log
  /// Schedules that the last run could not read.
  private let lastUnopened = Atomic<Int>(0)

  init(router: Router, rules: PushRules, metrics: Metrics, log: Log) {
    self.router = router
    self.rules = rules
    self.log = log
    fired = metrics.counter("borealis_schedules_fired_total")
    missed = metrics.counter("borealis_schedules_missed_total")
    failed = metrics.counter("borealis_schedules_failed_total")
  }

  /// Whether it is at work.
  var isBusy: Bool { isRunning.load(ordering: .acquiring) }

  /// Starts to fire due schedules, unless that is in progress.
  func run() {
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
    router.approvals.expire { [self] in fire(Walk()) }
  }

  /// Once through what is due, a page at a time.
  private struct Walk {
    var place: DuePlace?
    var unopened = 0
    /// Whether something was stored: its schedule's next occurrence may have come as well.
    var hasMoved = false
  }

  /// Fires the next ones. Those that could not be stored wait for the next run, and are in nobody's way until
  /// then.
  private func fire(_ walk: Walk) {
    router.schedules.due(after: walk.place, limit: Self.batch) { [self] result in
      guard case .success(let page) = result else { return stop() }
      var walk = walk
      walk.place = page.end
      walk.unopened += page.unopened
      guard !page.due.isEmpty else { return goOn(walk) }
      let progress = Mutex((waiting: page.due.count, walk: walk))
      for one in page.due {
        router.acceptance.fire(one, request(one)) { [self] end in
          count(end)
          let whole: Walk? = progress.withLock { progress in
            progress.waiting -= 1
            if end != .postponed { progress.walk.hasMoved = true }
            return progress.waiting == 0 ? progress.walk : nil
          }
          if let whole { goOn(whole) }
        }
      }
    }
  }

  private func goOn(_ walk: Walk) {
    if walk.place != nil { return fire(walk) }
    if walk.hasMoved { return fire(Walk()) }
    note(unopened: walk.unopened)
    stop()
  }

  /// Tells once that schedules wait for their key, not each second.
  private func note(unopened: Int) {
    guard unopened != lastUnopened.exchange(unopened, ordering: .relaxed), unopened > 0 else { return }
    log.error(
      "due schedules cannot be read: the secret key of their contents is missing",
      ["schedules": .number(Int64(unopened))])
  }

  private func stop() { isRunning.store(false, ordering: .releasing) }

  /// The push object, validated by the current rules.
  private func request(_ due: DueSchedule) -> Result<PushRequest, APIError> {
    let rules = due.app?.pushRules(rules) ?? rules
    return Result { () throws(APIError) in try due.schedule.request(by: rules) }
  }

  private func count(_ end: FiringEnd) {
    switch end {
    case .fired: fired.add()
    case .missed: missed.add()
    case .failed: failed.add()
    case .held, .nobodyYet, .stale, .postponed: break
    }
  }
}
