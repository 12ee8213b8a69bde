import BorealisBase
import BorealisCrypto
import Storage

/// Apps that get pushes together, as they are now.
package struct AppGroup: Sendable {
  /// Row number.
  package let id: Int64
  /// Public key.
  package let key: AppKey
  /// Its apps, by key.
  package let apps: [App]
  private let secretHash: [UInt8]

  init(_ row: AppGroupRow, apps: [App]) {
    id = row.id
    key = row.key
    self.apps = apps
    secretHash = row.secretHash
  }

  /// Compares a master secret in constant time.
  package func accepts(masterSecret: [UInt8]) -> Bool {
    constantTimeEquals(SHA256.digest(masterSecret), secretHash)
  }
}
