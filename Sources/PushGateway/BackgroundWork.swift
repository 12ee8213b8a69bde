import Dispatch
import Synchronization

/// A thread for work that would hold up an event loop, and a bounded line before it.
final class BackgroundWork: Sendable {
  /// Jobs that may wait.
  private static let limit = 64

  private let queue: DispatchQueue
  private let waiting = Atomic<Int>(0)

  init(_ name: String) { queue = DispatchQueue(label: name) }

  /// Has something done after all that was taken before; false if too much waits.
  func run(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard waiting.add(1, ordering: .relaxed).oldValue < Self.limit else {
      waiting.subtract(1, ordering: .relaxed)
      return false
    }
    queue.async { [self] in
      body()
      waiting.subtract(1, ordering: .relaxed)
    }
    return true
  }
}
