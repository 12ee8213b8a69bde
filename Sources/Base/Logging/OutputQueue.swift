import Glibc
import Synchronization

/// Lines for a descriptor whose reader may be slow or may have stopped reading: a terminal after Ctrl-S, a
/// log driver that hangs. Once its thread runs, `write` waits for nobody: a line without room is dropped and
/// counted. Before that, and in programs that serve nobody, each line is written at once.
public final class OutputQueue: Sendable {
  /// Standard output.
  public static let standardOutput = OutputQueue(STDOUT_FILENO)
  /// Standard error.
  public static let standardError = OutputQueue(STDERR_FILENO)

  private enum Item: Sendable {
    case line([UInt8])
    case flush(Semaphore)
  }

  private struct State: Sendable {
    var items = FIFO<Item>()
    /// Of the lines that wait, and of the one that is being written.
    var bytes = 0
    var hasThread = false
    /// Since the start, and when the output told of them last.
    var dropped: UInt64 = 0
    var told: UInt64 = 0
  }

  private let descriptor: Int32
  private let capacity: Int
  private let state = Mutex(State())
  private let news = Semaphore()

  /// A queue without a thread yet. At most `capacity` bytes wait.
  public init(_ descriptor: Int32, capacity: Int = 1 << 20) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// Lines that were dropped, because there was no room for them or because they could not be written.
  public var droppedLines: UInt64 { state.withLock { $0.dropped } }

  /// Starts the thread. `notice` makes the line that tells of dropped ones, once there is room again.
  public func start(
    _ name: String, notice: @escaping @Sendable (UInt64) -> [UInt8]
  ) throws(SystemThread.Failure) {
    guard !state.withLock({ $0.hasThread }) else { return }
    try SystemThread.start(name) { [self] in
      while true { work(notice) }
    }
    state.withLock { $0.hasThread = true }
  }

  /// Writes a line, with its end, as a whole.
  public func write(_ line: [UInt8]) {
    let isQueued: Bool? = state.withLock { state in
      guard state.hasThread else { return nil }
      guard state.bytes + line.count <= capacity else {
        state.dropped += 1
        return false
      }
      state.bytes += line.count
      state.items.append(.line(line))
      return true
    }
    switch isQueued {
    case nil: put(line)
    case true: news.signal()
    default: break
    }
  }

  /// Waits until everything before is written, at most until a moment of `SystemTime.monotonic`; false if it
  /// is not.
  @discardableResult
  public func flush(until deadline: UInt64) -> Bool {
    let written = Semaphore()
    let hasThread = state.withLock { state in
      if state.hasThread { state.items.append(.flush(written)) }
      return state.hasThread
    }
    guard hasThread else { return true }
    news.signal()
    return written.wait(until: deadline)
  }

  private func work(_ notice: (UInt64) -> [UInt8]) {
    news.wait()
    switch state.withLock({ $0.items.popFirst() }) {
    case .line(let line)?:
      put(line)
      let untold = state.withLock { state in
        state.bytes -= line.count
        defer { state.told = state.dropped }
        return state.dropped - state.told
      }
      if untold > 0 { put(notice(untold)) }
    case .flush(let written)?: written.signal()
    case nil: break
    }
  }

  /// One call for a line where the system takes it whole, so that lines of several processes do not mix.
  private func put(_ line: [UInt8]) {
    BlockingCall.assertAllowed()
    var start = 0
    while start < line.count {
      let (written, number) = line.span.extracting(start...).withUnsafeBytes { bytes in
        (Glibc.write(descriptor, bytes.baseAddress, bytes.count), errno)
      }
      if written > 0 {
        start += written
      } else if written < 0, number == EAGAIN || number == EINTR {
        // Whoever shares the descriptor may have made it one that does not wait.
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = Glibc.poll(&poll, 1, -1)
      } else {
        return state.withLock { $0.dropped += 1 }
      }
    }
  }
}
