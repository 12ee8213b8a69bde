import Dispatch
import PushCrypto
import Synchronization

/// Hashes passwords away from the event loops, one at a time: each takes some tenths of a second of a core and 32 MiB.
final class PasswordWorker: Sendable {
  private let queue = DispatchQueue(label: "borealis.passwords")
  private let waiting = Atomic<Int>(0)
  /// Beyond this many the server is being attacked, or the people will come back.
  private static let limit = 32

  /// Runs some work; false if too much waits already, and the work is not done.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.limit else {
      waiting.subtract(1, ordering: .relaxed)
      return false
    }
    queue.async { [self] in
      work()
      waiting.subtract(1, ordering: .relaxed)
    }
    return true
  }
}
