import BorealisBase
import BorealisCrypto
import Model
import Storage
import Synchronization

/// An API key of an app in memory.
package final class APIKey: Sendable {
  /// Row number.
  package let id: Int64
  /// What it is for.
  package let grant: APIKeyGrant
  fileprivate let digest: [UInt8]
  /// When a call last came with it, and which of these moments is stored; in milliseconds, 0 for never.
  private let lastUse: Atomic<Int64>
  private let storedUse: Atomic<Int64>

  fileprivate init(_ row: APIKeyRow) {
    (id, grant, digest) = (row.id, row.grant, row.secretHash)
    let use = row.lastUsedAt?.milliseconds ?? 0
    lastUse = Atomic(use)
    storedUse = Atomic(use)
  }

  /// Notes that a call came with it.
  package func noteUse(at now: Timestamp) { lastUse.max(now.milliseconds, ordering: .relaxed) }

  /// When a call last came with it; nil for never.
  package var lastUsedAt: Timestamp? {
    let moment = lastUse.load(ordering: .relaxed)
    return moment == 0 ? nil : Timestamp(milliseconds: moment)
  }

  /// The last use, if it is not stored.
  var unstoredUse: Timestamp? {
    let moment = lastUse.load(ordering: .relaxed)
    return moment > storedUse.load(ordering: .relaxed) ? Timestamp(milliseconds: moment) : nil
  }

  /// Notes that a use is stored.
  func noteStored(_ moment: Timestamp) { storedUse.max(moment.milliseconds, ordering: .relaxed) }
}

/// The API keys of an app that are not revoked, found by their secrets.
struct APIKeyRing: Sendable {
  /// By the first bytes of the digest. Nobody can choose these without knowing the secret, so that the time
  /// of a look-up says nothing about secrets.
  private var keys: [UInt64: APIKey] = [:]

  init(_ rows: [APIKeyRow]) { keep(rows) }

  var all: [APIKey] { Array(keys.values) }

  /// Takes over what is stored. Keys that stay keep what is known of their use.
  mutating func keep(_ rows: [APIKeyRow]) {
    guard !keys.isEmpty || !rows.isEmpty else { return }
    let known = Dictionary(uniqueKeysWithValues: keys.values.map { ($0.id, $0) })
    keys = [:]
    for row in rows { keys[Self.place(row.secretHash)] = known[row.id] ?? APIKey(row) }
  }

  /// The key with the digest of a secret, compared in constant time; nil if there is none.
  func find(_ digest: [UInt8]) -> APIKey? {
    guard let key = keys[Self.place(digest)], constantTimeEquals(digest, key.digest) else { return nil }
    return key
  }

  private static func place(_ digest: [UInt8]) -> UInt64 {
    var reader = ByteReader(digest)
    return reader.read() ?? 0
  }
}

extension App {
  /// When calls last came with its API keys, by their numbers.
  package var keyUses: [Int64: Timestamp] {
    keys.reduce(into: [:]) { uses, key in uses[key.id] = key.lastUsedAt }
  }
}

/// What a call of an app came with.
package enum AppCredential: Sendable {
  /// The master secret, or the one before.
  case master
  /// An API key, which may have expired.
  case key(APIKey)

  /// The key, if it is one.
  package var key: APIKey? {
    switch self {
    case .master: nil
    case .key(let key): key
    }
  }
}
