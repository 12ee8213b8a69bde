import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// Looks at what is due, one after the other: runs of A/B tests, canaries.
final class DueRunner<Due: Sendable>: Sendable {
  /// What is due behind a place, and where the next page begins; nil if this is the last.
  typealias Page = (due: [Due], end: DuePlace?)
  /// Finds at most so many behind a place; nil if they cannot be read.
  typealias Search = @Sendable (DuePlace?, _ limit: Int, @escaping @Sendable (Page?) -> Void) -> Void
  /// Looks at one, and says whether that was its end.
  typealias Look = @Sendable (Due, @escaping @Sendable (_ isEnd: Bool) -> Void) -> Void

  /// What is read at a time.
  private static var batch: Int { 32 }

  private let isRunning = Atomic<Bool>(false)
  private let search: Search
  private let look: Look
  private let ended: Counter

  init(ended: Counter, search: @escaping Search, look: @escaping Look) {
    (self.search, self.look, self.ended) = (search, look, ended)
  }

  /// Whether it is at work.
  var isBusy: Bool { isRunning.load(ordering: .acquiring) }

  /// Starts to look at what is due, unless that is in progress.
  func run() {
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
    run(after: nil)
  }

  private func run(after place: DuePlace?) {
    search(place, Self.batch) { [self] page in
      guard let page else { return stop() }
      look(at: page.due[...]) { [self] in
        if let end = page.end { run(after: end) } else { stop() }
      }
    }
  }

  private func look(at due: ArraySlice<Due>, _ done: @escaping @Sendable () -> Void) {
    guard let next = due.first else { return done() }
    look(next) { [self] isEnd in
      if isEnd { ended.add() }
      look(at: due.dropFirst(), done)
    }
  }

  private func stop() { isRunning.store(false, ordering: .releasing) }
}

extension DueRunner<DueABTestRun> {
  /// Chooses the winners of A/B tests.
  convenience init(tests router: Router, rules: PushRules, ended: Counter) {
    self.init(ended: ended) { place, limit, found in
      router.abTestRuns.due(after: place, limit: limit) { found((try? $0.get()).map { ($0.runs, $0.end) }) }
    } look: { run, done in
      router.acceptance.look(at: run, by: run.app.pushRules(rules), router.abTestRuns) {
        if case .ended = $0 { done(true) } else { done(false) }
      }
    }
  }
}

extension DueRunner<DueCanary> {
  /// Decides whether the rest gets pushes that went to a share of their audience first.
  convenience init(canaries router: Router, rules: PushRules, ended: Counter) {
    self.init(ended: ended) { place, limit, found in
      router.canaries.due(after: place, limit: limit) { found(try? $0.get()) }
    } look: { canary, done in
      router.acceptance.look(at: canary, by: canary.app.pushRules(rules), router.canaries) {
        if case .ended = $0 { done(true) } else { done(false) }
      }
    }
  }
}
