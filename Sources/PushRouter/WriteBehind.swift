import PushBase
import PushStorage
import Synchronization

/// A device's word on what became of a push, on its way to the database.
struct ReceiptNote: Sendable {
  let id: MessageID
  let receipt: WriteTransaction.Receipt
  let number: RegistrationNumber
  let app: AppID
  let at: Timestamp
}

/// What may reach the database late: ends of pushes, who acknowledged pushes to many, receipts. None of it is urgent: what
/// is lost in a crash only means that a device gets a push again, which its library drops, or that a push ends once more
/// after the next start. So it is written in small batches, and what could not be written waits for better times.
final class WriteBehind: Sendable {
  private struct Waiting: Sendable {
    var ends: [Settlement] = []
    var partly: [MessageID: App] = [:]
    var receipts: [ReceiptNote] = []
    /// Whose acknowledgements these are.
    var credits: [StoredAcknowledgements] = []
    /// A flush is under way, and another one is wanted after it.
    var isFlushing = false
    var isHurried = false
    /// The last batch was refused: no further tries before the next tick.
    var isHeldUp = false

    var hasBatch: Bool { ends.count >= WriteBehind.batch && !isHeldUp }
  }

  /// Rows in one job; a job holds up the pushes that share its commit.
  private static let batch = 256
  /// Batches in one flush, so that they cannot fill the writer's queue.
  static let batches = 64
  /// Receipts are statistics: beyond this many the newest are lost.
  private static let receiptLimit = 100_000

  private let store: Store
  private let waiting = Mutex(Waiting())
  private let stored: @Sendable ([StoredAcknowledgements]) -> Void

  /// `stored` is told of acknowledgements that the database has, on the writer's thread.
  init(store: Store, stored: @escaping @Sendable ([StoredAcknowledgements]) -> Void) {
    self.store = store
    self.stored = stored
  }

  /// Notes ends; the first end of a push stands.
  func end(_ ids: [MessageID], _ status: OutcomeStatus, at now: Timestamp) {
    guard !ids.isEmpty else { return }
    var isFull = waiting.withLock { waiting in
      for id in ids { waiting.ends.append(Settlement(id: id, status: status, at: now)) }
      return waiting.hasBatch
    }
    while isFull {
      _ = flushBatchOfEnds()
      isFull = waiting.withLock { $0.hasBatch }
    }
  }

  /// Notes that somebody acknowledged pushes for which others still wait.
  func acknowledgedPartly(_ ids: [MessageID], of app: App) {
    guard !ids.isEmpty else { return }
    waiting.withLock { waiting in
      for id in ids { waiting.partly[id] = app }
    }
  }

  /// Notes whose the acknowledgements were that have been noted before; `stored` gets this when the database has them.
  func credit(_ credit: StoredAcknowledgements) {
    waiting.withLock { $0.credits.append(credit) }
  }

  /// Notes receipts.
  func note(_ receipts: [ReceiptNote]) {
    waiting.withLock { waiting in
      waiting.receipts += receipts.prefix(max(0, Self.receiptLimit - waiting.receipts.count))
    }
  }

  /// Whether nothing waits to be written.
  var isEmpty: Bool {
    waiting.withLock { $0.ends.isEmpty && $0.partly.isEmpty && $0.receipts.isEmpty }
  }

  /// Writes what waits, up to so many batches of each kind.
  func flush(batches: Int = WriteBehind.batches) {
    waiting.withLock { $0.isHeldUp = false }
    flushAcknowledgements(batches: batches)
    for _ in 0..<batches {
      guard flushBatchOfReceipts() else { break }
    }
  }

  /// Writes acknowledgements soon: somebody waits until they are stored. One flush follows the other, so that the rate is
  /// that of commits, whoever asks how often.
  func hurry() {
    let isFirst = waiting.withLock { waiting in
      waiting.isHurried = waiting.isFlushing
      return !waiting.isFlushing
    }
    if isFirst { flushAcknowledgements(batches: Self.batches) }
  }

  private func flushAcknowledgements(batches: Int) {
    // Taken first: whatever was acknowledged before is written by what follows, or by a job before it.
    let credits = waiting.withLock { waiting in
      defer { waiting.credits = [] }
      waiting.isFlushing = true
      return waiting.credits
    }
    flushPartly()
    flushEnds(batches: batches)
    // Behind all of these; done when they are.
    store.write(single: true) { _ throws(StorageError) in
    } completion: { [self] result in
      let (isStored, isHurried) = waiting.withLock { waiting in
        // What could not be written was noted again.
        var isStored = !waiting.isHeldUp
        if case .failure = result { isStored = false }
        if !isStored { waiting.credits += credits }
        defer { waiting.isHurried = false }
        waiting.isFlushing = false
        return (isStored, waiting.isHurried && isStored)
      }
      if isStored, !credits.isEmpty { stored(credits) }
      if isHurried { hurry() }
    }
  }

  /// Writes the ends that wait, so that they stand before what the caller writes next.
  func flushEnds(batches: Int = WriteBehind.batches) {
    for _ in 0..<batches {
      guard flushBatchOfEnds() else { break }
    }
  }

  private func flushBatchOfEnds() -> Bool {
    let batch = waiting.withLock { $0.ends.takeLast(Self.batch) }
    guard !batch.isEmpty else { return false }
    store.write { transaction throws(StorageError) in
      try transaction.settle(batch)
    } completion: { [self] result in
      if case .failure = result {
        waiting.withLock { waiting in
          waiting.ends += batch
          waiting.isHeldUp = true
        }
      }
    }
    return true
  }

  private func flushBatchOfReceipts() -> Bool {
    let batch = waiting.withLock { $0.receipts.takeLast(Self.batch) }
    guard !batch.isEmpty else { return false }
    store.write { transaction throws(StorageError) in
      for note in batch {
        try transaction.markReceipt(id: note.id, app: note.app, by: note.number, note.receipt, at: note.at)
      }
    } completion: { [self] result in
      if case .failure = result { note(batch) }
    }
    return true
  }

  /// Each set is written at most once a flush, whatever the number of acknowledgements.
  private func flushPartly() {
    let taken = waiting.withLock { waiting in
      defer { waiting.partly = [:] }
      return waiting.partly
    }
    for (id, app) in taken {
      // Since it ended, the end was noted instead.
      guard let delivered = app.directory.delivered(id) else { continue }
      let bytes = delivered.serialized()
      store.write(single: true) { transaction throws(StorageError) in
        try transaction.saveDelivered(id: id, targets: bytes)
      } completion: { [self] result in
        guard case .failure = result else { return }
        waiting.withLock { waiting in
          waiting.partly[id] = app
          waiting.isHeldUp = true
        }
      }
    }
  }
}

extension Array {
  /// Takes up to `limit` elements out; from the end, where that moves no others.
  fileprivate mutating func takeLast(_ limit: Int) -> [Element] {
    let taken = Array(suffix(limit))
    removeLast(taken.count)
    return taken
  }
}
