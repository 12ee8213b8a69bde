import Dispatch
import Synchronization

/// A thread for work that would hold up an event loop, and a bounded line before it. Safe to use from any thread.
public final class BackgroundWork: Sendable {
  private let queue: DispatchQueue
  private let limit: Int
  private let limitOfEach: Int
  private let waiting = Atomic<Int>(0)
  private let waitingOf = Mutex<[UInt32: Int]>([:])

  /// Makes a thread that does one job after the other; `limit` of them may wait, the running one included, and
  /// `limitOfEach` of one owner.
  public init(_ name: String, limit: Int, limitOfEach: Int = .max) {
    queue = DispatchQueue(label: name)
    self.limit = limit
    self.limitOfEach = limitOfEach
  }

  /// Has something done that somebody is waiting for; false also if too much of the same owner waits.
  public func run(for owner: UInt32, _ body: @escaping @Sendable () -> Void) -> Bool {
    let isFree = waitingOf.withLock { waiting in
      guard waiting[owner, default: 0] < limitOfEach else { return false }
      waiting[owner, default: 0] += 1
      return true
    }
    guard isFree else { return false }
    let isTaken = run { [self] in
      body()
      finish(owner)
    }
    if !isTaken { finish(owner) }
    return isTaken
  }

  private func finish(_ owner: UInt32) {
    waitingOf.withLock { waiting in
      guard let count = waiting[owner] else { return }
      waiting[owner] = count > 1 ? count - 1 : nil
    }
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
