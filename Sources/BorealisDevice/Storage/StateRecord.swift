import BorealisBase
import BorealisProtocol

/// One record of a device in a state file:
///
///     device u32, kind u8, count of payload bytes u32, payload, CRC-32 of all before u32
///
/// Numbers are big-endian. A partly written or damaged record fails its CRC.
enum StateRecord: Hashable, Sendable {
  case fingerprint([UInt8])
  case identity(AppKey, DeviceIdentity)
  case noIdentity
  case wishes(DeviceWishes)
  /// Pushes that are about to be passed to the app.
  case inHand([MessageID])
  /// Pushes that the app has handled, or that were recalled before they came.
  case handled([MessageID])
  /// Pushes whose notification was shown, whatever the channel, or must not be shown any more. Only on iOS.
  /// Files of versions without APNs support have none.
  case notified([MessageID])
  /// A key for end-to-end encryption. Only on devices with such keys.
  case key(KeyRecord)

  private static let headBytes = 9
  private static let checkBytes = 4

  /// Appends the record of a device.
  func encode(device: UInt32, into output: inout [UInt8]) {
    var writer = ByteWriter(capacity: 64)
    writer.write(device)
    writer.write(kind)
    let payload = payload
    writer.write(UInt32(payload.count))
    writer.write(bytes: payload)
    writer.write(CRC32.of(writer.bytes[...]))
    output.append(contentsOf: writer.bytes)
  }

  /// Reads the record that starts at `start` and moves `start` past it. A record that only other versions
  /// know is nil. Nil for all, without moving `start`, when there is no complete and undamaged record.
  static func decode(_ bytes: [UInt8], at start: inout Int) -> (device: UInt32, record: StateRecord?)? {
    guard bytes.count - start >= headBytes + checkBytes else { return nil }
    var head = ByteReader(Array(bytes[start..<start + headBytes]))
    guard let device = head.read(UInt32.self), let kind = head.read(UInt8.self),
      let count = head.read(UInt32.self), bytes.count - start - headBytes - checkBytes >= Int(count)
    else { return nil }
    let payloadEnd = start + headBytes + Int(count)
    var check = ByteReader(Array(bytes[payloadEnd..<payloadEnd + checkBytes]))
    guard check.read(UInt32.self) == CRC32.of(bytes[start..<payloadEnd]) else { return nil }
    var payload = ByteReader(Array(bytes[start + headBytes..<payloadEnd]))
    start = payloadEnd + checkBytes
    let record = StateRecord(kind: kind, &payload)
    return (device, payload.remaining == 0 ? record : nil)
  }

  /// Where the first complete and undamaged record after a damaged one starts; nil if there is none.
  static func next(in bytes: [UInt8], after start: Int) -> Int? {
    (start..<bytes.count).dropFirst().first {
      var end = $0
      return decode(bytes, at: &end) != nil
    }
  }
}

// MARK: - Payloads
extension StateRecord {
  private var kind: UInt8 {
    switch self {
    case .fingerprint: 1
    case .identity: 2
    case .noIdentity: 3
    case .wishes: 4
    case .inHand: 5
    case .handled: 6
    case .notified: 7
    case .key(.own): 8
    case .key(.shared): 9
    case .key(.reported): 10
    case .key(.dropped): 11
    }
  }

  private var payload: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .fingerprint(let bytes): writer.write(bytes: bytes)
    case .identity(let appKey, let identity):
      writer.write(appKey.high)
      writer.write(appKey.low)
      writer.write(identity.registrationID.high)
      writer.write(identity.registrationID.low)
      writer.write(bytes: identity.secret.bytes)
    case .noIdentity: break
    case .wishes(let wishes):
      writer.write(UInt8(wishes.areKnownToServer ? 1 : 0))
      writer.write(UInt8(wishes.alias == nil ? 0 : 1))
      for text in [wishes.alias ?? ""] + wishes.tags.sorted() {
        writer.write(UInt8(clamping: text.utf8.count))
        writer.write(bytes: text.utf8.prefix(Int(UInt8.max)))
      }
    case .inHand(let ids), .handled(let ids), .notified(let ids):
      for id in ids { writer.write(id.rawValue) }
    case .key(.own(let kind, let bytes, let since)):
      writer.write(kind.rawValue)
      writer.write(since)
      writer.write(bytes: bytes)
    case .key(.shared(let id, let bytes)):
      writer.write(id.rawValue)
      writer.write(bytes: bytes)
    case .key(.reported(let text)): writer.write(bytes: text.utf8)
    case .key(.dropped(let ids)): for id in ids { writer.write(id.rawValue) }
    }
    return writer.bytes
  }

  private init?(kind: UInt8, _ payload: inout ByteReader) {
    switch kind {
    case 1:
      guard WireLimits.fingerprintBytes.contains(payload.remaining),
        let bytes = payload.read(count: payload.remaining)
      else { return nil }
      self = .fingerprint(bytes)
    case 2:
      guard let keyHigh = payload.read(UInt64.self), let keyLow = payload.read(UInt32.self),
        let high = payload.read(UInt64.self), let low = payload.read(UInt16.self),
        let secret = payload.read(count: WireLimits.secretBytes).flatMap({ DeviceSecret($0) })
      else { return nil }
      let id = RegistrationID(high: high, low: low)
      self = .identity(
        AppKey(high: keyHigh, low: keyLow), DeviceIdentity(registrationID: id, secret: secret))
    case 3: self = .noIdentity
    case 4:
      guard let known = payload.read(UInt8.self), let hasAlias = payload.read(UInt8.self),
        let alias = Self.text(&payload)
      else { return nil }
      var wishes = DeviceWishes(alias: hasAlias == 1 ? alias : nil, areKnownToServer: known == 1)
      while payload.remaining > 0 {
        guard let tag = Self.text(&payload) else { return nil }
        wishes.tags.insert(tag)
      }
      self = .wishes(wishes)
    case 5, 6, 7:
      var ids: [MessageID] = []
      while payload.remaining > 0 {
        guard let id = payload.read(UInt64.self) else { return nil }
        ids.append(MessageID(id))
      }
      self = kind == 5 ? .inHand(ids) : kind == 6 ? .handled(ids) : .notified(ids)
    case 8:
      guard let kind = payload.read(UInt8.self).flatMap({ DeviceKeyKind(rawValue: $0) }),
        let since = payload.read(Int64.self),
        payload.remaining == 32 + kind.pointSize + WireLimits.keyAuthBytes,
        let bytes = payload.read(count: payload.remaining)
      else { return nil }
      self = .key(.own(kind, bytes, since: since))
    case 9:
      guard let id = payload.read(UInt64.self), (1...WireLimits.maxCounted).contains(payload.remaining),
        let bytes = payload.read(count: payload.remaining)
      else { return nil }
      self = .key(.shared(ContentKeyID(id), bytes))
    case 10:
      guard (1...WireLimits.maxCounted).contains(payload.remaining),
        let text = payload.read(count: payload.remaining).flatMap({ Self.text($0) })
      else { return nil }
      self = .key(.reported(text))
    case 11:
      var ids: [ContentKeyID] = []
      while payload.remaining > 0 {
        guard let id = payload.read(UInt64.self) else { return nil }
        ids.append(ContentKeyID(id))
      }
      self = .key(.dropped(ids))
    default: return nil
    }
  }

  private static func text(_ payload: inout ByteReader) -> String? {
    guard let count = payload.read(UInt8.self), let bytes = payload.read(count: Int(count)) else {
      return nil
    }
    return text(bytes)
  }

  private static func text(_ bytes: [UInt8]) -> String? { try? bytes.withSpan { try String(validUTF8: $0) } }
}

/// The checksum of Ethernet and zip files (polynomial 0x04C11DB7, reflected).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var value = UInt32.max
    for byte in bytes { value = value >> 8 ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    return ~value
  }
}
