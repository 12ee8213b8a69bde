import BorealisNet
import Dispatch
import Synchronization

/// Work on a thread of its own.
final class Worker: Sendable {
  private let flag = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) throws {
    DispatchQueue.global().async { [self] in
      body()
      flag.store(true, ordering: .releasing)
      done.signal()
    }
  }

  var isDone: Bool { flag.load(ordering: .acquiring) }

  func wait() { done.wait() }
}
