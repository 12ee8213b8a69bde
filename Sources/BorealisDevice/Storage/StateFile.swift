#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that grows by complete records, and is replaced when it becomes too long. Locked against other
/// processes while it is open, readable by its owner only. Not thread-safe.
struct StateFile: ~Copyable {
  /// Every state file starts with this; the last byte is the version of the format.
  static let header: [UInt8] = Array("BRLSDEV".utf8) + [1]

  private let path: String
  private var descriptor: Descriptor
  /// The position of the next record. Bytes after it were written incompletely.
  private(set) var size: Int

  /// Opens or creates the file and locks it.
  init(path: String) throws(DeviceSetUpError) {
    let descriptor = try Self.openLocked(path)
    guard let content = Self.read(descriptor.raw) else { throw Self.failure(path) }
    let isUnfinished = content.count < Self.header.count && Self.header.starts(with: content)
    if isUnfinished {
      // New, or its first process ended while it wrote the header.
      guard Self.write(Self.header, to: descriptor.raw, at: 0), Self.sync(descriptor.raw) else {
        throw Self.failure(path)
      }
      Self.syncFolder(of: path)
    } else {
      guard content.starts(with: Self.header) else { throw .noStateFile(path: path) }
    }
    self.path = path
    self.descriptor = descriptor
    size = isUnfinished ? Self.header.count : content.count
  }

  /// Everything in the file after the header; nil if it cannot be read.
  func records() -> [UInt8]? {
    Self.read(descriptor.raw).map { [size] in Array($0.prefix(size).dropFirst(Self.header.count)) }
  }

  /// Drops everything after the first `count` bytes of `records()`.
  mutating func keep(_ count: Int) {
    size = Self.header.count + count
    _ = ftruncate(descriptor.raw, off_t(size))
  }

  /// Adds records. When this returns true they survive the process, however it ends; with `durable` they
  /// survive a crash of the system as well. When it returns false nothing was added.
  mutating func append(_ bytes: [UInt8], durable: Bool) -> Bool {
    guard Self.write(bytes, to: descriptor.raw, at: size), !durable || Self.sync(descriptor.raw) else {
      // A part may have been written: it must not remain between this record and the next.
      _ = ftruncate(descriptor.raw, off_t(size))
      return false
    }
    size += bytes.count
    return true
  }

  /// Replaces all records. Whatever happens, the file has either the old or the new ones.
  mutating func replace(with records: [UInt8]) -> Bool {
    let temporary = path + ".new"
    let new = Descriptor(open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
    guard new.raw >= 0 else { return false }
    let bytes = Self.header + records
    // Locked before it gets its name, so that no other process can lock it first.
    guard flock(new.raw, LOCK_EX | LOCK_NB) == 0, Self.write(bytes, to: new.raw, at: 0), Self.sync(new.raw),
      rename(temporary, path) == 0
    else {
      unlink(temporary)
      return false
    }
    Self.syncFolder(of: path)
    descriptor = new
    size = bytes.count
    return true
  }
}

/// Closes a file when it is released.
private struct Descriptor: ~Copyable {
  let raw: Int32

  init(_ raw: Int32) { self.raw = raw }

  deinit { if raw >= 0 { close(raw) } }
}

// MARK: - System calls
extension StateFile {
  private static func openLocked(_ path: String) throws(DeviceSetUpError) -> Descriptor {
    // Another process may replace the file between open and lock: then the lock is on a file without a name.
    for _ in 0..<100 {
      let descriptor = Descriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
      guard descriptor.raw >= 0 else { throw failure(path) }
      guard flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 else {
        throw errno == EWOULDBLOCK ? .stateInUse(path: path) : failure(path)
      }
      var opened = stat()
      var named = stat()
      guard fstat(descriptor.raw, &opened) == 0 else { throw failure(path) }
      guard opened.st_mode & S_IFMT == S_IFREG else { throw .noStateFile(path: path) }
      if stat(path, &named) == 0, opened.st_ino == named.st_ino, opened.st_dev == named.st_dev {
        return descriptor
      }
    }
    throw .stateInUse(path: path)
  }

  private static func failure(_ path: String) -> DeviceSetUpError {
    .state(path: path, reason: String(cString: strerror(errno)))
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(count))
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { break }
      count += got
    }
    return Array(bytes.prefix(count))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int) -> Bool {
    var count = 0
    while count < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(offset + count))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      count += written
    }
    return true
  }

  /// Makes what was written durable.
  private static func sync(_ descriptor: Int32) -> Bool {
    #if canImport(Glibc)
      fdatasync(descriptor) == 0
    #else
      // On Apple's systems fsync leaves the bytes in the disk's cache.
      fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
    #endif
  }

  /// Makes the file's name durable. Nothing can be done about a failure.
  private static func syncFolder(of path: String) {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { path[...$0] } ?? "."
    let descriptor = open(String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
  }
}
