import BorealisBase
import Synchronization

/// Something that happens once in the middle of what is tested, when that asks for something that the test
/// provides.
package final class Interruption: Sendable {
  private let action = Mutex<(@Sendable () -> Void)?>(nil)
  private let over = Semaphore()

  /// Prepares nothing.
  package init() {}

  /// Does something at the next `occur`, on its thread.
  package func prepare(_ body: @escaping @Sendable () -> Void) {
    action.withLock { action in
      action = { [over] in
        body()
        over.signal()
      }
    }
  }

  /// Has another thread do something at the next `occur`. That goes on when it is done, or after a while:
  /// then it may be waiting for what is interrupted.
  package func prepareBeside(_ body: @escaping @Sendable () -> Void) {
    action.withLock { action in
      action = { [over] in
        let done = Semaphore()
        try? SystemThread.start("beside") {
          body()
          done.signal()
          over.signal()
        }
        _ = done.wait(until: SystemTime().monotonic() &+ 200_000_000)
      }
    }
  }

  /// Is called in the middle of what is tested.
  package func occur() {
    let body = action.withLock { action in
      defer { action = nil }
      return action
    }
    body?()
  }

  /// Waits until what was prepared is done; false if that is not so after a minute.
  package func wait() -> Bool { over.wait(until: SystemTime().monotonic() &+ 60_000_000_000) }
}
