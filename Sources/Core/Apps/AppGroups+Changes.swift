import BorealisBase
import Storage

/// Changes of app groups by people. Each change writes the audit log in the same commit; nil if the account
/// has no such group.
extension AppGroups {
  /// The groups of an account, and its apps.
  package func all(
    of account: AccountID
  ) async -> Result<(groups: [AppGroupRow], apps: [AppRow]), StorageError> {
    await store.read { transaction throws(StorageError) in
      (groups: try transaction.appGroups.all(of: account), apps: try transaction.apps.all(of: account))
    }
  }

  /// Makes a group with those of an account's apps whose keys are chosen.
  package func create(
    _ name: String, key: AppKey, secretHash: [UInt8], of account: AccountID, apps chosen: Set<String>,
    noting entry: AuditRow
  ) async -> Result<Void, StorageError> {
    await store.write { transaction throws(StorageError) in
      let group = try transaction.appGroups.create(
        key: key, name: name, secretHash: secretHash, account: account, at: entry.at)
      for app in try transaction.apps.all(of: account) where chosen.contains(app.key.text) {
        _ = try transaction.appGroups.addApp(app.key, toGroup: group)
      }
      try transaction.audit.add(entry)
    }
  }

  /// Has a group consist of those of its account's apps whose keys are chosen.
  package func setApps(
    _ chosen: Set<String>, of key: AppKey, in account: AccountID, noting entry: AuditRow
  ) async -> Result<AppGroupRow?, StorageError> {
    await change(key, in: account, noting: entry) { transaction, group throws(StorageError) in
      for app in try transaction.apps.all(of: account) {
        if chosen.contains(app.key.text) {
          _ = try transaction.appGroups.addApp(app.key, toGroup: group.id)
        } else {
          _ = try transaction.appGroups.removeApp(app.key, fromGroup: group.id)
        }
      }
    }
  }

  /// Gives a group another secret.
  package func setSecret(
    hash: [UInt8], of key: AppKey, in account: AccountID, noting entry: AuditRow
  ) async -> Result<AppGroupRow?, StorageError> {
    await change(key, in: account, noting: entry) { transaction, group throws(StorageError) in
      _ = try transaction.appGroups.setSecret(group: group.id, hash: hash)
    }
  }

  /// Deletes a group; its apps stay.
  package func delete(
    _ key: AppKey, in account: AccountID, noting entry: AuditRow
  ) async -> Result<AppGroupRow?, StorageError> {
    await change(key, in: account, noting: entry) { transaction, group throws(StorageError) in
      try transaction.appGroups.delete(group.id, at: entry.at)
    }
  }

  private func change(
    _ key: AppKey, in account: AccountID, noting entry: AuditRow,
    _ body: @escaping @Sendable (WriteTransaction, AppGroupRow) throws(StorageError) -> Void
  ) async -> Result<AppGroupRow?, StorageError> {
    await store.write { transaction throws(StorageError) -> AppGroupRow? in
      guard let group = try transaction.appGroups.find(key: key), group.account == account else {
        return nil
      }
      try body(transaction, group)
      try transaction.audit.add(entry)
      return group
    }
  }
}
