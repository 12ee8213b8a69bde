import BorealisBase
import Storage

/// The groups of apps that get pushes together.
package struct AppGroups: Sendable {
  let store: Store
  let apps: Apps

  /// The group behind a key, nil if there is none. Asked of the database each time, so that what another
  /// process changes counts at once. One with an app that has another home, or none yet, is unavailable.
  /// `found` is called on a reader's thread or this one.
  package func find(
    _ key: AppKey, found: @escaping @Sendable (Result<AppGroup?, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> (AppGroupRow, [AppRow])? in
      guard let group = try transaction.appGroups.find(key: key) else { return nil }
      var apps: [AppRow] = []
      for key in group.apps {
        if let app = try transaction.apps.find(key: key) { apps.append(app) }
      }
      return (group, apps)
    } completion: { [self] result in
      switch result {
      case .failure: found(.failure(.unavailable))
      case .success(nil): found(.success(nil))
      case .success(let (group, rows)?): apps.bring(rows) { found($0.map { AppGroup(group, apps: $0) }) }
      }
    }
  }
}
