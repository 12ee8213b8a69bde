import Glibc

/// The file of the write-ahead log, kept longer than what SQLite has written to it.
///
/// The sync of a file that has grown also writes its new size, which takes a commit of the file system: a
/// transaction then costs up to twice as much. So the file grows by large steps of zeros, and nearly all
/// commits only overwrite. SQLite ignores what follows the last valid frame (sqlite.org/fileformat2.html,
/// section 4.1).
final class LogFile {
  /// Bytes by which the file grows.
  private static let step = 4 << 20
  private static let headerSize = 32
  private static let frameSize = 24 + 4096

  private let descriptor: Int32
  /// No further try below this size, because the disk is full.
  private var resumeAt = 0
  /// The file's size when it was last looked at, and the pages that were in use.
  private var known = (size: 0, pages: 0)

  /// Opens the log of a database in WAL mode, which exists as long as a connection to it is open.
  init(database path: String) throws(StorageError) {
    descriptor = open(path + "-wal", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(.io, "cannot open the write-ahead log (errno \(errno))") }
  }

  deinit { close(descriptor) }

  /// Makes the file longer when the end of its `pages` pages comes near. Only within a write transaction,
  /// since else another process may write there. What fails here fails again, and with consequences, when
  /// SQLite writes.
  func reserve(after pages: Int) {
    let used = Self.headerSize + pages * Self.frameSize
    // SQLite shortens it only when it begins from the start again.
    if pages >= known.pages, known.size >= used + Self.step / 4 {
      known.pages = pages
      return
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    let size = Int(status.st_size)
    known = (size, pages)
    guard size < used + Self.step / 4, used >= resumeAt else { return }
    // Small enough for malloc to keep: after freeing a large one it would return memory to the system less
    // readily.
    let zeros = [UInt8](repeating: 0, count: 64 * 1024)
    for offset in stride(from: size, to: size + Self.step, by: zeros.count)
    where pwrite(descriptor, zeros, zeros.count, off_t(offset)) != zeros.count {
      resumeAt = used + Self.step
      return
    }
  }
}
