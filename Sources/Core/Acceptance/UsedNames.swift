import BorealisBase
import Storage

extension AcceptanceKind {
  /// The result of the first request with the same `cid`, nil if unknown: it takes no speed, and must not
  /// wait for any.
  func findFirst(in store: Store, _ found: @escaping @Sendable (Answer?) -> Void) {
    store.read { transaction throws(StorageError) in
      try first(in: transaction)
    } completion: { result in
      found((try? result.get()) ?? nil)
    }
  }
}

extension Router {
  /// Which of some names of pushes an app has used before; none if the database cannot be read. `found` is
  /// called on a reader's thread.
  package func usedNames(
    _ names: [String], of app: App, _ found: @escaping @Sendable (Set<ExactName>) -> Void
  ) {
    acceptance.store.read { transaction throws(StorageError) in
      try transaction.pushes.knownCIDs(names, app: app.id)
    } completion: { result in
      found((try? result.get()) ?? [])
    }
  }
}
