import PushBase
import PushWire
import Synchronization

/// The state file: what devices keep across restarts. One file may hold many devices, each under a number of its own.
///
/// It holds the registration and its secret, the fingerprint of the install, alias and tags, and which pushes the app
/// has been given and has handled. It grows by records with a checksum and is rewritten (to a file beside it, synced,
/// then renamed) when it has become too long; a record that was cut off by a crash is dropped at the next start. Only
/// one store can have a file open; its owner alone may read it.
///
/// ## Each push once
/// A push passes four steps, in this order:
///
/// 1. it is noted as *in hand* in the file;
/// 2. the app gets it and shows it;
/// 3. the app says so, and it is noted as *handled*;
/// 4. the acknowledgement leaves.
///
/// A note is one write(2): from then on it outlives the process, even if that is killed. No fsync is done for it, since
/// nothing but a crash of the whole system could undo it. If the process dies
///
/// * before 1, the server sends the push again, and the app has not seen it;
/// * between 1 and 3, the server sends it again, and it is given to the app with `isRedelivered` set: it may or may not
///   have been shown, which nobody but its reader can know, since to show it and to note it are two calls;
/// * after 3, the server may send it again, and it is acknowledged and dropped.
///
/// So no push is lost, and one without the mark is a new one. In normal operation only pushes between 1 and 3 at the
/// moment of a kill are ever marked. A reader that remembers the message IDs it has seen and drops what is marked and
/// known has each push exactly once.
public final class DeviceStore: Sendable {
  /// A file below this size is never rewritten, in bytes.
  static let smallSize = 64 * 1024

  private let content: Mutex<Content>

  /// What the lock protects.
  private struct Content: ~Copyable {
    var file: StateFile
    /// What was read at the start and not asked for yet.
    var stored: [UInt32: StoredDevice]
    /// The file's size when it was written as a whole last.
    var compactSize: Int
  }

  /// Opens a file or makes it.
  public init(path: String) throws(DeviceSetUpError) {
    var file = try StateFile(path: path)
    guard let bytes = file.records() else { throw .state(path: path, reason: "cannot be read") }
    let (stored, end) = Self.sum(bytes)
    if end < bytes.count { file.keep(end) }
    content = Mutex(Content(file: file, stored: stored, compactSize: 0))
  }

  /// Adds up all records before the first damaged one.
  private static func sum(_ bytes: [UInt8]) -> (stored: [UInt32: StoredDevice], end: Int) {
    var stored: [UInt32: StoredDevice] = [:]
    var end = 0
    while let (device, record) = StateRecord.decode(bytes, at: &end) {
      stored[device, default: StoredDevice()].apply(record)
    }
    return (stored, end)
  }

  /// What is stored for a device, which gets a fingerprint if it has none: one that names the registration ID that it had
  /// on another platform, if it had one. To be called once for each device.
  func load(_ device: UInt32, former: String? = nil) -> StoredDevice {
    var stored = content.withLock { $0.stored.removeValue(forKey: device) } ?? StoredDevice()
    if stored.fingerprint.isEmpty {
      let named = former.map { Array("jpush:\($0)".utf8) }
      stored.fingerprint =
        named.flatMap { WireLimits.fingerprintBytes.contains($0.count) ? $0 : nil } ?? SystemRandom.bytes(16)
      // If this fails, the registration cannot be stored either, and is not used.
      append([.fingerprint(stored.fingerprint)], for: device)
    }
    return stored
  }

  /// Adds records for a device; with `durable` they outlive a crash of the system too. False when nothing was added.
  @discardableResult
  func append(_ records: [StateRecord], for device: UInt32, durable: Bool = false) -> Bool {
    var bytes: [UInt8] = []
    for record in records { record.encode(device: device, into: &bytes) }
    let new = bytes
    return content.withLock { content in
      guard content.file.append(new, durable: durable) else { return false }
      if content.file.size > max(Self.smallSize, 4 * content.compactSize) { Self.compact(&content) }
      return true
    }
  }

  /// Takes key pairs out of the file: a note that they are gone, and then the file is written anew without their bytes. False if
  /// either failed.
  func drop(_ keys: [ContentKeyID], for device: UInt32) -> Bool {
    var bytes: [UInt8] = []
    StateRecord.key(.dropped(keys)).encode(device: device, into: &bytes)
    let new = bytes
    return content.withLock { content in
      // With the note a later rewriting does it, if this one fails.
      guard content.file.append(new, durable: true) else { return false }
      return Self.compact(&content)
    }
  }

  /// Rewrites the file with the sum of its records. If that fails, the long one stays in use and grows on.
  @discardableResult
  private static func compact(_ content: inout Content) -> Bool {
    guard let bytes = content.file.records() else { return false }
    var compact: [UInt8] = []
    for (device, stored) in sum(bytes).stored.sorted(by: { $0.key < $1.key }) {
      for record in stored.records { record.encode(device: device, into: &compact) }
    }
    let isDone = content.file.replace(with: compact)
    content.compactSize = content.file.size
    return isDone
  }
}
