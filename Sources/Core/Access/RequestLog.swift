import BorealisBase
import Model
import Storage
import Synchronization

/// The log of requests to the HTTP APIs: for each app, the calls of seven days by minute. Calls are counted
/// in memory and stored later, behind everything else that the writer has to do; a crash loses about a
/// minute. What finds no place is dropped and counted.
package final class RequestLog: Sendable {
  /// Which calls are logged.
  package enum Extent: String, CaseIterable, Sendable {
    case all
    case refused
    case off
  }

  /// Seconds for which calls are kept.
  package static let lifetime: Int64 = 7 * 86_400
  /// Seconds that calls wait for others like them.
  private static let wait: Int64 = 60
  /// Rows from which on a job takes no further app's.
  private static let rowsInStep = 256
  /// Rows that an app may have at most, and all apps of this home together.
  private static let (rowsOfApp, rowsOfAll) = (50_000, 1_000_000)
  /// Rows that an app may have however many apps there are.
  private static let leastRows = 500
  /// Apps of which a job deletes old rows, and how many rows of each kind.
  private static let (appsInSweep, rowsInSweep) = (32, 64)

  private struct State: Sendable {
    var isStoring = false
    /// When the last sweep was, and the number of the app behind which the next one goes on.
    var sweptAt: Timestamp?
    var swept: UInt32 = 0
  }

  /// Which calls are logged.
  package let extent: Extent
  private let store: Store
  private let scope: HomeScope
  private let time: any TimeSource
  private let apps: AppTable
  private let state = Mutex(State())
  private let lost = Atomic<UInt64>(0)

  init(store: Store, scope: HomeScope, extent: Extent, time: any TimeSource, apps: AppTable) {
    (self.store, self.scope, self.extent, self.time) = (store, scope, extent, time)
    self.apps = apps
  }

  /// Calls that found no place.
  package var dropped: UInt64 { lost.load(ordering: .relaxed) }

  /// Whether calls of a kind are logged.
  package func logs(_ kind: APIRequestKind) -> Bool {
    switch extent {
    case .all: true
    case .refused: kind != .successful
    case .off: false
    }
  }

  /// An app in memory, whose calls can be logged.
  package func app(_ key: AppKey) -> App? { apps.find(key) }

  /// Notes an answered call of an app.
  package func note(_ call: APICall, of app: App) {
    guard logs(call.kind) else { return }
    if !app.requests.add(call, at: time.now()) { lost.add(1, ordering: .relaxed) }
  }

  // MARK: Reading

  /// A part of an app's log, with what has just happened.
  package func list(
    of app: App, _ filter: APIRequestFilter, before place: APIRequestPlace, limit: Int
  ) async -> Result<APIRequestList, StorageError> {
    if place == .newest {
      let rows = app.requests.drain()
      if !rows.isEmpty {
        await awaitCallback { done in add([(app, rows)], isUrgent: true) { done(()) } }
      }
    }
    return await awaitCallback { done in
      store.read(inTurnOf: app.id) { transaction throws(StorageError) in
        try transaction.apiRequests.list(app: app.id, filter, before: place, limit: limit)
      } completion: {
        done($0)
      }
    }
  }

  // MARK: Storing

  /// Stores calls that have waited, and deletes old ones: at most one job at a time. Call once a second.
  func tick(_ apps: [App], at now: Timestamp) {
    let begins = state.withLock { state in
      defer { state.isStoring = true }
      return !state.isStoring
    }
    guard begins else { return }
    step(apps, waitingSince: now.adding(seconds: -Self.wait), at: now)
  }

  /// Stores all that waits, before the store is closed or apps leave.
  func finish(_ apps: [App]) {
    let rows = apps.map { (app: $0, rows: $0.requests.drain()) }.filter { !$0.rows.isEmpty }
    if !rows.isEmpty { add(rows, isUrgent: true) {} }
  }

  private func step(_ apps: [App], waitingSince moment: Timestamp, at now: Timestamp) {
    var (batch, count): ([(app: App, rows: [APIRequestRow])], Int) = ([], 0)
    for app in apps where count < Self.rowsInStep && app.requests.haveWaited(since: moment) {
      let rows = app.requests.drain()
      count += rows.count
      batch.append((app, rows))
    }
    guard batch.isEmpty else {
      return add(batch, isUrgent: false) { [self] in step(apps, waitingSince: moment, at: now) }
    }
    sweep(apps, at: now)
  }

  private func add(
    _ batch: [(app: App, rows: [APIRequestRow])], isUrgent: Bool, done: @escaping @Sendable () -> Void
  ) {
    let before = time.now().adding(seconds: -Self.lifetime)
    let rows = min(Self.rowsOfApp, max(Self.leastRows, Self.rowsOfAll / max(1, apps.count)))
    store.write(lowPriority: !isUrgent) { [scope] transaction throws(StorageError) in
      for (app, calls) in batch where !scope.hasLeft(app.id) && !app.isDeleted {
        try transaction.apiRequests.add(
          calls, to: app.id, most: { Self.most($0, of: rows) }, before: before)
      }
    } completion: { [self] result in
      if case .failure = result {
        let calls = batch.reduce(0) { $0 + $1.rows.reduce(0) { $0 + $1.count } }
        lost.add(UInt64(calls), ordering: .relaxed)
      }
      done()
    }
  }

  /// How many of an app's rows may be of a kind.
  private static func most(_ kind: APIRequestKind, of rows: Int) -> Int {
    switch kind {
    case .successful: rows * 4 / 10
    case .refused: rows * 5 / 10
    case .unauthenticated: rows / 10
    }
  }

  /// Once a minute, deletes what is too old of some apps: they may have no new calls.
  private func sweep(_ apps: [App], at now: Timestamp) {
    let start = state.withLock { state -> UInt32? in
      if let last = state.sweptAt, now < last.adding(seconds: Self.wait) { return nil }
      state.sweptAt = now
      return state.swept
    }
    guard let start else { return end(swept: nil) }
    let turn = apps.map(\.id.rawValue).filter { $0 > start }.sorted().prefix(Self.appsInSweep)
    guard let last = turn.last else { return end(swept: 0) }
    let before = now.adding(seconds: -Self.lifetime)
    let revokedBefore = now.adding(seconds: -Apps.keptRevokedKeys)
    store.write(lowPriority: true) { [scope] transaction throws(StorageError) in
      for app in turn.map({ AppID($0) }) where !scope.hasLeft(app) {
        try transaction.apiRequests.sweep(app: app, before: before, limit: Self.rowsInSweep)
        try transaction.apiKeys.sweep(app: app, before: revokedBefore)
      }
    } completion: { [self] _ in
      end(swept: last)
    }
  }

  private func end(swept: UInt32?) {
    state.withLock { state in
      state.isStoring = false
      if let swept { state.swept = swept }
    }
  }
}
