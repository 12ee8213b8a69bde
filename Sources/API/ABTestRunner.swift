import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// Looks at the figures of runs of A/B tests when it is time, one after the other.
final class ABTestRunner: Sendable {
  /// Runs that are read at a time.
  private static let batch = 32

  private let router: Router
  private let rules: PushRules
  private let isRunning = Atomic<Bool>(false)
  private let ended: Counter

  init(router: Router, rules: PushRules, metrics: Metrics) {
    (self.router, self.rules) = (router, rules)
    ended = metrics.counter("borealis_abtest_runs_ended_total", "Runs of A/B tests that came to their end.")
  }

  /// Whether it is at work.
  var isBusy: Bool { isRunning.load(ordering: .acquiring) }

  /// Starts to look at what is due, unless that is in progress.
  func run() {
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
    look(after: nil)
  }

  private func look(after place: DuePlace?) {
    router.abTestRuns.due(after: place, limit: Self.batch) { [self] result in
      guard case .success(let page) = result else { return stop() }
      look(at: page.runs[...]) { [self] in
        if let end = page.end { look(after: end) } else { stop() }
      }
    }
  }

  private func look(at runs: ArraySlice<DueABTestRun>, _ done: @escaping @Sendable () -> Void) {
    guard let run = runs.first else { return done() }
    router.acceptance.look(at: run, by: run.app.pushRules(rules), router.abTestRuns) { [self] outcome in
      if case .ended = outcome { ended.add() }
      look(at: runs.dropFirst(), done)
    }
  }

  private func stop() { isRunning.store(false, ordering: .releasing) }
}
