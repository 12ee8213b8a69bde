import BorealisBase
import Storage

/// What people did.
package struct AuditLog: Sendable {
  private let store: Store

  /// On an open store.
  package init(store: Store) { self.store = store }

  /// Entries before one that match a filter, newest first.
  package func list(
    _ scope: AuditScope, _ filter: AuditFilter = AuditFilter(), before: Int64?, limit: Int
  ) async -> Result<AuditList, StorageError> {
    await store.read { transaction throws(StorageError) in
      try transaction.audit.list(scope, filter, before: before, limit: limit)
    }
  }

  /// Adds an entry without another change. `done` is called when it is stored, or could not be.
  package func add(_ entry: AuditRow, done: @escaping @Sendable () -> Void) {
    store.write { transaction throws(StorageError) in
      try transaction.audit.add(entry)
    } completion: { _ in
      done()
    }
  }
}
