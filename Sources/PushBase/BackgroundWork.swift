import Dispatch
import Synchronization

/// A thread for work that would hold up an event loop, and a bounded line before it. Safe to use from any thread.
public final class BackgroundWork: Sendable {
  private let queue: DispatchQueue
  private let limit: Int
  private let waiting = Atomic<Int>(0)

  /// Makes a thread that does one job after the other; `limit` of them may wait, the running one included.
  public init(_ name: String, limit: Int) {
    queue = DispatchQueue(label: name)
    self.limit = limit
  }

  /// Has something done after all that was taken before; false if too much waits, and then it is never done.
  public func run(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard waiting.add(1, ordering: .relaxed).oldValue < limit else {
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
