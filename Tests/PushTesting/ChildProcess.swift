import Glibc

/// Starts programs for tests. Foundation's `Process` reads past a directory entry when it looks for open
/// files, which AddressSanitizer does not let pass.
package enum ChildProcess {
  /// A program did not start.
  package struct Failure: Error, CustomStringConvertible {
    /// One line.
    package let description: String
  }

  /// Where one of a program's three standard streams leads.
  package enum Stream {
    /// Where the test's own does.
    case inherited
    /// An open descriptor of the test.
    case descriptor(Int32)
    /// A file to read.
    case reading(String)
    /// A file to write, which is made or continued.
    case appending(String)
  }

  /// Starts a program, given by its path or by a name that is looked for in `PATH`, in a folder and with an
  /// environment, both the test's own unless given. Descriptors that are open without `O_CLOEXEC` are open in
  /// it, too. The caller waits for it.
  package static func start(
    _ program: String, _ arguments: [String], in folder: String? = nil, environment: [String: String]? = nil,
    input: Stream = .inherited, output: Stream = .inherited, errors: Stream = .inherited
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [input, output, errors].enumerated() {
      let number = Int32(number)
      switch stream {
      case .inherited: break
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .reading(let path): posix_spawn_file_actions_addopen(&actions, number, path, O_RDONLY, 0)
      case .appending(let path):
        posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      }
    }
    // Glibc's module hides the action that changes the folder.
    let words = folder.map { ["env", "--chdir=\($0)", program] } ?? [program]
    var spawned: pid_t = 0
    let status = withCStrings(words + arguments) { arguments in
      guard let environment else {
        return posix_spawnp(&spawned, words[0], &actions, nil, arguments, environ)
      }
      return withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawnp(&spawned, words[0], &actions, nil, arguments, environment)
      }
    }
    guard status == 0 else { throw Failure(description: "cannot start \(program): error \(status)") }
    return spawned
  }

  /// Waits for the end of a process; its exit status, or 128 and the number of the signal that killed it. Nil
  /// if there is no such process any more.
  @discardableResult
  package static func wait(for process: pid_t) -> Int32? {
    var status: Int32 = 0
    while true {
      if waitpid(process, &status, 0) == process { break }
      guard errno == EINTR else { return nil }
    }
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
