import BorealisBase
import CLinux
import Glibc
import Synchronization

/// A lock on the database file itself, which cannot be removed without removing the database. It is
/// independent of SQLite's own locks; but closing any descriptor of the database would end those of this
/// process, so the file stays open, and locked, until the process ends.
struct DatabaseLock {
  private let file: Int32

  private static let files = Mutex<[String: Int32]>([:])

  /// Opens the file, once in the life of this process; nil if it cannot be written.
  init?(_ path: String) {
    let file = Self.files.withLock { files in
      if let known = files[path] { return known }
      BlockingCall.assertAllowed()
      let opened = open(path, O_RDWR | O_CLOEXEC)
      if opened >= 0 { files[path] = opened }
      return opened
    }
    guard file >= 0 else { return nil }
    self.file = file
  }

  /// That of another process, which shares it with this one: it lasts until both have ended.
  static func share(_ descriptor: Int32, of path: String) { files.withLock { $0[path] = descriptor } }

  /// What shares the lock with another process.
  var descriptor: Int32 { file }

  /// Acquires the lock; a negated errno, EAGAIN if another process has it.
  func acquire() -> Int32 { cl_lock_file(file) }

  /// Gives it back.
  func release() { _ = cl_unlock_file(file) }

  /// Which file is locked.
  var identity: FileIdentity? { FileIdentity { fstat(file, &$0) } }

  /// Whether another process has it.
  var isHeld: Bool { cl_is_file_locked(file) > 0 }
}
