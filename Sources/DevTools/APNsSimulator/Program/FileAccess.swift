import BorealisBase
import Glibc

/// Small files.
enum FileAccess {
  /// A file's bytes, at most 256 KiB; nil if it cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256 * 1024)
    var count = 0
    while count < bytes.count {
      let more = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { return nil }
      if more == 0 { break }
      count += more
    }
    return Array(bytes[..<count])
  }

  /// Writes a file that only its owner can read, or everybody.
  static func write(_ path: String, _ bytes: [UInt8], isSecret: Bool) throws(ToolFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isSecret ? 0o600 : 0o644)
    guard descriptor >= 0 else { throw .failed("cannot write \(path): \(SystemCalls.reason(errno))") }
    defer { close(descriptor) }
    guard SystemCalls.writeAll(bytes, to: descriptor) else {
      throw .failed("cannot write \(path): \(SystemCalls.reason(errno))")
    }
  }
}
