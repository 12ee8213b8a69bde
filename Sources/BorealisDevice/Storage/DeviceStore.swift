import BorealisBase
import BorealisProtocol

/// The state file, which devices keep across restarts. One file may hold many devices, each with its own
/// number.
///
/// It holds the registration and its secret, the fingerprint of the install, alias and tags, and which pushes
/// the app got and handled. It grows by records with a checksum and is rewritten (to a file beside it,
/// synced, then renamed) when it becomes too long. A record that a crash cut off is dropped at the next
/// start, and one that is damaged is passed over. Records that only another version of the library knows are
/// kept. Only one store can have a file open; only its owner may read it.
///
/// ## Each push once
/// A push passes four steps, in this order:
///
/// 1. it is recorded as *in hand* in the file;
/// 2. the app gets it and shows it;
/// 3. the app reports that, and it is recorded as *handled*;
/// 4. the acknowledgement is sent.
///
/// A record is one write(2): from then on it survives the process, even if that is killed. There is no fsync,
/// since only a crash of the whole system could undo it. If the process dies
///
/// * before 1, the server sends the push again, and the app has not seen it;
/// * between 1 and 3, the server sends it again, and the app gets it with `isRedelivered` set: it may or may
///   not have been shown, which the library cannot know, since showing it and recording that are two calls;
/// * after 3, the server may send it again, and it is acknowledged and dropped.
///
/// So no push is lost, and one without the mark is new. In normal operation only pushes between 1 and 3 at
/// the moment of a kill are marked. An app that remembers the message IDs it has seen and drops pushes that
/// are marked and known gets each push exactly once.
public final class DeviceStore: Sendable {
  /// A file below this size is never rewritten, in bytes.
  static let smallSize = 64 * 1024

  private let path: String
  /// Nil until the file is opened.
  private let content = DeviceLock<Content?>(nil)

  /// The state under the lock.
  private struct Content: ~Copyable {
    var file: StateFile
    /// State read at the start and not requested yet.
    var stored: [UInt32: StoredDevice]
    /// The file's size when it was last rewritten.
    var compactSize: Int

    mutating func compactIfLong() {
      if file.size > max(DeviceStore.smallSize, 4 * compactSize) { compact() }
    }

    /// Rewrites the file with the sum of its records. If that fails, the long one stays in use and grows on.
    @discardableResult
    mutating func compact() -> Bool {
      guard let bytes = file.records() else { return false }
      var compact: [UInt8] = []
      for (device, stored) in DeviceStore.sum(bytes).stored.sorted(by: { $0.key < $1.key }) {
        for record in stored.records { record.encode(device: device, into: &compact) }
        compact += stored.others
      }
      let isDone = file.replace(with: compact)
      compactSize = file.size
      return isDone
    }
  }

  /// Only keeps the path: `open` does the rest.
  public init(path: String) { self.path = path }

  /// Opens or creates the file, unless it is open. The first `start` of a device does the same.
  public func open() throws(DeviceSetUpError) {
    try content.withLock { content throws(DeviceSetUpError) in
      guard content == nil else { return }
      var file = try StateFile(path: path)
      guard let bytes = file.records() else { throw .state(path: path, reason: "cannot be read") }
      let (stored, end) = Self.sum(bytes)
      if end < bytes.count { file.keep(end) }
      content = Content(file: file, stored: stored, compactSize: 0)
    }
  }

  /// Adds up all undamaged records, and tells where the last one ends.
  private static func sum(_ bytes: [UInt8]) -> (stored: [UInt32: StoredDevice], end: Int) {
    var stored: [UInt32: StoredDevice] = [:]
    var (at, end) = (0, 0)
    while true {
      let start = at
      if let (device, record) = StateRecord.decode(bytes, at: &at) {
        if let record {
          stored[device, default: StoredDevice()].apply(record)
        } else {
          stored[device, default: StoredDevice()].others += bytes[start..<at]
        }
        end = at
      } else if let next = StateRecord.next(in: bytes, after: start) {
        at = next
      } else {
        return (stored, end)
      }
    }
  }

  /// The stored state of a device, which gets a fingerprint if it has none: one with its former registration
  /// ID, if it had one on another platform. Call once for each device.
  func load(_ device: UInt32, former: String? = nil) -> StoredDevice {
    var stored = content.withLock { $0?.stored.removeValue(forKey: device) } ?? StoredDevice()
    if stored.fingerprint.isEmpty {
      let named = former.map { Array("jpush:\($0)".utf8) }
      stored.fingerprint =
        named.flatMap { WireLimits.fingerprintBytes.contains($0.count) ? $0 : nil } ?? SystemRandom.bytes(16)
      // If this fails, the registration cannot be stored either, and is not used.
      append([.fingerprint(stored.fingerprint)], for: device)
    }
    return stored
  }

  /// What the file holds of a device now; nil if it is not open.
  func snapshot(of device: UInt32) -> StoredDevice? {
    content.withLock { $0?.file.records() }.map { Self.sum($0).stored[device] ?? StoredDevice() }
  }

  /// Adds records for a device; with `durable` they survive a crash of the system too. False when nothing was
  /// added.
  @discardableResult
  func append(_ records: [StateRecord], for device: UInt32, durable: Bool = false) -> Bool {
    var bytes: [UInt8] = []
    for record in records { record.encode(device: device, into: &bytes) }
    let new = bytes
    return content.withLock { content in
      guard content?.file.append(new, durable: durable) == true else { return false }
      content?.compactIfLong()
      return true
    }
  }

  /// Takes key pairs out of the file: a note that they are gone, and then the file is written anew without
  /// their bytes. False if either failed.
  func drop(_ keys: [ContentKeyID], for device: UInt32) -> Bool {
    var bytes: [UInt8] = []
    StateRecord.key(.dropped(keys)).encode(device: device, into: &bytes)
    let new = bytes
    return content.withLock { content in
      // With the note a later rewriting does it, if this one fails.
      guard content?.file.append(new, durable: true) == true else { return false }
      return content?.compact() == true
    }
  }
}
