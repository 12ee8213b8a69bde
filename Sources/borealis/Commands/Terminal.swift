import BorealisBase

/// Standard output and standard error, and the files that a command is given.
enum Terminal {
  /// That of this process, or of the one whose command this thread carries out.
  @TaskLocal static var current: any CommandTerminal = ProcessTerminal()

  /// Writes a line to standard output.
  static func print(_ line: String) {
    current.write(line.hasSuffix("\n") ? line : line + "\n", isError: false)
  }

  /// Writes a document as one line to standard output.
  static func print(_ value: JSONValue) {
    // Names that others have chosen must not do anything to the terminal.
    print(Log.visible(String(decoding: JSONWriter.serialize(value), as: UTF8.self)))
  }

  /// Reads a line without echo, if it is a terminal; nil at the end of the input.
  static func password(_ prompt: String) -> String? { current.password(prompt) }

  /// A file of at most 1 MiB of whoever has asked for the command.
  static func contents(_ path: String) throws(Failure) -> [UInt8] { try current.contents(path) }

  /// Writes a line to standard error.
  static func complain(_ line: String) {
    let lines = line.split(separator: "\n", omittingEmptySubsequences: false).map { Log.visible(String($0)) }
    current.write(lines.joined(separator: "\n") + "\n", isError: true)
  }

  /// Waits until what was written is out, though not for long: nobody may read it.
  static func flush() {
    let end = SystemTime().monotonic() &+ 1_000_000_000
    for queue in [OutputQueue.standardOutput, .standardError] { queue.flush(until: end) }
  }
}
