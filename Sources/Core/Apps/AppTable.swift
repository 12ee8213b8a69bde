import BorealisBase
import Storage
import Synchronization

/// The apps in memory, found in both ways.
final class AppTable: Sendable {
  private struct Apps: Sendable {
    var byKey: [AppKey: App] = [:]
    var byID: [AppID: App] = [:]
    /// Those that were deleted: a row that was read before must not bring one back. No key is used twice.
    var deleted: Set<AppKey> = []
  }

  private let apps = Mutex(Apps())
  private let time: any TimeSource
  private let limits: PendingLimits

  init(time: any TimeSource, limits: PendingLimits) {
    self.time = time
    self.limits = limits
  }

  func find(_ key: AppKey) -> App? { apps.withLock { $0.byKey[key] } }

  func find(_ id: AppID) -> App? { apps.withLock { $0.byID[id] } }

  var count: Int { apps.withLock { $0.byKey.count } }

  var all: [App] { apps.withLock { Array($0.byKey.values) } }

  /// The app of a row, made if it is not in memory yet. That of one deleted meanwhile says so, and stays out
  /// of memory. Nil if it is not one of this home, or is no more or not yet: then it has registrations that
  /// are not in memory.
  func adopt(_ row: AppRow, in scope: HomeScope) -> App? {
    find(row.key) ?? adopt(make(row), in: scope)
  }

  /// The same for an app that was made.
  func adopt(_ new: App, in scope: HomeScope) -> App? {
    apps.withLock { apps in
      if let known = apps.byKey[new.key] { return known }
      guard scope.contains(new.id) else { return nil }
      guard !apps.deleted.contains(new.key) else {
        new.markDeleted()
        return new
      }
      apps.byKey[new.key] = new
      apps.byID[new.id] = new
      return new
    }
  }

  /// The app of a row, not to be found yet: its registrations are to be read first.
  func make(_ row: AppRow) -> App { App(row, limits: limits, at: time.now()) }

  /// Has an app be found from now on. One that was deleted meanwhile says so, and stays out of memory.
  func add(_ app: App) {
    apps.withLock { apps in
      guard !apps.deleted.contains(app.key) else { return app.markDeleted() }
      apps.byKey[app.key] = app
      apps.byID[app.id] = app
    }
  }

  /// Removes an app from memory until it is added again.
  func unload(_ key: AppKey) -> App? {
    apps.withLock { apps in
      let app = apps.byKey.removeValue(forKey: key)
      if let app { apps.byID[app.id] = nil }
      return app
    }
  }

  /// Removes a deleted app from memory for good.
  func remove(_ key: AppKey) -> App? {
    apps.withLock { apps in
      apps.deleted.insert(key)
      let app = apps.byKey.removeValue(forKey: key)
      if let app { apps.byID[app.id] = nil }
      return app
    }
  }
}
