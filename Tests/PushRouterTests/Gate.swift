import Dispatch

/// Lets threads wait for another. Once open it stays open: what the writer does may run twice.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func open() { semaphore.signal() }
  func wait() {
    semaphore.wait()
    semaphore.signal()
  }
}
