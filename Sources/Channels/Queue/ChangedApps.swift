import BorealisBase
import Synchronization

/// The apps whose credentials have changed since a channel last looked.
package final class ChangedApps: Sendable {
  private let apps = Mutex<Set<AppID>>([])
  private let turn = Mutex(())

  /// Starts without any.
  package init() {}

  /// Notes an app.
  package func add(_ app: AppID) { _ = apps.withLock { $0.insert(app) } }

  /// Removes the apps noted so far and passes them to `update`, on one thread after the other: what is read
  /// last of an app's credentials counts.
  package func drainInTurn(_ update: (Set<AppID>) -> Void) {
    inTurn {
      let taken = apps.withLock { apps in
        defer { apps = [] }
        return apps
      }
      update(taken)
    }
  }

  /// Does what must not come in between: changes what a channel has for an app, or ends it.
  package func inTurn<Value>(_ update: () -> Value) -> Value { turn.withLock { _ in update() } }
}
