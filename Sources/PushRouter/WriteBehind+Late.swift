import PushBase
import PushStorage

extension WriteBehind {
  /// Stores who acknowledged a push that was taken back while they did: its end is stored, and knows nothing of them.
  static func keep(
    _ numbers: [RegistrationNumber], of id: MessageID, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    if try !transaction.deliveries.isPending(id),
      let status = try transaction.deliveries.outcome(of: id)?.status,
      status != .open, status != .delivered
    {
      let stored = try transaction.deliveries.receipts(of: id, .acknowledgedLate)
      let late = stored.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
      let all = late.union(NumberSet(numbers))
      try transaction.deliveries.saveReceipts(id: id, .acknowledgedLate, targets: all.serialized())
    }
    // The others may have it by something else than an acknowledgement.
    if try transaction.deliveries.hasOtherEvidence(id) { try transaction.reckon(id, at: now) }
  }
}
