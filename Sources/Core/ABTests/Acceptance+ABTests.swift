import BorealisBase
import Model
import Storage

/// What came of a look at the figures of a run.
package enum ABTestLook: Sendable, Equatable {
  /// It is too early for a winner.
  case early
  /// The run is over.
  case ended(ABTestRunRow.State)
  /// The run was ended in the meantime; nothing was done.
  case stale
  /// Nothing could be read or stored now; it is to be tried again.
  case postponed
}

extension ABTestRunRow {
  /// Whether the look that it is read for has not been done.
  fileprivate func isCurrent(in transaction: WriteTransaction) throws(StorageError) -> Bool {
    try transaction.abTestRuns.open(id, app: app)?.look == look
  }

  /// Ends it, with the figures that decided it.
  fileprivate func finish(
    _ end: ABTestRunEnd, _ figures: [ABTestFigures], push: MessageID? = nil,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    for (place, content) in figures.enumerated() {
      try transaction.abTestRuns.note(
        delivered: content.delivered, tapped: content.tapped, ofPush: place + 1, in: id)
    }
    try transaction.abTestRuns.finish(id, end, push: push)
  }
}

extension Acceptance {
  /// Looks at the figures of a run: sends the winner to the rest if there is one, and ends the run. `rules`
  /// are those of the app. `done` comes on the writer's thread or a reader's.
  package func look(
    at due: DueABTestRun, by rules: PushRules, _ runs: ABTestRuns,
    done: @escaping @Sendable (ABTestLook) -> Void
  ) {
    let app = due.app
    store.read { transaction throws(StorageError) in
      try transaction.abTestRuns.open(due.id, app: app.id)
    } completion: { [self] result in
      guard case .success(let found) = result else { return done(.postponed) }
      guard let run = found else { return done(.stale) }
      runs.figures(of: run, in: app) { [self] figures in
        guard let figures else { return done(.postponed) }
        decide(run, figures, in: app, by: rules, done)
      }
    }
  }

  private func decide(
    _ run: ABTestRunRow, _ figures: [ABTestFigures], in app: App, by rules: PushRules,
    _ done: @escaping @Sendable (ABTestLook) -> Void
  ) {
    let now = time.now()
    guard let snapshot = ABTestSnapshot(run), let rest = NumberSet(serialized: run.rest) else {
      log.error("stored run of an A/B test is unreadable", ["run": .number(run.id)])
      let end = ABTestRunEnd(.failed, at: now, message: APIError.internalError.message)
      return finish(run, end, figures, done)
    }
    let design = snapshot.design
    if let until = figures.lazy.filter({ !$0.isOut }).compactMap(\.heldUntil).max() {
      // Those who wait for the end of their quiet hours have as much time then as the others had.
      return wait(run, look: run.look + 1, at: until.adding(seconds: design.seconds), done)
    }
    let end = max(run.startedAt.adding(seconds: design.seconds), run.lookAt ?? run.startedAt)
    switch ABTestVerdict(figures, of: design, isLast: now >= end) {
    case .wait: wait(run, design, at: now, done)
    case .nobody: finish(run, ABTestRunEnd(.noWinner, at: now), figures, done)
    case .winner(let place):
      do throws(APIError) {
        let request = try snapshot.request(place, by: rules)
        if let fault = lateFault(of: request, due: end, in: app) { throw fault }
        send(request, to: rest, of: run, winner: place, figures, in: app, done)
      } catch {
        let failure = ABTestRunEnd(.failed, at: now, winner: place + 1, message: error.message)
        log.warning(
          "winner not sent",
          ["run": .number(run.id), "code": .number(Int64(error.code)), "reason": .text(error.message)])
        finish(run, failure, figures, done)
      }
    }
  }

  /// Sends the winner to those of the rest that are still there.
  private func send(
    _ push: PushRequest, to rest: NumberSet, of run: ABTestRunRow, winner: Int, _ figures: [ABTestFigures],
    in app: App, _ done: @escaping @Sendable (ABTestLook) -> Void
  ) {
    var request = AcceptRequest(push, from: run.sender)
    // The run was, as a whole.
    request.isApproved = true
    let now = time.now()
    let kind = RestAcceptance<ABTestLook>(app: app.id) { (transaction) throws(StorageError) in
      // It was stopped, or another look was faster.
      try run.isCurrent(in: transaction) ? nil : .stale
    } end: { (result, transaction) throws(StorageError) in
      var (end, id) = (ABTestRunEnd(.sent, at: now, winner: winner + 1), MessageID?.none)
      switch result {
      case .sent(let push): id = push
      case .nobody: end = ABTestRunEnd(.nobodyLeft, at: now, winner: winner + 1)
      case .refused(let error) where error == .noTarget:
        end = ABTestRunEnd(.nobodyLeft, at: now, winner: winner + 1)
      case .refused(let error):
        end = ABTestRunEnd(.failed, at: now, winner: winner + 1, message: error.message)
      }
      try run.finish(end, figures, push: id, in: transaction)
      return .ended(end.state)
    }
    self.run(kind, parts(request, to: rest, in: app)) { result in
      guard case .success(let look) = result else { return done(.postponed) }
      done(look)
    }
  }

  /// Puts a run off until its next look that is not over.
  private func wait(
    _ run: ABTestRunRow, _ design: ABTestDesign, at now: Timestamp,
    _ done: @escaping @Sendable (ABTestLook) -> Void
  ) {
    func moment(_ look: Int) -> Timestamp { run.startedAt.adding(seconds: design.secondsOfLook(look)) }
    var next = run.look + 1
    while moment(next) <= now { next += 1 }
    wait(run, look: next, at: moment(next), done)
  }

  private func wait(
    _ run: ABTestRunRow, look next: Int, at moment: Timestamp,
    _ done: @escaping @Sendable (ABTestLook) -> Void
  ) {
    change(run, done) { transaction throws(StorageError) in
      try transaction.abTestRuns.wait(run.id, look: next, at: moment)
      return .early
    }
  }

  private func finish(
    _ run: ABTestRunRow, _ end: ABTestRunEnd, _ figures: [ABTestFigures],
    _ done: @escaping @Sendable (ABTestLook) -> Void
  ) {
    change(run, done) { transaction throws(StorageError) in
      try run.finish(end, figures, in: transaction)
      return .ended(end.state)
    }
  }

  private func change(
    _ run: ABTestRunRow, _ done: @escaping @Sendable (ABTestLook) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> ABTestLook
  ) {
    store.write(of: run.app) { transaction throws(StorageError) in
      try transaction.expectHome(of: run.app)
      return try run.isCurrent(in: transaction) ? try body(transaction) : .stale
    } completion: { result in
      done((try? result.get()) ?? .postponed)
    }
  }
}
