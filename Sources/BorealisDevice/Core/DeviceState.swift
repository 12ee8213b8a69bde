import BorealisBase
import BorealisProtocol

/// The part of a state file that belongs to one device. Used from the loop and from the app's threads.
final class DeviceState: Sendable {
  private let store: DeviceStore
  private let number: UInt32
  let appKey: AppKey
  private let current = DeviceLock<RegistrationID?>(nil)
  private let notifications = DeviceLock(Notifications())

  /// Notifications that the app shows, or has shown.
  private struct Notifications {
    /// Shown already, or must not be shown any more.
    var settled = RecentMessages()
    /// Passed to the app with a push that came over the direct connection.
    var inHand: Set<MessageID> = []
  }

  init(store: DeviceStore, number: UInt32, appKey: AppKey) {
    self.store = store
    self.number = number
    self.appKey = appKey
  }

  /// The registration that is stored.
  var registrationID: RegistrationID? { current.withLock { $0 } }

  /// Opens the state file.
  func open() throws(DeviceSetUpError) { try store.open() }

  /// The stored state. A registration of another app is ignored.
  func load(former: String? = nil) -> StoredDevice {
    var stored = store.load(number, former: former)
    if stored.appKey != appKey { stored.identity = nil }
    let id = stored.identity?.registrationID
    current.withLock { $0 = id }
    notifications.withLock { $0.settled = stored.notified }
    return stored
  }

  /// What is stored now; nil before the file is open.
  func snapshot() -> StoredDevice? {
    guard var stored = store.snapshot(of: number) else { return nil }
    if stored.appKey != appKey { stored.identity = nil }
    return stored
  }

  @discardableResult
  func append(_ records: [StateRecord]) -> Bool { store.append(records, for: number) }

  /// Stores a key durably.
  func store(_ key: KeyRecord) -> Bool { store.append([.key(key)], for: number, durable: true) }

  /// Takes keys out of the file, with their bytes. False if that failed: they may still be there, and are not
  /// used.
  func drop(_ keys: [ContentKeyID]) -> Bool { store.drop(keys, for: number) }

  /// Stores a registration durably, or that there is none.
  @discardableResult
  func store(_ identity: DeviceIdentity?) -> Bool {
    let record = identity.map { StateRecord.identity(appKey, $0) } ?? .noIdentity
    guard store.append([record], for: number, durable: true) else { return false }
    current.withLock { $0 = identity?.registrationID }
    return true
  }
}

// MARK: - Pushes and their notifications
extension DeviceState {
  /// Whether the notification of a push was shown, or must not be shown any more.
  func isSettled(_ id: MessageID) -> Bool { notifications.withLock { $0.settled.contains(id) } }

  /// Records that the app is about to get a push with a notification to show.
  func noteNotification(inHand id: MessageID) {
    notifications.withLock { _ = $0.inHand.insert(id) }
  }

  /// Records that a notification is shown, or need not be. False if that was recorded before, or if the app
  /// has the notification in hand.
  @discardableResult
  func settle(_ id: MessageID) -> Bool {
    let (isNew, isInHand) = notifications.withLock { ($0.settled.insert(id), $0.inHand.contains(id)) }
    if isNew { append([.notified([id])]) }
    return isNew && !isInHand
  }

  /// Records that the app has handled a push, and so has shown its notification.
  func noteHandled(_ id: MessageID) {
    let isShownNow = notifications.withLock { state in
      state.inHand.remove(id) != nil && state.settled.insert(id)
    }
    append(isShownNow ? [.handled([id]), .notified([id])] : [.handled([id])])
  }
}
