import BorealisBase
import Glibc

/// Standard output and standard error.
enum Terminal {
  /// Writes a line to standard output.
  static func print(_ line: String) { write(line.hasSuffix("\n") ? line : line + "\n", to: .standardOutput) }

  /// Writes a document as one line to standard output.
  static func print(_ value: JSONValue) {
    // Names that others have chosen must not do anything to the terminal.
    print(Log.visible(String(decoding: JSONWriter.serialize(value), as: UTF8.self)))
  }

  /// Reads a line from standard input, without echo on a terminal; nil at the end of the input.
  static func password(_ prompt: String) -> String? {
    BlockingCall.assertAllowed()
    var shown = termios()
    let isTerminal = tcgetattr(STDIN_FILENO, &shown) == 0
    if isTerminal {
      var hidden = shown
      hidden.c_lflag &= ~tcflag_t(ECHO)
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
      write(prompt, to: .standardError)
    }
    defer {
      if isTerminal {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
        write("\n", to: .standardError)
      }
    }
    return readLine()
  }

  /// Writes a line to standard error.
  static func complain(_ line: String) {
    let lines = line.split(separator: "\n", omittingEmptySubsequences: false).map { Log.visible(String($0)) }
    write(lines.joined(separator: "\n") + "\n", to: .standardError)
  }

  /// Waits until what was written is out, though not for long: nobody may read it.
  static func flush() {
    let end = SystemTime().monotonic() &+ 1_000_000_000
    for queue in [OutputQueue.standardOutput, .standardError] { queue.flush(until: end) }
  }

  private static func write(_ text: String, to queue: OutputQueue) { queue.write(Array(text.utf8)) }
}
