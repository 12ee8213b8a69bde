import PushBase
import PushCrypto
import PushStorage
import Synchronization

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

  private struct Access: Sendable {
    var secretHash: [UInt8]
    var isDisabled: Bool
  }

  private let access: Mutex<Access>
  private let environments = Atomic<UInt8>(0)

  init(_ row: AppRow, pendingLimit: UInt32) {
    id = row.id
    key = row.key
    name = row.name
    access = Mutex(Access(secretHash: row.secretHash, isDisabled: row.isDisabled))
    directory = AppDirectory(app: row.id, pendingLimit: pendingLimit)
  }

  /// The services of Apple's that the app has credentials for; set by the channel to Apple.
  public var apnsEnvironments: APNsEnvironments {
    get { APNsEnvironments(rawValue: environments.load(ordering: .relaxed)) }
    set { environments.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Compares a master secret in constant time. Secrets are 96 random bits, so a plain digest is enough.
  public func accepts(masterSecret: [UInt8]) -> Bool {
    constantTimeEquals(SHA256.digest(masterSecret), access.withLock { $0.secretHash })
  }

  /// Whether the operator has turned the app off: its requests and devices are refused.
  public var isDisabled: Bool { access.withLock { $0.isDisabled } }

  /// Takes over what the operator may have changed; returns whether the app was turned off just now.
  func update(_ row: AppRow) -> Bool {
    access.withLock { access in
      let wasDisabled = access.isDisabled
      access = Access(secretHash: row.secretHash, isDisabled: row.isDisabled)
      return row.isDisabled && !wasDisabled
    }
  }
}
