import CLinux
import Glibc

/// A program that the bench has started. It dies with the bench, whatever way that ends.
final class ServerProcess {
  let identifier: pid_t
  private let output: Int32
  private var unread: [UInt8] = []
  private var hasEnded = false

  /// Starts a program through `executable`, the running `borealis` (see `BenchHelper`). Standard error is
  /// appended to a file.
  init(_ program: String, _ arguments: [String], executable: String, log: String) throws(BenchError) {
    var pipe: [Int32] = [0, 0]
    guard Glibc.pipe(&pipe) == 0 else { throw .system(call: "pipe", number: errno) }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = pipe[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    let words = [executable, BenchHelper.name, BenchHelper.execute, program] + arguments
    var vector = words.map { strdup($0) } + [nil]
    defer { for word in vector { free(word) } }
    var identifier: pid_t = 0
    let status = posix_spawn(&identifier, executable, &actions, nil, &vector, environ)
    close(pipe[1])
    guard status == 0 else {
      close(output)
      throw .system(call: "posix_spawn \(program)", number: status)
    }
    self.identifier = identifier
  }

  deinit {
    stop(SIGKILL)
    close(output)
  }

  /// The next line of its standard output.
  func readLine(seconds: Int) throws(BenchError) -> String {
    let deadline = cl_monotonic_ns() + UInt64(seconds) * 1_000_000_000
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let now = cl_monotonic_ns()
      guard now < deadline else { throw .timedOut("no line from a server") }
      var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, Int32((deadline - now) / 1_000_000) + 1) > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = cl_read(output, &buffer, buffer.count)
      guard count > 0 else { throw .unexpected("a server ended before it was ready") }
      unread += buffer[..<count]
    }
  }

  /// Sends a signal and waits for the end, at most 30 seconds, then kills. Returns how long it took, in
  /// seconds.
  @discardableResult
  func stop(_ signal: Int32) -> Double {
    guard !hasEnded else { return 0 }
    let start = cl_monotonic_ns()
    kill(identifier, signal)
    while !reap() {
      if cl_monotonic_ns() - start > 30_000_000_000 { kill(identifier, SIGKILL) }
      usleep(1000)
    }
    return Double(cl_monotonic_ns() - start) / 1e9
  }

  /// Waits for it to end by itself; false if it is still there after `seconds`.
  func waitForEnd(seconds: Int) -> Bool {
    let deadline = cl_monotonic_ns() + UInt64(seconds) * 1_000_000_000
    while !reap() {
      guard cl_monotonic_ns() < deadline else { return false }
      usleep(1000)
    }
    return true
  }

  private func reap() -> Bool {
    var status: Int32 = 0
    if !hasEnded, waitpid(identifier, &status, WNOHANG) == identifier { hasEnded = true }
    return hasEnded
  }

  /// Runs a program to its end and returns the first line that it prints, nil if it cannot be run.
  static func firstLine(
    _ program: String, _ arguments: [String], executable: String, log: String
  ) throws(BenchError) -> String {
    let process = try ServerProcess(program, arguments, executable: executable, log: log)
    let line = try process.readLine(seconds: 60)
    guard process.waitForEnd(seconds: 60) else { throw .timedOut("\(program) does not end") }
    return line
  }
}
