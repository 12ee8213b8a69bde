import PushBase
import PushRouter
import PushStorage
import Synchronization

/// Removes from the database what is over, in steps so small that the pushes of the moment do not notice.
final class Sweeper: Sendable {
  private static let step = 200
  private static let pause: UInt64 = 600_000_000_000
  /// JPush remembers a request's name for a day.
  private static let namesKept: Int64 = 86_400

  private let store: Store
  private let router: Router
  private let retention: Int64
  private let time: any TimeSource
  private let log: Log
  /// When the next sweep is due, on the monotonic clock.
  private let due = Atomic<UInt64>(0)

  init(store: Store, router: Router, retention: Int64, time: any TimeSource, log: Log) {
    self.store = store
    self.router = router
    self.retention = retention
    self.time = time
    self.log = log
  }

  /// Starts a sweep every ten minutes.
  func tick() {
    let now = time.monotonic()
    guard now >= due.load(ordering: .relaxed) else { return }
    due.store(now + Self.pause, ordering: .relaxed)
    let oldest = MessageID(firstAt: time.now().adding(seconds: -retention))
    let names = time.now().adding(seconds: -Self.namesKept)
    sweep { transaction throws(StorageError) in
      try transaction.sweepPushes(below: oldest, limit: Self.step)
    }
    sweep { transaction throws(StorageError) in
      try transaction.sweepCIDs(before: names, limit: Self.step)
    }
  }

  /// Repeats a step until nothing is left. Each waits in the writer's queue like any other change.
  private func sweep(_ step: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Int) {
    store.write { transaction throws(StorageError) in
      try step(transaction)
    } completion: { [self] result in
      switch result {
      case .success(0): break
      case .success: sweep(step)
      case .failure(let error): log.warning("sweep failed", ["reason": .text("\(error.kind)")])
      }
    }
  }
}
