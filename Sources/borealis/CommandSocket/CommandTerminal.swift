import BorealisBase
import CLinux
import Glibc
import Synchronization

/// Whoever has asked for a command: gets what it says, and has the files that it reads.
protocol CommandTerminal: Sendable {
  /// Writes to standard output or standard error.
  func write(_ text: String, isError: Bool)
  /// Reads a line without echo; nil if there is none.
  func password(_ prompt: String) -> String?
  /// Opens a file to be read from its begin to its end, in the place of the one that was open.
  func open(_ path: String) throws(Failure)
  /// The next bytes of the file; empty at its end.
  func read() throws(Failure) -> [UInt8]
}

extension CommandTerminal {
  /// Most bytes of a file that is read as a whole.
  private var largestFile: Int { 1 << 20 }

  /// A file of at most 1 MiB, without the byte order mark with which some editors begin texts.
  func contents(_ path: String) throws(Failure) -> [UInt8] {
    try open(path)
    var bytes: [UInt8] = []
    while bytes.count <= largestFile {
      let more = try read()
      if more.isEmpty { return bytes.withoutByteOrderMark }
      bytes += more
    }
    throw .failed("cannot read \(path): it has more than 1 MiB")
  }
}

/// The terminal and the files of this process.
final class ProcessTerminal: CommandTerminal {
  /// Bytes that are read at once.
  private static let chunk = 256 * 1024

  private let file = Mutex<(path: String, descriptor: Int32)>(("", -1))

  func write(_ text: String, isError: Bool) {
    let queue = isError ? OutputQueue.standardError : .standardOutput
    queue.write(Array(text.utf8))
  }

  func password(_ prompt: String) -> String? {
    BlockingCall.assertAllowed()
    var shown = termios()
    let isTerminal = tcgetattr(STDIN_FILENO, &shown) == 0
    if isTerminal {
      var hidden = shown
      hidden.c_lflag &= ~tcflag_t(ECHO)
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
      write(prompt, isError: true)
    }
    defer {
      if isTerminal {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
        write("\n", isError: true)
      }
    }
    return readLine()
  }

  func open(_ path: String) throws(Failure) {
    BlockingCall.assertAllowed()
    let opened = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw .failed("cannot read \(path): \(SystemCalls.reason(errno))") }
    file.withLock { file in
      if file.descriptor >= 0 { close(file.descriptor) }
      file = (path, opened)
    }
  }

  func read() throws(Failure) -> [UInt8] {
    let (path, descriptor) = file.withLock { $0 }
    var buffer = [UInt8](repeating: 0, count: Self.chunk)
    while true {
      let count = cl_read(descriptor, &buffer, buffer.count)
      if count == -Int(EINTR) { continue }
      guard count >= 0 else { throw .failed("cannot read \(path): \(SystemCalls.reason(Int32(-count)))") }
      return Array(buffer[..<count])
    }
  }
}
