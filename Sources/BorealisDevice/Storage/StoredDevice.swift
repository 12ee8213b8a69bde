import BorealisBase
import BorealisProtocol

/// The state of one device in a state file: the sum of its records.
struct StoredDevice: Sendable {
  /// How many pushes in hand are remembered, the newest ones: more than a server sends without
  /// acknowledgements.
  static let mostInHand = 2048

  /// Records of keys that are kept before they are summed up.
  private static let mostKeys = 256

  /// Empty until one was made.
  var fingerprint: [UInt8] = []
  /// The app that the registration belongs to.
  var appKey: AppKey?
  var identity: DeviceIdentity?
  var wishes = DeviceWishes()
  /// Pushes that were passed to the app and not reported as handled.
  var inHand: Set<MessageID> = []
  var handled = RecentMessages()
  /// Pushes whose notification must not be shown any more.
  var notified = RecentMessages()
  /// Keys for end-to-end encryption, oldest first.
  var keys: [KeyRecord] = []
  /// Records, as they are in the file, that only other versions of the library know.
  var others: [UInt8] = []

  mutating func apply(_ record: StateRecord) {
    switch record {
    case .fingerprint(let bytes): fingerprint = bytes
    case .identity(let key, let new):
      appKey = key
      identity = new
    case .noIdentity: identity = nil
    case .wishes(let new): wishes = new
    case .inHand(let ids):
      inHand.formUnion(ids)
      // Message IDs grow with time; older pushes were recalled or have expired.
      if inHand.count > 2 * Self.mostInHand { inHand = Set(inHand.sorted().suffix(Self.mostInHand)) }
    case .handled(let ids):
      inHand.subtract(ids)
      for id in ids { handled.insert(id) }
    case .notified(let ids): for id in ids { notified.insert(id) }
    case .key(let record):
      keys.append(record)
      // Most are gone when there are many: the ring knows which.
      if keys.count > Self.mostKeys { keys = DeviceKeyRing(keys).records }
    }
  }

  /// Records that add up to the same.
  var records: [StateRecord] {
    var records: [StateRecord] = []
    if !fingerprint.isEmpty { records.append(.fingerprint(fingerprint)) }
    if let appKey, let identity { records.append(.identity(appKey, identity)) }
    if wishes != DeviceWishes() { records.append(.wishes(wishes)) }
    if handled.count > 0 { records.append(.handled(handled.oldestFirst)) }
    if notified.count > 0 { records.append(.notified(notified.oldestFirst)) }
    records += DeviceKeyRing(keys).records.map { .key($0) }
    if !inHand.isEmpty { records.append(.inHand(inHand.sorted())) }
    return records
  }
}
