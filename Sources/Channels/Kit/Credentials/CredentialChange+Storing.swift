import BorealisBase
import Core
import Storage

extension CredentialRepository<Writing> {
  /// Does with a credential what somebody wants; false if it is gone.
  func apply(
    _ change: CredentialChange, to row: CredentialRow, at now: Timestamp
  ) throws(StorageError) -> Bool {
    switch change {
    case .remove: try remove(app: row.app, id: row.id, at: now)
    case .pause(let name):
      try pause(app: row.app, id: row.id, reason: String(pauseReason: "by \(name)"), at: now)
    case .resume: try resume(app: row.app, id: row.id, at: now)
    }
  }
}
