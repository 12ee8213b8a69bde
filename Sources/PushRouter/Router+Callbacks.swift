import PushBase
import PushStorage
import Synchronization

/// Apps that have, or had, pushes of which their servers are told. What becomes of the pushes of all others is passed over
/// without a look at the database.
final class TellingApps: Sendable {
  private let apps = Mutex<Set<AppID>>([])
  /// Grows with each change of what an app has set up, so that what was read before it is not taken over after it.
  let changes = Atomic<Int>(0)

  private let isFilled = Atomic<Bool>(false)

  var isEmpty: Bool { !isFilled.load(ordering: .relaxed) }

  func insert(_ app: AppID) {
    apps.withLock { _ = $0.insert(app) }
    isFilled.store(true, ordering: .relaxed)
  }

  func contains(_ app: AppID) -> Bool { apps.withLock { $0.contains(app) } }
}

extension Router {
  /// Whether something may be told of pushes of any app.
  public var tellsAnybody: Bool { !telling.isEmpty }

  /// Whether something may be told of pushes of an app.
  public func tells(_ app: AppID) -> Bool { telling.contains(app) }

  /// Reads what apps have set up for callbacks. Blocks.
  func loadCallbacks() throws(StorageError) {
    let (apps, settings) = try wait { transaction throws(StorageError) in
      (try transaction.tellingApps(), try transaction.callbackSettings())
    }
    for app in apps { telling.insert(app) }
    takeOver(settings, readAt: telling.changes.load(ordering: .relaxed))
  }

  /// Has pushes accepted from now on follow what an app has set up; nil for nothing.
  public func takeOver(_ setting: CallbackSettingRow?, of app: AppID) {
    telling.changes.add(1, ordering: .sequentiallyConsistent)
    self.app(app)?.setCallbacks(setting)
  }

  /// Takes over what apps have set up for callbacks; `settings` are those of all apps, read at a count of changes.
  func takeOver(_ settings: [CallbackSettingRow], readAt changes: Int) {
    guard telling.changes.load(ordering: .sequentiallyConsistent) == changes else { return }
    let byApp = Dictionary(settings.map { ($0.app, $0) }) { first, _ in first }
    for app in loadedApps { app.setCallbacks(byApp[app.id]) }
  }

  /// Notes what is told of a push that is being stored; nothing for most.
  func storeCallback(
    of push: NewPush, _ id: MessageID, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) {
    guard var row = app.callback(for: push.request) else { return }
    row.id = id
    try transaction.insertPushCallback(row, app: app.id)
    // Before anything becomes of the push.
    telling.insert(app.id)
  }
}
