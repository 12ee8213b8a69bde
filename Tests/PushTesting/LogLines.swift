import Synchronization

/// Keeps log lines, from any thread, for a test to look at.
package final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  /// No lines yet.
  package init() {}

  /// The lines so far.
  package var all: [String] { lines.withLock { $0 } }

  /// Takes a line.
  @Sendable package func add(_ bytes: [UInt8]) {
    lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
  }
}
