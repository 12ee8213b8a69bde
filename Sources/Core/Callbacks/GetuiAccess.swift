import BorealisBase
import BorealisCrypto
import Model
import Storage

/// The master secrets that apps call Getui's API with, and that receipts in its format are signed with.
package struct GetuiAccess: Sendable {
  let store: Store
  let keys: CallbackKeys
  let time: any TimeSource
  let log: Log

  /// Makes a master secret for an app, replacing a previous one. `done` gets it: it is shown only then. With
  /// `note` the same commit writes the audit log.
  package func make(
    for app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<String, CallbackError>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      SealingKeys.ids(of: try transaction.credentials.allSealed())
    } completion: { [self] result in
      guard case .success(let keysInUse) = result else { return done(.failure(.storage)) }
      let sealing: SealingKeys
      do throws(CallbackKeys.Failure) { sealing = try keys.readOrMake(keysInUse).get() } catch {
        log.error("cannot seal a master secret for Getui's API", ["reason": .text(error.message)])
        return done(.failure(.keys(error.message)))
      }
      let secret = GetuiSecret.generate()
      let row = GetuiAccessRow(
        app: app, secret: GetuiSecret.seal(secret, app: app, with: sealing), changedAt: now)
      store.write(of: app) { transaction throws(StorageError) in
        try transaction.getui.setAccess(row)
        if let note { try transaction.audit.add(note) }
      } completion: {
        done($0.map { secret }.mapError { _ in .storage })
      }
    }
  }

  /// Removes an app's access; false if it has none.
  package func remove(
    _ app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<Bool, CallbackError>) -> Void
  ) {
    store.write(of: app) { transaction throws(StorageError) in
      guard try transaction.getui.removeAccess(app: app) else { return false }
      if let note { try transaction.audit.add(note) }
      return true
    } completion: {
      done($0.mapError { _ in .storage })
    }
  }
}

extension CallbackService {
  /// The master secrets for Getui's API.
  package var getui: GetuiAccess { GetuiAccess(store: store, keys: keys, time: time, log: log) }
}
