import BorealisBase
import Glibc
import PushTesting
import Synchronization
import Testing

extension Trait where Self == ConditionTrait {
  /// For tests of what only a file of SQLite has.
  static var onSQLite: Self { .disabled(if: PostgresCluster.isChosen, "it is about a file of SQLite") }
}

/// What a process left when it ended.
struct Ending {
  /// The exit status; 128 and the signal's number for one that a signal killed.
  let status: ExitStatus
  let output: String
  let errors: String

  /// The lines of the output, each read as JSON; nil for one that is none.
  var documents: [JSONValue?] {
    output.split(separator: "\n").map { try? parseJSON(Array($0.utf8)) }
  }
}

/// A status that, where a test expected another one, tells what the process wrote to standard error.
struct ExitStatus: Equatable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  let number: Int32
  private let errors: String

  init(_ number: Int32, errors: String) {
    self.number = number
    self.errors = errors
  }

  init(integerLiteral number: Int32) { self.init(number, errors: "") }

  static func == (left: Self, right: Self) -> Bool {
    let areEqual = left.number == right.number
    // `#expect` shows no part of an expression that has a `try` in it.
    if !areEqual { print("the exit status is \(left)") }
    return areEqual
  }

  var description: String { errors.isEmpty ? "\(number)" : "\(number), and wrote: \(errors.suffix(6000))" }
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

  /// No test may hang forever; nothing here takes longer than a small part of this.
  static let patience = 60

  let processID: Int32
  private let output: Int32
  /// Where `write` goes, -1 if the input is fixed.
  private let inputEnd: Int32
  private let isInputOpen = Atomic<Bool>(true)
  private let folder = TemporaryFolder()
  private let state = Mutex(State())

  private var errorFile: String { folder.path + "/errors" }

  /// Starts the program, or another one that drives it. Of the test's own environment only what is given here
  /// is passed on, and what a sanitizer needs. `errors` is where standard error leads instead of `errors`.
  /// Without `input`, what `write` is given is its standard input, which does not end.
  init(
    _ arguments: [String], of program: String = path, environment: [String: String] = [:],
    input: String? = "", errors: ChildProcess.Stream? = nil
  ) throws {
    var pipes: [Int32] = [-1, -1]
    // Children started at the same time by other tests must not inherit an end: it would never read as
    // closed.
    let kind = SocketKind.closingStream
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
    defer { close(pipes[1]) }
    output = pipes[0]
    let environment = try Self.store(of: arguments, environment).merging(environment) { $1 }
    processID = try ChildProcess.start(
      program, arguments, environment: Self.sanitizing.merging(environment) { $1 },
      input: .reading(inputFile),
      output: .descriptor(pipes[1]), errors: errors ?? .appending(folder.path + "/errors"))
  }

  deinit {
    if state.withLock({ $0.ending == nil }) {
      kill(processID, SIGKILL)
      ChildProcess.wait(for: processID)
      reportFindings()
    }
    close(output)
    endInput()
  }

  /// Ends the standard input.
  func endInput() {
    guard inputEnd >= 0, isInputOpen.exchange(false, ordering: .relaxed) else { return }
    close(inputEnd)
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

  /// Whether there is a line that nobody has read, without waiting for one.
  func hasLine() -> Bool {
    state.withLock { state in
      var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      while Glibc.poll(&poll, 1, 0) > 0, poll.revents & Int16(POLLIN) != 0, (try? read(into: &state)) == true
      {}
      return state.unread.contains(10)
    }
  }

  /// Sends a signal. After SIGSTOP no thread of the process runs any more, which takes a while on a busy
  /// machine.
  func signal(_ number: Int32) {
    kill(processID, number)
    guard number == SIGSTOP else { return }
    var found = siginfo_t()
    _ = waitid(P_PID, id_t(processID), &found, WSTOPPED | WEXITED | WNOWAIT)
  }

  /// Waits for the end of the process, which may say nothing for so many seconds.
  func end(patience: Int = patience) throws -> Ending {
    try state.withLock { state in
      while try read(into: &state, patience) {}
      guard state.ending == nil, let ending = ChildProcess.wait(for: processID) else {
        throw Failure(description: "the process has ended before")
      }
      state.ending = ending
      reportFindings()
      let errors = errors
      return Ending(
        status: ExitStatus(ending, errors: errors), output: String(decoding: state.unread, as: UTF8.self),
        errors: errors)
    }
  }

  /// Fails the test if a sanitizer found something in the process, whatever its status was.
  private func reportFindings() {
    let errors = errors
    guard let finding = errors.firstRange(of: /(WARNING|ERROR): (Thread|Address|Leak)Sanitizer/) else {
      return
    }
    Issue.record("a sanitizer in \(processID): \(errors[finding.lowerBound...].prefix(12_000))")
  }

  /// What `Tests/Sanitize/run` sets, for the processes that tests start too.
  private static let sanitizing: [String: String] = {
    var found: [String: String] = [:]
    for name in ["LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS"] {
      if let value = getenv(name) { found[name] = String(cString: value) }
    }
    return found
  }()

  /// Instead of a file in the folder that the program is given, a database of PostgreSQL, if tests run on
  /// that.
  private static func store(
    of arguments: [String], _ environment: [String: String]
  ) throws -> [String: String] {
    let named = arguments.firstIndex(of: "--data").flatMap { arguments.dropFirst($0 + 1).first }
    guard PostgresCluster.isChosen, let folder = named ?? environment["BOREALIS_DATA"] else { return [:] }
    let parts = folder.split(separator: "/")
    let (path, owner) = (parts.joined(separator: "/"), parts.dropLast().joined(separator: "/"))
    return ["BOREALIS_STORE": try PostgresCluster.shared().url(ofFolder: "/" + path, in: "/" + owner)]
  }

  /// Whether the program needs more of the machine than by itself.
  static var isSanitized: Bool { sanitizing["TSAN_OPTIONS"] != nil || sanitizing["ASAN_OPTIONS"] != nil }

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
  private func read(into state: inout State, _ patience: Int = patience) throws -> Bool {
    var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(patience * 1000)) > 0 else {
      throw Failure(description: "nothing came for \(patience) s; errors: \(errors)")
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

  /// The program with simulators and benchmarks.
  static let tools = path + "-dev"
}
