import BorealisBase
import BorealisCrypto

/// Keys that frames are sealed with: derived from the installation's secret keys, so that only its nodes have
/// them.
package struct FrameKeys: Sendable {
  /// The IDs of the secret keys, 8 bytes each, that of the current one first.
  let ids: [[UInt8]]
  /// One key for each of them.
  let keys: [[UInt8]]

  /// Derives them.
  package init(_ secret: SealingKeys) {
    ids = secret.ids.compactMap { Hex.decode($0) }
    keys = secret.macKeys(for: SealingKeys.Context(app: AppID.none, purpose: "frames between nodes"))
  }
}

/// Seals frames of one process, and opens those of others: AES-256-GCM. Not for several threads.
///
/// A sealed frame is a byte that begins no other frame, a version, the ID of the secret key, a salt, a number
/// and the ciphertext with its tag. The salt is random and the process's own, and so is the key that comes
/// from both: no number is used twice with a key. Whoever repeats a frame does what a bus may do.
struct FrameSeal {
  /// Why a frame is not opened.
  enum Refusal: Error {
    /// It is not sealed.
    case plain
    /// The secret key is not among those that are known.
    case unknownKey
    /// It was sealed with another key, or changed.
    case forged
  }

  private struct Source: Hashable {
    let id: [UInt8]
    let salt: [UInt8]
  }

  /// No frame that is not sealed begins with it: the names of clusters are shorter.
  static let mark: UInt8 = 0xff
  private static let version: UInt8 = 1
  private static let saltSize = 16
  private static let tagSize = 16
  /// Mark, version, key ID, salt and number.
  private static let headSize = 2 + 8 + saltSize + 8
  /// Bytes by which a frame grows.
  static let overhead = headSize + tagSize
  /// Keys of other processes that are kept; more are derived anew.
  private static let mostKept = 4096

  private let keys: FrameKeys
  private let head: [UInt8]
  private let own: AEADKey?
  private var number: UInt64 = 0
  private var others: [Source: AEADKey] = [:]

  init(_ keys: FrameKeys, salt: [UInt8] = SystemRandom.bytes(Self.saltSize)) {
    self.keys = keys
    head = [Self.mark, Self.version] + (keys.ids.first ?? []) + salt
    own = keys.keys.first.map { Self.derive($0, salt) }
  }

  private static func derive(_ key: [UInt8], _ salt: [UInt8]) -> AEADKey {
    AEADKey(HMAC.sha256(key: key, salt))
  }

  /// Seals a frame.
  mutating func seal(_ frame: [UInt8]) -> [UInt8] {
    guard let own else { return frame }
    number += 1
    let head = head + Self.bytes(number)
    return head + own.seal(frame, nonce: Self.nonce(number), context: head)
  }

  /// Opens a frame of any process.
  mutating func open(_ frame: [UInt8]) throws(Refusal) -> [UInt8] {
    guard frame.first == Self.mark else { throw .plain }
    guard frame.count >= Self.overhead, frame[1] == Self.version else { throw .forged }
    let source = Source(id: Array(frame[2..<10]), salt: Array(frame[10..<10 + Self.saltSize]))
    let key = try key(of: source)
    let head = Array(frame[..<Self.headSize])
    let nonce = [UInt8](repeating: 0, count: 4) + head.suffix(8)
    guard let opened = key.open(Array(frame[Self.headSize...]), nonce: nonce, context: head) else {
      throw .forged
    }
    // Only what is genuine takes memory.
    if others[source] == nil {
      if others.count >= Self.mostKept { others = [:] }
      others[source] = key
    }
    return opened
  }

  private func key(of source: Source) throws(Refusal) -> AEADKey {
    if let known = others[source] { return known }
    guard let index = keys.ids.firstIndex(of: source.id) else { throw .unknownKey }
    return Self.derive(keys.keys[index], source.salt)
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  private static func nonce(_ number: UInt64) -> [UInt8] {
    [UInt8](repeating: 0, count: 4) + bytes(number)
  }
}
