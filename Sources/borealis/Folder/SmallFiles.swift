import BorealisBase
import CLinux
import Glibc

/// Small files and variables.
enum SmallFiles {
  /// The text of a file of at most 1 MiB, without a byte order mark; nil if it cannot be read.
  static func read(_ path: String) -> String? {
    bytes(path).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// A file of at most 1 MiB, without a byte order mark; nil if it cannot be read.
  static func bytes(_ path: String) -> [UInt8]? { try? contents(path) }

  /// A file of at most 1 MiB, without the byte order mark with which some editors begin texts. No file of
  /// another kind begins so.
  static func contents(_ path: String) throws(Failure) -> [UInt8] {
    func failure(_ reason: String) -> Failure { .failed("cannot read \(path): \(reason)") }
    BlockingCall.assertAllowed()
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(SystemCalls.reason(errno)) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count <= 1 << 20 {
      let count = cl_read(descriptor, &buffer, buffer.count)
      if count == -Int(EINTR) { continue }
      if count == 0 { return bytes.withoutByteOrderMark }
      guard count > 0 else { throw failure(SystemCalls.reason(Int32(-count))) }
      bytes += buffer[..<count]
    }
    throw failure("it has more than 1 MiB")
  }

  /// Puts a file in the place of another, if there is one: at no moment is there half a file.
  static func replace(_ path: String, with text: String, mode: mode_t) throws(Failure) {
    BlockingCall.assertAllowed()
    let partial = path + ".new"
    unlink(partial)
    let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .failed("cannot write \(path): \(SystemCalls.reason(errno))") }
    defer { close(descriptor) }
    guard SystemCalls.writeAll(Array(text.utf8), to: descriptor), fsync(descriptor) == 0,
      rename(partial, path) == 0
    else {
      throw .failed("cannot write \(path): \(SystemCalls.reason(errno))")
    }
  }

  /// A variable of the environment, nil if it is not set.
  static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// The names of the variables that this process was started with.
  static var variableNames: [String] {
    (bytes("/proc/self/environ") ?? []).split(separator: 0).map { variable in
      String(decoding: variable.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }
  }
}
