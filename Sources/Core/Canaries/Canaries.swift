import BorealisBase
import Model
import Storage

/// The canary of a push, with how it does.
package struct CanaryStatus: Sendable {
  let row: CanaryRow
  /// How it does by what is stored now, or did when it was decided; nil if it ended and nobody had looked.
  package let figures: CanaryFigures?

  /// The push to the share.
  package var id: MessageID { row.id }
  package var terms: Canary { row.terms }
  /// How far it has come.
  package var state: CanaryRow.State { row.state }
  package var startedAt: Timestamp { row.startedAt }
  /// When it is decided next; nil once it is over.
  package var lookAt: Timestamp? { row.lookAt }
  /// How it ended; nil as long as it waits.
  package var end: CanaryRow.End? { row.end }
  /// How many of the audience are the rest.
  package var rest: Int { row.rest.count }
}

/// A canary that is to be looked at.
package struct DueCanary: Sendable {
  let id: MessageID
  package let app: App
}

/// Why nothing was done about a canary.
package enum CanaryFailure: Error, Sendable {
  /// The app has no such push, or the push has no canary.
  case unknown
  /// It was decided before.
  case over
  /// The rest could not be sent, for this reason.
  case refused(APIError)
  /// The database failed.
  case storage(StorageError)

  /// The error for callers of the push API.
  package var apiError: APIError {
    switch self {
    case .unknown: .invalidValue("msg_id is unknown: the app has no such push with a canary")
    case .over: .invalidValue("The canary of the push is over")
    case .refused(let error): error
    case .storage(let error): error.apiError
    }
  }
}

/// Pushes that go to a share of their audience first (Docs/decisions/0113).
package struct Canaries: Sendable {
  let store: Store
  let scope: HomeScope
  let time: any TimeSource
  let apps: AppTable
  let reports: PushReports
  let channels: PluggedChannels
  let ids: MessageIDs
  private let clock = CanaryClock()

  init(
    store: Store, scope: HomeScope, time: any TimeSource, apps: AppTable, reports: PushReports,
    channels: PluggedChannels, ids: MessageIDs
  ) {
    (self.store, self.scope, self.time, self.apps) = (store, scope, time, apps)
    (self.reports, self.channels, self.ids) = (reports, channels, ids)
  }

  /// Canaries that are to be looked at, at most `limit` after a place, and where the next page begins. Call
  /// once a second. `found` is called on a reader's thread or the writer's.
  package func due(
    after place: DuePlace? = nil, limit: Int,
    found: @escaping @Sendable (Result<(due: [DueCanary], end: DuePlace?), DeviceFailure>) -> Void
  ) {
    let jump = place == nil ? clock.compare(time.now(), time.monotonic(), newest: ids.newest) : nil
    guard let jump else { return read(after: place, limit: limit, found: found) }
    store.write { [rows = scope.rows] transaction throws(StorageError) in
      try transaction.canaries.shift(by: jump.milliseconds, upTo: jump.newest, in: rows)
    } completion: { [self] result in
      guard case .success = result else { return found(.failure(.unavailable)) }
      clock.settle()
      read(after: nil, limit: limit, found: found)
    }
  }

  private func read(
    after place: DuePlace?, limit: Int,
    found: @escaping @Sendable (Result<(due: [DueCanary], end: DuePlace?), DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      try transaction.canaries.due(at: now, after: place, limit: limit, in: rows)
    } completion: { result in
      guard case .success(let rows) = result else { return found(.failure(.unavailable)) }
      // One of an app that is not loaded yet, or no longer, is not due here.
      let due = rows.compactMap { row in
        scope.isSettled(row.app) ? apps.find(row.app).map { DueCanary(id: row.id, app: $0) } : nil
      }
      found(.success((due, rows.count == limit ? rows.last?.place : nil)))
    }
  }

  /// The canary of a push of an app: of the one to the share, or to the rest. Nil if it has none.
  package func find(
    _ id: MessageID, in app: App, reply: @escaping @Sendable (Result<CanaryStatus?, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.canaries.find(id, app: app.id)
    } completion: { result in
      guard case .success(let found) = result else { return reply(.failure(.unavailable)) }
      guard let row = found else { return reply(.success(nil)) }
      figures(of: row, in: app) { reply(.success(CanaryStatus(row: row, figures: $0))) }
    }
  }

  /// How the devices of the share do: as it was when it was decided, if it was by looking.
  func figures(
    of row: CanaryRow, in app: App, reply: @escaping @Sendable (CanaryFigures?) -> Void
  ) {
    let channels = self.channels
    reports.reports(on: [row.id], in: app, as: { CanaryFigures($0, channels, in: app) }) { result in
      guard case .success(let found) = result else { return reply(nil) }
      guard let end = row.end else {
        // If the push was swept before the decision, nothing is known of it.
        return reply(found[0] ?? CanaryFigures(targets: 0, succeeded: 0, failed: 0))
      }
      guard let decided = end.figures else { return reply(nil) }
      reply(
        CanaryFigures(
          targets: found[0]?.targets ?? decided.succeeded + decided.failed, succeeded: decided.succeeded,
          failed: decided.failed))
    }
  }

  /// Stops a canary: the rest does not get the push. `entry` is the audit log entry of the person who does
  /// so.
  package func stop(
    _ id: MessageID, of app: App, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, CanaryFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) -> CanaryFailure? in
      try transaction.expectHome(of: app.id)
      guard try transaction.canaries.finish(id, app: app.id, CanaryRow.End(.stopped, at: now)) else {
        return try transaction.canaries.find(id, app: app.id)?.id == id ? .over : .unknown
      }
      if let entry { try transaction.audit.add(entry) }
      return nil
    } completion: { result in
      switch result {
      case .failure(let error): reply(.failure(.storage(error)))
      case .success(let failure?): reply(.failure(failure))
      case .success(nil): reply(.success(()))
      }
    }
  }
}

extension CanaryFigures {
  /// What was observed: devices that have the push, and those for which it was refused through a fault of the
  /// push or of a credential, or waits for a channel that sends nothing until somebody acts.
  init(_ report: PushReport, _ channels: PluggedChannels, in app: App) {
    let targets = report.targets
    var failed = NumberSet()
    for (leg, outcomes) in targets.legs {
      let words = channels.info(leg.channel).words
      for (reason, numbers) in outcomes.refused where words.blamesSender(reason) { failed.formUnion(numbers) }
    }
    for (channel, holders) in channels.stopped(of: app) {
      for (leg, outcomes) in targets.legs where leg.channel == channel {
        // Once the push has expired they are no less certain to miss it.
        failed.formUnion(outcomes.unanswered.union(outcomes.expired).intersection(holders))
      }
    }
    failed.subtract(targets.delivered)
    self.init(
      targets: targets.all.count, succeeded: targets.delivered.count, failed: failed.count,
      isRecalled: report.withdrawal != nil, heldUntil: report.held?.until)
  }
}

extension PluggedChannels {
  /// Who has a token for a service that sends nothing for an app until somebody acts, by channel. Of a
  /// channel with several services the others may go on.
  fileprivate func stopped(of app: App) -> [ChannelID: NumberSet] {
    var holders: [ChannelID: NumberSet] = [:]
    for status in status(of: app) where !status.stopped.isEmpty {
      for kind in info(status.channel).tokens where !kind.isNamed {
        let slot = TokenSlot(status.channel, kind: kind.number)
        holders[status.channel, default: NumberSet()].formUnion(
          app.directory.members(holding: slot, for: status.stopped))
      }
    }
    return holders
  }
}
