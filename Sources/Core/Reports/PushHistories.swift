import BorealisBase
import Storage

/// The pushes of apps that are kept, for those who look back at them.
package struct PushHistories: Sendable {
  let store: Store

  /// A push with what it was made from.
  package struct Found: Sendable {
    /// The push.
    package let row: PushRow
    /// Its push object and its sender.
    package let source: PushSource
    /// What its sender is called.
    package let senderName: String?
  }

  /// What an app has done of the first steps.
  package struct FirstSteps: Sendable, Equatable {
    /// A device has had a push.
    package var wasDelivered = false
    /// The app's server has made one.
    package var wasCalled = false
    /// Whether it has callbacks.
    package var hasCallbacks = false

    /// Nothing.
    package init() {}
  }

  /// Pushes that are looked at for that, the latest.
  private static let firstLooks = 500

  /// A push of an app, nil if it has none of the ID.
  package func find(_ id: MessageID, in app: App) async -> Result<Found?, StorageError> {
    await store.read { transaction throws(StorageError) -> Found? in
      guard let row = try transaction.pushes.find(id: id), row.app == app.id else { return nil }
      let source = try transaction.pushes.source(of: id)
      return Found(row: row, source: source?.source ?? PushSource(), senderName: source?.name)
    }
  }

  /// Where a push comes from, of whatever app; nil if there is none of the ID.
  package func origin(of id: MessageID) async -> Result<PushOrigin?, StorageError> {
    await store.read { transaction throws(StorageError) in try transaction.pushes.origin(of: id) }
  }

  /// Pushes of an app, newest first: at most `limit`. No more than `looks` pushes are examined. `matches`, if
  /// given, checks those that pass the filter.
  package func list(
    of app: App, _ filter: PushFilter, limit: Int, looks: Int,
    matches: (@Sendable (PushSummary) -> Bool)? = nil
  ) async -> Result<PushHistory, StorageError> {
    await store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try transaction.pushes.history(of: app.id, filter, limit: limit, looks: looks, matches: matches)
    }
  }

  /// An app's latest pushes, and what it has done of the first steps.
  package func overview(
    of app: App, limit: Int
  ) async -> Result<(pushes: [PushSummary], steps: FirstSteps), StorageError> {
    await store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      func isThere(_ change: (inout PushFilter) -> Void) throws(StorageError) -> Bool {
        var filter = PushFilter()
        change(&filter)
        let found = try transaction.pushes.history(of: app.id, filter, limit: 1, looks: Self.firstLooks)
        return !found.pushes.isEmpty
      }
      var steps = FirstSteps()
      steps.wasDelivered = try isThere { $0.states = [.delivered] }
      steps.wasCalled = try isThere { $0.sender = .api }
      steps.hasCallbacks = try transaction.callbacks.setting(app: app.id) != nil
      let latest = try transaction.pushes.history(of: app.id, limit: limit, looks: limit)
      return (pushes: latest.pushes, steps: steps)
    }
  }
}
