import PushBase
import PushDomain
import PushStorage
import Synchronization

/// What may reach the database late: ends of pushes, who acknowledged pushes to many, receipts. None of it is urgent: what
/// is lost in a crash only means that a device gets a push again, which its library drops, or that a push ends once more
/// after the next start. So it is written in small batches, and what could not be written waits for better times.
final class WriteBehind: Sendable {
  /// The end of a push, with what its storing needs.
  private struct End: Sendable {
    let push: EndedPush
    let app: AppID
    let at: Timestamp
  }

  /// What was acknowledged of an open push since its sets were last stored.
  private struct Partly: Sendable {
    let app: App
    var acknowledgers: [RegistrationNumber] = []
  }

  private struct Waiting: Sendable {
    var ends: [End] = []
    var partly: [MessageID: Partly] = [:]
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
  private let journal: DeliveryJournal
  private let time: any TimeSource
  private let waiting = Mutex(Waiting())
  private let stored: @Sendable ([StoredAcknowledgements]) -> Void

  /// `stored` is told of acknowledgements that the database has, on the writer's thread.
  init(
    store: Store, journal: DeliveryJournal, time: any TimeSource,
    stored: @escaping @Sendable ([StoredAcknowledgements]) -> Void
  ) {
    self.store = store
    self.journal = journal
    self.time = time
    self.stored = stored
  }

  /// Notes what became of pushes over our connection; `acknowledger` is whose word it is, if it is one.
  func note(
    _ change: DeliveryChange, of app: App, by acknowledger: RegistrationNumber? = nil, at now: Timestamp
  ) {
    guard !change.isEmpty else { return }
    var isFull = waiting.withLock { waiting in
      for push in change.ended { waiting.ends.append(End(push: push, app: app.id, at: now)) }
      for id in change.partly {
        if let acknowledger {
          waiting.partly[id, default: Partly(app: app)].acknowledgers.append(acknowledger)
        } else if waiting.partly[id] == nil {
          waiting.partly[id] = Partly(app: app)
        }
      }
      return waiting.hasBatch
    }
    while isFull {
      _ = flushBatchOfEnds()
      isFull = waiting.withLock { $0.hasBatch }
    }
  }

  /// Notes ends.
  func end(_ ended: [EndedPush], of app: App, at now: Timestamp) {
    var change = DeliveryChange()
    change.ended = ended
    note(change, of: app, at: now)
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
    flushPartly(at: time.now())
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
    store.write { [journal] transaction throws(StorageError) in
      let over = try transaction.settle(batch.map { $0.push.settlement(at: $0.at) })
      for end in batch { try end.push.saveDropped(in: transaction) }
      try journal.stored(
        batch.filter { !over.contains($0.push.id) }.map { DeliveryEvent($0.push, app: $0.app, at: $0.at) },
        in: transaction)
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
    store.write { [journal] transaction throws(StorageError) in
      try journal.stored(try ReceiptNote.store(batch, in: transaction), in: transaction)
    } completion: { [self] result in
      if case .failure = result { note(batch) }
    }
    return true
  }

  /// Each set is written at most once a flush, whatever the number of acknowledgements.
  private func flushPartly(at now: Timestamp) {
    let taken = waiting.withLock { waiting in
      defer { waiting.partly = [:] }
      return waiting.partly
    }
    for (id, partly) in taken { flush(partly, of: id, at: now) }
  }

  private func flush(_ partly: Partly, of id: MessageID, at now: Timestamp) {
    // Of one that ended since, the sets are noted with its end.
    let progress = partly.app.directory.progress(id)
    store.write { [journal] transaction throws(StorageError) in
      // Its end may have been stored in between, with newer sets.
      if let progress, try transaction.reading.isPending(id) {
        if !progress.delivered.isEmpty {
          try transaction.saveDelivered(id: id, targets: progress.delivered.serialized())
        }
        try progress.saveDropped(of: id, in: transaction)
      }
      guard !partly.acknowledgers.isEmpty else { return }
      let event = DeliveryEvent(
        push: id, app: partly.app.id, what: .delivered(partly.acknowledgers, .passthrough), at: now)
      try journal.stored([event], in: transaction)
    } completion: { [self] result in
      guard case .failure = result else { return }
      waiting.withLock { waiting in
        waiting.partly[id, default: Partly(app: partly.app)].acknowledgers += partly.acknowledgers
        waiting.isHeldUp = true
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
