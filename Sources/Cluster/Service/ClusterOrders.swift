import BorealisBase
import Synchronization

/// Orders for a thread, in their order. Safe to use from any thread.
final class ClusterOrders<Order: Sendable>: Sendable {
  private let waiting = Mutex<[Order]>([])
  private let work = Semaphore()
  private let closed = Semaphore()

  /// Adds an order.
  func add(_ order: Order) {
    waiting.withLock { $0.append(order) }
    work.signal()
  }

  /// Waits for orders, until `deadline` if there is one; removes and returns all, or none if they were
  /// given before.
  func drain(waitingUntil deadline: UInt64?) -> [Order] {
    if let deadline { _ = work.wait(until: deadline) } else { work.wait() }
    return waiting.withLock { orders in
      defer { orders.removeAll() }
      return orders
    }
  }

  /// The thread carries out no more.
  func close() { closed.signal() }

  /// Waits until it does not, at most until a moment.
  func awaitClose(until deadline: UInt64) { _ = closed.wait(until: deadline) }
}
