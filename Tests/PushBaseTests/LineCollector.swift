import Synchronization

/// Keeps log lines for a test to look at.
final class LineCollector: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  @Sendable func add(_ bytes: [UInt8]) {
    lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
  }
}
