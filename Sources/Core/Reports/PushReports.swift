import BorealisBase
import Storage

/// The delivery status of pushes, from stored data.
package struct PushReports: Sendable {
  let store: Store
  let time: any TimeSource
  let log: Log
  let apps: Apps
  /// Seconds for which every push is kept.
  package let retention: Int64

  /// The delivery status of a push of an app, from stored data: numbers are up to a second late. Nil if it is
  /// unknown, another app's, or deleted.
  package func report(
    on id: MessageID, in app: App, reply: @escaping @Sendable (Result<PushReport?, DeviceFailure>) -> Void
  ) {
    reports(on: [id], in: app, as: { $0 }) { reply($0.map { $0[0] }) }
  }

  /// What is to be told of some pushes of an app, in their order, by what is stored; nil for those that are
  /// unknown, another app's, or swept. A report is dropped as soon as `value` has seen it, since those on
  /// pushes to many are large.
  package func reports<Value: Sendable>(
    on ids: [MessageID], in app: App, as value: @escaping @Sendable (PushReport) -> Value,
    reply: @escaping @Sendable (Result<[Value?], DeviceFailure>) -> Void
  ) {
    report(on: ids[...], after: [], in: app, as: value, reply: reply)
  }

  /// Several pushes to few in one read, those to many in reads of their own, so that what else waits for its
  /// turn does not wait for all of them.
  private func report<Value: Sendable>(
    on ids: ArraySlice<MessageID>, after known: [Value?], in app: App,
    as value: @escaping @Sendable (PushReport) -> Value,
    reply: @escaping @Sendable (Result<[Value?], DeviceFailure>) -> Void
  ) {
    guard !ids.isEmpty else { return reply(.success(known)) }
    let now = time.now()
    store.read(inTurnOf: app.id) { [log] transaction throws(StorageError) -> [Value?] in
      var (found, cost): ([Value?], Int) = ([], 0)
      for id in ids where cost < Self.reportsInRead {
        cost += 1
        guard let rows = try transaction.deliveries.targets(of: id), rows.push.app == app.id else {
          found.append(nil)
          continue
        }
        guard let report = PushReport(rows, at: now, in: app.directory) else {
          log.error("stored audience is unreadable", ["msg_id": .text(id.text)])
          throw StorageError(.corrupt, "a stored set is unreadable")
        }
        cost += report.audience / Self.targetsAsOne
        found.append(value(report))
      }
      return found
    } completion: { result in
      guard case .success(let found) = result else { return reply(.failure(.unavailable)) }
      report(on: ids.dropFirst(found.count), after: known + found, in: app, as: value, reply: reply)
    }
  }

  /// Pushes per read, and targets that cost as much as one more push: about a millisecond in all.
  private static let (reportsInRead, targetsAsOne) = (32, 32_768)
}
