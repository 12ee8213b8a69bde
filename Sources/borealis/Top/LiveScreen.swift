import BorealisBase
import CLinux
import Glibc

/// The terminal of this process while it shows a page that changes: its alternate screen, without cursor and
/// echo. When this goes, the terminal is as it was.
struct LiveScreen: ~Copyable {
  enum Event {
    /// The moment has come.
    case due
    /// The terminal may have another size.
    case resized
    /// q, Ctrl-C, a signal that ends programs, or the end of the input.
    case quit
  }

  private let signals, resizes: Int32
  private let mode: termios

  /// Whether there is a terminal to read keys from and to draw on.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

  init() throws(Failure) {
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else {
      throw .failed("cannot use the terminal: \(SystemCalls.reason(errno))")
    }
    let (signals, resizes) = (cl_signal_fd(), cl_resize_fd())
    guard signals >= 0, resizes >= 0 else {
      throw .failed("cannot listen for signals: \(SystemCalls.reason(-min(signals, resizes)))")
    }
    (self.mode, self.signals, self.resizes) = (mode, signals, resizes)
    // Ctrl-C and Ctrl-Z are keys, since a stopped process would keep the alternate screen.
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode)
    Self.write("\u{1b}[?1049h\u{1b}[?25l")
  }

  deinit {
    Self.write("\u{1b}[?25h\u{1b}[?1049l")
    var mode = mode
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode)
    _ = (cl_close(signals), cl_close(resizes))
  }

  /// The terminal's size; the usual one if it does not say.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows lines that fit the size.
  func draw(_ lines: [String]) {
    let text = lines.map { "\u{1b}[K" + $0 }.joined(separator: "\r\n")
    Self.write("\u{1b}[H" + text + "\u{1b}[J")
  }

  /// Waits for a moment of `TimeSource.monotonic`, or for what comes before.
  func wait(until moment: UInt64) -> Event {
    BlockingCall.assertAllowed()
    var polls = [STDIN_FILENO, signals, resizes].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let now = cl_monotonic_ns()
    let left = moment > now ? (moment - now) / 1_000_000 + 1 : 0
    switch poll(&polls, 3, Int32(clamping: left)) {
    case 0: return .due
    case ..<0: return errno == EINTR ? .resized : .quit
    default: break
    }
    guard polls[1].revents == 0 else { return .quit }
    if polls[2].revents != 0 { _ = cl_signal_next(resizes) }
    guard polls[0].revents != 0 else { return .resized }
    var keys = [UInt8](repeating: 0, count: 64)
    let count = cl_read(STDIN_FILENO, &keys, keys.count)
    guard count != -Int(EINTR) else { return .resized }
    // q, Q, Ctrl-C and Ctrl-D.
    return count <= 0 || keys[..<count].contains { [113, 81, 3, 4].contains($0) } ? .quit : .resized
  }

  private static func write(_ text: String) { OutputQueue.standardOutput.write(Array(text.utf8)) }
}
