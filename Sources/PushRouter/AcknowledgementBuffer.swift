import PushBase
import PushStorage
import Synchronization

/// Acknowledgements on their way to the database. They are not urgent: one that is lost in a crash only means that the
/// device gets a push again, which its library drops. So they are written in batches, and a group push's set at most once
/// a flush.
final class AcknowledgementBuffer: Sendable {
  private struct Waiting: Sendable {
    var singles: [Settlement] = []
    var groups: [MessageID: App] = [:]
  }

  private static let batch = 2000

  private let store: Store
  private let waiting = Mutex(Waiting())

  init(store: Store) { self.store = store }

  func add(singles: [MessageID], groups: [MessageID], of app: App, at now: Timestamp) {
    let isFull = waiting.withLock { waiting in
      for id in singles { waiting.singles.append(Settlement(id: id, status: .delivered, at: now)) }
      for id in groups { waiting.groups[id] = app }
      return waiting.singles.count >= Self.batch
    }
    if isFull { flush() }
  }

  /// Writes what waits. On failure it waits on, for the next flush.
  func flush() {
    let taken = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return waiting
    }
    if !taken.singles.isEmpty {
      store.write { transaction throws(StorageError) in
        try transaction.settle(taken.singles)
      } completion: { [self] result in
        if case .failure = result { waiting.withLock { $0.singles.append(contentsOf: taken.singles) } }
      }
    }
    for (id, app) in taken.groups {
      guard let delivered = app.directory.delivered(id) else { continue }
      let bytes = delivered.serialized()
      store.write { transaction throws(StorageError) in
        try transaction.saveDelivered(id: id, targets: bytes)
      } completion: { [self] result in
        if case .failure = result { waiting.withLock { $0.groups[id] = app } }
      }
    }
  }
}
