import BorealisBase
import BorealisCrypto

/// The keys of one device for end-to-end encryption (Docs/encryption.md). It has no clock and no storage: the
/// caller passes Unix seconds in and stores new keys.
struct DeviceKeyRing: Sendable {
  /// Seconds for which an old key still decrypts pushes: no push is kept for longer than ten days.
  static let oldKeyLife: Int64 = 11 * 86_400
  /// The most old keys at a time; another rotation is refused until one of them has expired.
  static let mostOldKeys = 16
  /// The most shared keys, of which the newest are kept; the server keeps as many.
  static let mostShared = 32

  /// A key pair and the time since when the server has it, or a later one; until then, when it was made.
  struct Own: Sendable {
    let key: DevicePrivateKey
    let since: Int64
  }

  /// Oldest first; the last is sent to the server.
  private(set) var own: [Own] = []
  /// Oldest first.
  private(set) var shared: [ContentKey] = []
  /// The registration and the key that the server knows, as one text.
  private(set) var reported = ""

  init() {}

  /// Makes the ring from stored keys. Keys that cannot be read are ignored.
  init(_ records: [KeyRecord]) {
    for record in records { apply(record) }
  }

  private mutating func apply(_ record: KeyRecord) {
    switch record {
    case .own(let kind, let bytes, let since):
      guard let key = try? DevicePrivateKey(kind: kind, bytes: bytes) else { return }
      // Stored again when the server has it.
      if let index = index(of: key.publicKey.id) {
        own[index] = Own(key: key, since: since)
      } else {
        own.append(Own(key: key, since: since))
      }
    case .shared(let id, let bytes):
      if let key = ContentKey(id: id, bytes: bytes) { add(key) }
    case .reported(let text): reported = text
    case .dropped(let ids): own.removeAll { ids.contains($0.key.publicKey.id) }
    }
  }

  private func index(of id: ContentKeyID) -> Int? { own.firstIndex { $0.key.publicKey.id == id } }

  /// The place of the key that the server knows, nil if it knows none of them.
  private var reportedIndex: Int? { own.lastIndex { reported.hasSuffix(" \($0.key.publicKey.id.text)") } }

  /// The public key.
  var publicKey: DevicePublicKey? { own.last?.key.publicKey }

  /// Makes a key that replaces the last one; nil if there are too many old ones.
  mutating func rotate(_ kind: DeviceKeyKind, at now: Int64) -> KeyRecord? {
    dropOld(at: now)
    guard own.count <= Self.mostOldKeys, let key = try? DevicePrivateKey(kind) else { return nil }
    own.append(Own(key: key, since: now))
    return .own(kind, key.bytes, since: now)
  }

  /// An old key ends some time after the server knew a later one: no push that is kept needs it then. The key
  /// that the server knows never ends, since app servers still encrypt for it. Returns the IDs of those that
  /// end now.
  @discardableResult
  mutating func dropOld(at now: Int64) -> [ContentKeyID] {
    var ended: [ContentKeyID] = []
    while let known = reportedIndex, known > 0, own[1].since + Self.oldKeyLife <= now {
      ended.append(own.removeFirst().key.publicKey.id)
    }
    return ended
  }

  /// Removes a key that the server has refused, unless it is the only one. Returns whether it is gone.
  mutating func discard(_ id: ContentKeyID) -> Bool {
    guard own.count > 1, let index = own.lastIndex(where: { $0.key.publicKey.id == id }) else { return false }
    own.remove(at: index)
    return true
  }

  /// Records that the server has the last key for a registration: from now on those before it are old.
  /// Returns what to store.
  mutating func noteReported(to registration: String, at now: Int64) -> [KeyRecord] {
    let news = (reportedIndex.map { $0 + 1 } ?? 0)..<own.count
    for index in news { own[index] = Own(key: own[index].key, since: now) }
    reported = Self.mark(registration, publicKey)
    return own[news].map { .own($0.key.kind, $0.key.bytes, since: $0.since) } + [.reported(reported)]
  }

  /// Whether the last key must be sent to the server.
  func needsReport(to registration: String) -> Bool { reported != Self.mark(registration, publicKey) }

  private static func mark(_ registration: String, _ key: DevicePublicKey?) -> String {
    "\(registration) \(key?.id.text ?? "")"
  }

  /// Adds a shared key from the server, encrypted for one of the device's keys. Nil if it is for none of
  /// them.
  mutating func add(_ id: ContentKeyID, sealed: [UInt8]) -> KeyRecord? {
    for own in own.reversed() {
      if let bytes = try? own.key.open(sealed), let key = ContentKey(id: id, bytes: bytes) {
        add(key)
        return .shared(id, bytes)
      }
    }
    return nil
  }

  private mutating func add(_ key: ContentKey) {
    shared.removeAll { $0.id == key.id }
    shared.append(key)
    if shared.count > Self.mostShared { shared.removeFirst() }
  }

  /// The records to store.
  var records: [KeyRecord] {
    own.map { .own($0.key.kind, $0.key.bytes, since: $0.since) } + shared.map { .shared($0.id, $0.bytes) }
      + (reported.isEmpty ? [] : [.reported(reported)])
  }
}

/// A change of a key ring that is stored.
enum KeyRecord: Hashable, Sendable {
  /// A key pair, used since a time in Unix seconds.
  case own(DeviceKeyKind, [UInt8], since: Int64)
  /// A key that the app server shares with the device.
  case shared(ContentKeyID, [UInt8])
  /// The registration and the key that the server knows.
  case reported(String)
  /// Key pairs that are gone.
  case dropped([ContentKeyID])
}

// MARK: - Contents
extension DeviceKeyRing {
  /// Seconds for which a push is kept that does not say it: JPush's default.
  static let unknownLife: Int64 = 86_400
  /// Seconds for which any push is kept at most.
  static let longestLife: Int64 = 10 * 86_400

  /// What a push comes to.
  enum Reading: Equatable, Sendable {
    /// Nothing of it is encrypted.
    case plain
    /// Its content, and the key that decrypted it.
    case opened([UInt8], ContentKeyID)
    /// The key that it needs is shared with others and not there yet; with the seconds for which the server
    /// keeps the push, counted from its acceptance.
    case missing(ContentKeyID, seconds: Int64)
    /// It will never be read.
    case failed(ContentKeyID, ContentError)
  }

  /// Decrypts the encrypted parts of a push: all of them, or none.
  func read(_ content: [UInt8]) -> Reading {
    guard var object = (try? parseJSON(content))?.object else { return .plain }
    var last: ContentKeyID?
    for part in ["notification", "message"] {
      guard let encrypted = object[part]?["encrypted"] else { continue }
      guard let id = encrypted["key"]?.string.flatMap({ ContentKeyID($0) }) else {
        return .failed(ContentKeyID(0), .malformed)
      }
      guard let data = encrypted["data"]?.string.flatMap({ Base64.decode($0.utf8) }),
        let header = ContentCoding.Header(data)
      else { return .failed(id, .malformed) }
      do throws(ContentError) {
        let plain = try open(data, header, id)
        guard let opened = try? parseJSON(plain), opened.object != nil else { return .failed(id, .malformed) }
        object.set(part, opened)
      } catch {
        // A shared key may still arrive; a lost key pair of this device does not come back.
        let isShared = header.keyName == id.bytes
        guard error == .unknownKey, isShared else { return .failed(id, error) }
        let seconds = encrypted["ttl"]?.int64 ?? Self.unknownLife
        return .missing(id, seconds: min(max(0, seconds), Self.longestLife))
      }
      last = id
    }
    guard let last else { return .plain }
    return .opened(JSONWriter.serialize(.object(object)), last)
  }

  private func open(
    _ data: [UInt8], _ header: ContentCoding.Header, _ id: ContentKeyID
  ) throws(ContentError) -> [UInt8] {
    if header.keyName == id.bytes {
      guard let key = shared.last(where: { $0.id == id }) else { throw .unknownKey }
      return try key.open(data)
    }
    guard let own = own.last(where: { $0.key.publicKey.id == id }) else { throw .unknownKey }
    return try own.key.open(data)
  }
}
