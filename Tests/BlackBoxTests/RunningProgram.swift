import Glibc
import PushBase
import PushJSON
import PushTesting
import Synchronization

/// What a process left when it ended.
struct Ending {
  /// The exit status; 128 and the signal's number for one that a signal killed.
  let status: Int32
  let output: String
  let errors: String

  /// The lines of the output, each read as JSON; nil for one that is none.
  var documents: [JSONValue?] {
    output.split(separator: "\n").map { try? parseJSON(Array($0.utf8)) }
  }
}

/// The program under test as a process of its own. Killed when this object goes away.
final class RunningProgram: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private struct State: Sendable {
    var unread: [UInt8] = []
    var ending: Int32?
  }

  /// No test may hang for ever; nothing here takes longer than a small part of this.
  private static let patience = 60

  let processID: Int32
  private let output: Int32
  /// Where `write` goes, -1 if the input is fixed.
  private let inputEnd: Int32
  private let folder = TemporaryFolder()
  private let state = Mutex(State())

  private var errorFile: String { folder.path + "/errors" }

  /// Starts the program, or another one that drives it. Of the test's own environment only what is given here is
  /// passed on. Without `input`, what `write` is given is its standard input, which does not end.
  init(
    _ arguments: [String], of program: String = path, environment: [String: String] = [:],
    input: String? = ""
  ) throws {
    var pipes: [Int32] = [-1, -1]
    // Children started at the same time by other tests must not inherit an end: it would never read as closed.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &pipes) == 0 else { throw Failure(description: "no pipe") }
    let inputFile = folder.path + "/input"
    if let input {
      try TemporaryFolder.write(input, to: inputFile)
      inputEnd = -1
    } else {
      // Open for both, so that neither end waits for the other.
      guard mkfifo(inputFile, 0o600) == 0 else { throw Failure(description: "no pipe for the input") }
      inputEnd = open(inputFile, O_RDWR | O_CLOEXEC)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_addopen(&actions, 0, inputFile, O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
    posix_spawn_file_actions_addopen(
      &actions, 2, folder.path + "/errors", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    var spawned: pid_t = 0
    let status = Self.withCStrings([program] + arguments) { arguments in
      Self.withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawn(&spawned, program, &actions, nil, arguments, environment)
      }
    }
    posix_spawn_file_actions_destroy(&actions)
    close(pipes[1])
    processID = spawned
    output = pipes[0]
    guard status == 0 else {
      state.withLock { $0.ending = -1 }
      throw Failure(description: "cannot start \(program): error \(status)")
    }
  }

  deinit {
    if state.withLock({ $0.ending == nil }) {
      kill(processID, SIGKILL)
      var status: Int32 = 0
      waitpid(processID, &status, 0)
    }
    close(output)
    if inputEnd >= 0 { close(inputEnd) }
  }

  /// Puts a line into the standard input.
  func write(line: String) throws {
    let bytes = Array((line + "\n").utf8)
    guard inputEnd >= 0, Glibc.write(inputEnd, bytes, bytes.count) == bytes.count else {
      throw Failure(description: "the input takes no line")
    }
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], input: String = ""
  ) throws -> Ending {
    let program = try RunningProgram(arguments, environment: environment, input: input)
    return try program.end()
  }

  /// The next line of standard output.
  func line() throws -> String {
    try state.withLock { state in
      while true {
        if let end = state.unread.firstIndex(of: 10) {
          defer { state.unread.removeFirst(end + 1) }
          return String(decoding: state.unread[..<end], as: UTF8.self)
        }
        guard try read(into: &state) else {
          throw Failure(description: "the output ended; errors: \(errors)")
        }
      }
    }
  }

  /// The next line of standard output, which must be JSON.
  func document() throws -> JSONValue { try parseJSON(Array(try line().utf8)) }

  /// Sends a signal.
  func signal(_ number: Int32) { kill(processID, number) }

  /// Waits for the end of the process.
  func end() throws -> Ending {
    try state.withLock { state in
      while try read(into: &state) {}
      var status: Int32 = 0
      guard state.ending == nil, waitpid(processID, &status, 0) == processID else {
        throw Failure(description: "the process has ended before")
      }
      let signal = status & 0x7f
      let ending = signal == 0 ? status >> 8 & 0xff : 128 + signal
      state.ending = ending
      return Ending(
        status: ending, output: String(decoding: state.unread, as: UTF8.self), errors: errors)
    }
  }

  /// What it wrote to standard error so far.
  var errors: String { TemporaryFolder.read(errorFile) }

  /// Waits until it has written something to standard error.
  func wait(forError text: String) throws {
    guard Self.eventually({ errors.contains(text) }) else {
      throw Failure(description: "no \"\(text)\" in: \(errors)")
    }
  }

  /// Asks again and again whether something holds, until it does, or in vain.
  static func eventually(_ holds: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<patience * 100 {
      if try holds() { return true }
      usleep(10_000)
    }
    return false
  }

  /// False at the end of the output, which comes when the process ends.
  private func read(into state: inout State) throws -> Bool {
    var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(Self.patience * 1000)) > 0 else {
      throw Failure(description: "nothing came for \(Self.patience) s; errors: \(errors)")
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(output, &buffer, buffer.count)
    guard count > 0 else { return false }
    state.unread += buffer[..<count]
    return true
  }

  /// The build puts the program beside the tests.
  static let path: String = {
    guard let resolved = realpath("/proc/self/exe", nil) else { return "" }
    defer { free(resolved) }
    let own = String(cString: resolved)
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/borealis"
  }()

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
