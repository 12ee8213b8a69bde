import BorealisBase
import Model
import Storage

/// A run of an A/B test, with how its contents do.
package struct ABTestRun: Sendable {
  let row: ABTestRunRow
  /// How its contents have done, by what is stored now.
  package let figures: [ABTestFigures]

  /// When it began, and when its figures are looked at next; nil once it is over.
  package var startedAt: Timestamp { row.startedAt }
  package var lookAt: Timestamp? { row.lookAt }
  /// How it ended; nil as long as it runs.
  package var end: ABTestRunEnd? { row.end }
  /// How many were to get the winner.
  package var rest: Int { row.restCount }
  /// The pushes of its contents, in their order.
  package var pushes: [ABTestRunRow.Push] { row.pushes.filter { $0.place > 0 } }
  /// The winner's push to the rest; nil if there is none.
  package var winnerPush: MessageID? { row.pushes.first { $0.place == 0 }?.id }
}

/// A run whose figures are to be looked at.
package struct DueABTestRun: Sendable {
  let id: Int64
  package let app: App
}

/// A page of such runs.
package struct DueABTestRuns: Sendable {
  /// Those that wait longest first.
  package let runs: [DueABTestRun]
  /// Where the next page begins, nil if this is the last.
  package let end: DuePlace?
}

/// Runs of A/B tests: each push to a test starts one (Docs/decisions/0105).
package struct ABTestRuns: Sendable {
  /// Runs of a test that are shown.
  private static let shown = 10

  let store: Store
  let scope: HomeScope
  let time: any TimeSource
  let apps: AppTable
  let reports: PushReports

  /// Runs whose figures are to be looked at, at most `limit` after a place. `found` is called on a reader's
  /// thread.
  package func due(
    after place: DuePlace? = nil, limit: Int,
    found: @escaping @Sendable (Result<DueABTestRuns, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      try transaction.abTestRuns.due(at: now, after: place, limit: limit, in: rows)
    } completion: { result in
      guard case .success(let rows) = result else { return found(.failure(.unavailable)) }
      // One of an app that is not loaded yet, or no longer, is not due here.
      let runs = rows.compactMap { row in
        scope.isSettled(row.app) ? apps.find(row.app).map { DueABTestRun(id: row.id, app: $0) } : nil
      }
      found(.success(DueABTestRuns(runs: runs, end: rows.count == limit ? rows.last?.place : nil)))
    }
  }

  /// How the contents of a run do.
  func figures(
    of run: ABTestRunRow, in app: App, reply: @escaping @Sendable ([ABTestFigures]?) -> Void
  ) {
    let pushes = run.pushes.filter { $0.place > 0 }
    reports.reports(on: pushes.map(\.id), in: app, as: { ABTestFigures($0) }) { result in
      guard case .success(let found) = result else { return reply(nil) }
      reply(
        zip(pushes, found).map { push, figures in
          figures
            ?? ABTestFigures(
              targets: 0, delivered: push.delivered ?? 0, shown: 0, tapped: push.tapped ?? 0, isOut: true)
        })
    }
  }

  /// The latest runs of a test, the newest first.
  package func list(
    of test: Int64, in app: App,
    reply: @escaping @Sendable (Result<[ABTestRun], DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.abTestRuns.list(test: test, app: app.id, limit: Self.shown)
    } completion: { result in
      guard case .success(let rows) = result else { return reply(.failure(.unavailable)) }
      complete(rows[...], after: [], in: app, reply)
    }
  }

  private func complete(
    _ rows: ArraySlice<ABTestRunRow>, after known: [ABTestRun], in app: App,
    _ reply: @escaping @Sendable (Result<[ABTestRun], DeviceFailure>) -> Void
  ) {
    guard let row = rows.first else { return reply(.success(known)) }
    figures(of: row, in: app) { figures in
      guard let figures else { return reply(.failure(.unavailable)) }
      complete(rows.dropFirst(), after: known + [ABTestRun(row: row, figures: figures)], in: app, reply)
    }
  }

  /// The numbers of an app's tests that run.
  package func running(
    in app: App, reply: @escaping @Sendable (Result<Set<Int64>, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      Set(try transaction.abTestRuns.openTests(app: app.id))
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }

  /// Stops the run of a test: nobody gets a winner. `entry` is the audit log entry of the person who does so.
  package func stop(
    _ test: Int64, of app: App, noting entry: AuditRow? = nil, reply: @escaping ABTests.Reply<Void>
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) in
      let isStopped = try transaction.abTestRuns.stop(test: test, app: app.id, at: now)
      if let entry, isStopped { try transaction.audit.add(entry) }
      return isStopped
    } completion: { result in
      reply(result.mapError { .storage($0) }.flatMap { $0 ? .success(()) : .failure(.notRunning) })
    }
  }
}

extension ABTestFigures {
  fileprivate init(_ report: PushReport) {
    let targets = report.targets
    self.init(
      targets: targets.all.count, delivered: targets.delivered.count, shown: targets.shown.count,
      tapped: targets.tapped.count, isOut: report.withdrawal != nil, heldUntil: report.held?.until)
  }
}
