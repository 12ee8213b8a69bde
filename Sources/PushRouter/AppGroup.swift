import PushBase
import PushCrypto
import PushStorage

/// Apps that get pushes together, as they are now.
public struct AppGroup: Sendable {
  /// Row number.
  public let id: Int64
  /// Public key.
  public let key: AppKey
  /// Its apps, by key.
  public let apps: [App]
  private let secretHash: [UInt8]

  init(_ row: AppGroupRow, apps: [App]) {
    id = row.id
    key = row.key
    self.apps = apps
    secretHash = row.secretHash
  }

  /// Compares a master secret in constant time.
  public func accepts(masterSecret: [UInt8]) -> Bool {
    constantTimeEquals(SHA256.digest(masterSecret), secretHash)
  }
}
