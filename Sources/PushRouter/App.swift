import PushBase
import PushCrypto

/// An app whose registrations are in memory.
public final class App: Sendable {
  /// Row number.
  public let id: AppID
  /// Public key.
  public let key: AppKey
  /// The operator's name for it.
  public let name: String
  /// Its registrations and what waits for them.
  public let directory: AppDirectory

  private let secretHash: [UInt8]

  /// Makes an app; `secretHash` is the SHA-256 of its master secret.
  public init(id: AppID, key: AppKey, name: String, secretHash: [UInt8]) {
    self.id = id
    self.key = key
    self.name = name
    self.secretHash = secretHash
    directory = AppDirectory(app: id)
  }

  /// Compares a master secret in constant time. Secrets are 96 random bits, so a plain digest is enough.
  public func accepts(masterSecret: [UInt8]) -> Bool {
    constantTimeEquals(SHA256.digest(masterSecret), secretHash)
  }
}
