import PushBase
import PushWire
import Synchronization

/// The part of a state file that belongs to one device. Used from the loop and from the app's threads.
final class DeviceState: Sendable {
  private let store: DeviceStore
  private let number: UInt32
  private let appKey: AppKey
  private let current = Mutex<RegistrationID?>(nil)

  init(store: DeviceStore, number: UInt32, appKey: AppKey) {
    self.store = store
    self.number = number
    self.appKey = appKey
  }

  /// The registration that is stored.
  var registrationID: RegistrationID? { current.withLock { $0 } }

  /// What is stored. A registration of another app is none.
  func load() -> StoredDevice {
    var stored = store.load(number)
    if stored.appKey != appKey { stored.identity = nil }
    let id = stored.identity?.registrationID
    current.withLock { $0 = id }
    return stored
  }

  @discardableResult
  func append(_ records: [StateRecord]) -> Bool { store.append(records, for: number) }

  /// Stores a registration durably, or that there is none.
  @discardableResult
  func store(_ identity: DeviceIdentity?) -> Bool {
    let record = identity.map { StateRecord.identity(appKey, $0) } ?? .noIdentity
    guard store.append([record], for: number, durable: true) else { return false }
    current.withLock { $0 = identity?.registrationID }
    return true
  }
}
