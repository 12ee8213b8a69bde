import Dispatch
import Storage

/// Lets threads wait for another. Once open it stays open: what the writer does may run twice.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func open() { semaphore.signal() }
  func wait() {
    semaphore.wait()
    semaphore.signal()
  }

  /// Keeps the writer waiting until it is open; returns once the writer waits. What comes after that makes no
  /// part of its transaction.
  func hold(_ store: Store) {
    let isHeld = Gate()
    store.write { _ in
      isHeld.open()
      self.wait()
    } completion: { _ in
    }
    isHeld.wait()
  }
}
