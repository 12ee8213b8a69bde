import BorealisBase
import Storage
import Synchronization

/// Apps that have, or had, pushes with callbacks. Events of other apps are skipped without reading the
/// database.
package final class CallbackApps: Sendable {
  private let loaded: AppTable
  private let apps = Mutex<Set<AppID>>([])
  /// Grows with each change of an app's settings, so that settings read before are not applied after it.
  private let changeCount = Mutex(0)
  private let isFilled = Atomic<Bool>(false)

  init(_ loaded: AppTable) { self.loaded = loaded }

  /// Whether there are none.
  package var isEmpty: Bool { !isFilled.load(ordering: .relaxed) }

  /// Whether pushes of an app may have callbacks.
  package func contains(_ app: AppID) -> Bool { apps.withLock { $0.contains(app) } }

  private func insert(_ app: AppID) {
    apps.withLock { _ = $0.insert(app) }
    isFilled.store(true, ordering: .relaxed)
  }

  /// Reads what apps have set up for callbacks.
  func load(_ transaction: ReadTransaction, in rows: AppRows) throws(StorageError) {
    for app in try transaction.callbacks.apps(in: rows) { insert(app) }
    apply(try transaction.callbacks.settings(in: rows), readAt: changes)
  }

  /// Reads what an app has set up that is not in memory yet.
  func load(_ app: App, _ transaction: ReadTransaction) throws(StorageError) {
    if try transaction.callbacks.apps(in: .of(app.id)) == [app.id] { insert(app.id) }
    app.setCallbacks(try transaction.callbacks.setting(app: app.id))
  }

  /// Something has changed: settings that were read before must not be taken over any more.
  func noteChange() { changeCount.withLock { $0 += 1 } }

  /// How often something was changed.
  var changes: Int { changeCount.withLock { $0 } }

  /// Has pushes accepted from now on follow what an app has set up; nil for nothing.
  package func apply(_ setting: CallbackSettingRow?, of app: AppID) {
    changeCount.withLock { count in
      count += 1
      loaded.find(app)?.setCallbacks(setting)
    }
  }

  /// Applies the callback settings of apps; `settings` are those of all apps, read at a count of
  /// changes.
  func apply(_ settings: [CallbackSettingRow], readAt changes: Int) {
    let byApp = Dictionary(settings.map { ($0.app, $0) }) { first, _ in first }
    // Under one lock, so that no change comes between the look at the count and the last app.
    changeCount.withLock { count in
      guard count == changes else { return }
      for app in loaded.all { app.setCallbacks(byApp[app.id]) }
    }
  }

  /// Stores the callback settings of a push; none for most pushes.
  func note(
    _ push: NewPush, _ id: MessageID, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) {
    guard var row = app.callback(for: push.request) else { return }
    row.id = id
    try transaction.callbacks.insertPush(row, app: app.id)
    // Before anything becomes of the push.
    insert(app.id)
  }
}
